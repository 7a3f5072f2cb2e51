// Package types holds the types and variables of one load object, with link-time
// addresses. Package build makes its table.
//
// Start reading with Table; descend.go finds the member at an offset.
package types

import (
	"math"

	"stackmill/stages/loadobject/symtab"
)

// Table has the types, variables and scopes of one load object. It is immutable and safe for
// concurrent use. In Types, a type comes after its element type. Index 0 of Units and Scopes is
// unused.
type Table struct {
	Types     []Type   // 0 is void, or unknown
	Members   []Member // all aggregates' members
	Units     []string // compilation units, as symtab.Module names them; 0 is none
	Variables []Variable
	Globals   []VariableNo  // variables with an address, sorted by address
	Threads   []VariableNo  // thread-local variables, sorted by offset
	Places    []Place       // all variables' places
	Scopes    []Scope       // functions and their nested scopes, parents first
	Ranges    []Range       // the scopes' code, sorted by Low, outer ones first
	Returns   []ReturnType  // sorted by name
	Notes     []symtab.Note // diagnostics; the table of symbols may have the same

	aroundGlobals, aroundThreads, aroundRanges []int32 // see around
	bitFields                                  []bool  // which types contain bit fields
}

// Kind is the kind of a type.
type Kind uint8

// The kinds.
const (
	Void Kind = iota
	Base
	Enumeration
	Pointer
	Reference // an lvalue or rvalue reference
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
	MemberPointer // a C++ pointer to member
	Unspecified   // such as decltype(nullptr)
)

// Aggregate reports whether a type of the kind has members.
func (k Kind) Aggregate() bool { return k == Structure || k == Class || k == Union }

// Type is a type. A table has only one type with the same name, size and layout.
type Type struct {
	Kind    Kind
	Float   bool // Base: a floating-point number, also a complex one
	Complex bool // two floating-point numbers
	// Name is the name as written in sources, such as `unsigned long`, not as the compiler spells
	// it. It is empty for unnamed types; C++ names are qualified.
	Name  string
	Elem  TypeNo // element type: of a pointer, an array, a typedef or qualifier; result of a function
	Size  int64  // bytes, -1 if unknown
	Count int64  // elements of an array, -1 if unknown

	Unit     UnitNo   // the compilation unit, if other units have another type with this name
	Function ScopeNo  // the scope of the function that declares it, 0 for none
	First    MemberNo // the first member
	Members  int32    // number of members, which are sorted by offset, then in order of declaration
}

// End returns the index after the last member.
func (x *Type) End() MemberNo { return x.First + MemberNo(x.Members) }

// Member is a member of an aggregate, or a base class. Static members are
// variables.
type Member struct {
	Name   string // empty for anonymous members and base classes
	Type   TypeNo
	Offset int64 // bytes; for a bit field, the byte in which it begins
	// Bit is the first bit of a bit field in the byte at Offset, counted from the least significant
	// bit on little-endian machines. Bits is the bit field's width, 0 for other members.
	Bit, Bits int32
	Base      bool // a base class
}

// Variable is a variable or a parameter.
type Variable struct {
	Name     string
	Type     TypeNo
	Unit     UnitNo  // the unit that declares it
	Function ScopeNo // the function's scope, 0 outside of functions
	External bool    // other units may refer to it
	// Address is a link-time address for a variable in Globals, an offset in the thread-local block
	// for one in Threads.
	Address uint64
	Size    int64 // bytes, if an open-ended array makes the symbol larger than the type; else 0
	First   int32 // index of the first of its places in Table.Places
	Places  int32 // number of places
}

// Always is the value of High in a place that is valid in its whole scope. Low is then 0.
const Always = math.MaxUint64

// Place is the location of a variable while the program counter is in [Low, High).
type Place struct {
	Low, High uint64
	Kind      PlaceKind
	Register  int16 // by its DWARF number
	Offset    int64 // bytes
	// If a variable has several pieces, the place has PieceSize of its bytes, from byte Piece on.
	// PieceSize is 0 if the place has the whole variable.
	Piece, PieceSize int64
}

// PlaceKind is the kind of a variable's location.
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
	EntryRegister                        // its value is what Register was when the function was called
)

// Scope is a function, an inlined function or a block.
type Scope struct {
	Parent    ScopeNo // 0 for functions that are not inlined
	Function  ScopeNo // the innermost function, inlined or not; for functions, the scope itself
	Name      string
	Linked    bool // Name is the linkage name, see FunctionName
	Unit      UnitNo
	Type      TypeNo     // type that a function returns
	First     VariableNo // the first variable
	Variables int32      // number of variables
	// FrameBase has the frame base, to which AtFrame is relative, as places of kind AtRegister,
	// AtCFA or InRegister (the register's value). Only functions that are not inlined have it.
	FrameBase []Place
}

// End returns the index after the last variable.
func (s *Scope) End() VariableNo { return s.First + VariableNo(s.Variables) }

// Range is a range of a scope's code: link-time addresses [Low, High).
type Range struct {
	Low, High uint64
	Scope     ScopeNo
}

// ReturnType is the return type of a function that other units may call.
type ReturnType struct {
	Name string // the linkage name
	Type TypeNo
}
