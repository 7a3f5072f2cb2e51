// Package types is the table of the types and variables of one load object, by
// link-time address. Package build, below it, makes the table.
package types

import (
	"math"

	"stackmill/stages/loadobject/symtab"
)

// Table is everything about one load object that attributing data needs. It is
// immutable and safe for concurrent use. In Types, Units and Scopes, 0 is nothing. The
// type that another one, not an aggregate, consists of precedes it in Types.
type Table struct {
	Types     []Type   // 0 is void, or unknown
	Members   []Member // of all aggregates
	Units     []string // compilation units, as symtab.Module names them; 0 is none
	Variables []Variable
	Globals   []VariableNo  // those with an address, sorted by it
	Threads   []VariableNo  // thread-local ones, sorted by address
	Places    []Place       // of all variables
	Scopes    []Scope       // functions and what is nested in them, parents first
	Ranges    []Range       // of Scopes, sorted by Low, outer ones first
	Returns   []Returned    // sorted by name
	Notes     []symtab.Note // what could not be read; the table of symbols may have the same

	aroundGlobals, aroundThreads, aroundRanges []int32 // see around
	bitFields                                  []bool  // by type: it contains bit fields
}

// Kind is the kind of a type.
type Kind uint8

// The kinds.
const (
	Void Kind = iota
	Base
	Enumeration
	Pointer
	Reference // also to an rvalue
	Const
	Volatile
	Restrict
	Atomic
	Typedef
	Array
	Structure
	Class
	Union
	Subroutine    // a function
	MemberPointer // of C++
	Unspecified   // such as decltype(nullptr)
)

// Aggregate reports whether a type of the kind has members.
func (k Kind) Aggregate() bool { return k == Structure || k == Class || k == Union }

// Type is a type. Types that are equal in name, size and layout are one.
type Type struct {
	Kind  Kind
	Float bool // Base: a floating-point number, also a complex one
	// Complex says that it is two floating-point numbers.
	Complex bool
	// Name is as in the source: `unsigned long`, whatever the compiler calls it.
	// Empty if it has none; C++ names are qualified.
	Name  string
	Elem  TypeNo // what a pointer points to, an array consists of, a typedef stands for, a function returns
	Size  int64  // bytes, -1 if unknown
	Count int64  // elements of an array, -1 if unknown

	Unit     UnitNo   // the compilation unit, if other units have another type of this name
	Function ScopeNo  // the scope of the function that declares it, 0 for none
	First    MemberNo // of its members
	Members  int32    // how many, sorted by offset; those of equal offset as declared
}

// End is the number after that of its last member.
func (x *Type) End() MemberNo { return x.First + MemberNo(x.Members) }

// Member is a member of an aggregate, or a base class. Static members are
// variables.
type Member struct {
	Name   string // empty for anonymous members and base classes
	Type   TypeNo
	Offset int64 // bytes; of a bit field: of the byte in which it begins
	// Bit and Bits are where in that byte a bit field begins, from the least
	// significant bit on little-endian machines, and its width; Bits is 0 for others.
	Bit, Bits int32
	Base      bool // a base class
}

// Variable is a variable or a parameter.
type Variable struct {
	Name     string
	Type     TypeNo
	Unit     UnitNo  // where it is declared
	Function ScopeNo // the function's scope, 0 for those outside of functions
	External bool    // other units may refer to it
	// Address is its address for the whole run of the program, or its offset in each
	// thread's block; only for those in Globals or Threads.
	Address uint64
	Size    int64 // bytes, of those in Globals that are larger than their types, as an array at the end continues; else 0
	First   int32 // in Table.Places, for those in scopes
	Places  int32 // how many
}

// Always is the Place.High of what is valid in its whole scope; Low is 0.
const Always = math.MaxUint64

// Place says where a variable is while the program counter is in [Low, High).
type Place struct {
	Low, High uint64
	Kind      PlaceKind
	Register  int16 // by its DWARF number
	Offset    int64 // bytes
	// Piece is the first byte of the variable that is here, PieceSize the number of
	// bytes, 0 for the whole variable.
	Piece, PieceSize int64
}

// PlaceKind is how a variable is found.
type PlaceKind uint8

// The kinds of places. The frame base is that of the innermost function.
const (
	InRegister      PlaceKind = iota + 1 // its value is in Register
	AtRegister                           // in memory at Register+Offset
	AtFrame                              // in memory at the frame base+Offset
	AtCFA                                // in memory at the canonical frame address+Offset
	IsRegister                           // its value is Register+Offset, not in memory
	PointedRegister                      // in memory at the address that is stored at Register+Offset
	PointedFrame                         // in memory at the address that is stored at the frame base+Offset
	EntryRegister                        // its value is what Register held when the function was called
)

// Scope is a function, an inlined function or a block.
type Scope struct {
	Parent    ScopeNo // 0 for functions that are not inlined
	Function  ScopeNo // the innermost function, inlined or not, that it belongs to: its own number for functions
	Name      string
	Linked    bool // Name is the linkage name, see FunctionName
	Unit      UnitNo
	Type      TypeNo     // what a function returns
	First     VariableNo // of its variables
	Variables int32      // how many
	// FrameBase are the places that AtFrame is relative to: AtRegister, AtCFA or
	// InRegister (the register itself). Only functions that are not inlined have it.
	FrameBase []Place
}

// End is the number after that of its last variable.
func (s *Scope) End() VariableNo { return s.First + VariableNo(s.Variables) }

// Range is a range of code of a scope, link-time addresses [Low, High).
type Range struct {
	Low, High uint64
	Scope     ScopeNo
}

// Returned is the type that a function returns, which other objects may call.
type Returned struct {
	Name string // the linkage name
	Type TypeNo
}
