package dataspace

import (
	"sort"

	"stackmill/internal/memo"
	"stackmill/stages/loadobject/cfi"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/isa"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/loadobject/types"
	"stackmill/stages/program"
	"stackmill/stages/symbolize"
)

// Tables loads the debug information in a load object's file. The results are nil if the file has
// none.
type Tables interface {
	Data(path string) (*types.Table, error)
	Frames(path string) (*cfi.Table, error)
	Variables(path string) (*symtab.Variables, error)
}

// loadObject is a load object whose code caused events, or whose data they accessed.
type loadObject struct {
	space    *Space
	number   program.ObjectNo
	resolver *symbolize.Resolver
	symbols  *symtab.Table
	types    typeTable
	frames   *cfi.Table

	functions  map[program.FunctionNo]*function // number of a function in the program -> the function
	returns    map[uint64]types.TypeNo          // called address -> return type
	containers map[types.TypeNo][]containment   // contained type -> the aggregates that contain it; nil until needed
	variables  *symtab.Variables                // nil until needed
	is32Bit    bool                             // addresses have 32 bits
}

func (s *Space) loadObject(n program.ObjectNo) *loadObject {
	if o := s.objects[n]; o != nil {
		return o
	}
	o := &loadObject{space: s, number: n, resolver: s.resolver, symbols: s.resolver.Table(n), functions: map[program.FunctionNo]*function{}, returns: map[uint64]types.TypeNo{}}
	s.objects[n] = o
	file := s.resolver.ObjectFile(n)
	if o.symbols == nil || file == "" {
		return o
	}
	o.is32Bit = o.symbols.Arch == isa.X86
	t, err := s.tables.Data(file)
	if err != nil {
		s.problem(s.resolver.Program.Objects[n].Path, "types and variables", err)
	}
	s.reportNotes(s.resolver.Program.Objects[n].Path, t, o.symbols.Notes)
	o.types = typeTable{t}
	if t != nil {
		if o.frames, err = s.tables.Frames(file); err != nil {
			s.problem(s.resolver.Program.Objects[n].Path, "call frame information", err)
		}
	}
	return o
}

// function returns a function's decoded code, or nil if the code is unavailable.
func (o *loadObject) function(n program.FunctionNo) *function {
	return memo.Get(o.functions, n, func() *function {
		code, arch := o.resolver.Code(n)
		if len(code) == 0 || len(code) > maxCode || arch == 0 {
			return nil
		}
		p := &o.resolver.Program.Functions[n]
		f := disassemble(o, code, arch, p.Address, p.Offset)
		f.types, f.isEntry = o.types, p.Kind != funcinfo.Outline
		o.space.countDecoded(len(f.code))
		return f
	})
}

// Bounds of decoded functions: the bytes of one function, and the instructions of all functions in
// memory. When functions are dropped, the references made from them stay.
const (
	maxCode    = 1 << 20
	maxDecoded = 200_000
)

// countDecoded adds n decoded instructions to the count. If there are too many, it drops all
// functions.
func (s *Space) countDecoded(n int) {
	if s.instructions += n; s.instructions <= maxDecoded {
		return
	}
	s.instructions = n
	for _, o := range s.objects {
		clear(o.functions)
	}
}

func (o *loadObject) stackPointer() int {
	switch o.symbols.Arch {
	case isa.ARM64:
		return 31
	case isa.X86:
		return 4
	}
	return 7
}

// word returns the size of an address, in bytes.
func (o *loadObject) word() int64 {
	if o.is32Bit {
		return 4
	}
	return 8
}

// clobbered has a bit for each register that calls may change.
func (o *loadObject) clobbered() uint64 {
	switch o.symbols.Arch {
	case isa.ARM64:
		return 1<<19 - 1 | 1<<30
	case isa.X86:
		return 1<<0 | 1<<1 | 1<<2
	}
	return 1<<0 | 1<<1 | 1<<2 | 1<<4 | 1<<5 | 1<<8 | 1<<9 | 1<<10 | 1<<11
}

// returnType returns the type of a call's result.
func (o *loadObject) returnType(call insn.Inst) types.TypeNo {
	to := call.Target
	if !call.HasTarget {
		to = call.Slot
	}
	if to == 0 {
		return 0
	}
	return memo.Get(o.returns, to, func() (typ types.TypeNo) {
		if n := o.types.Function(to); call.HasTarget && n != 0 && o.types.startsAt(n, to) {
			typ = o.types.Scopes[n].Type
		} else if name := o.resolver.Callee(o.number, call); name != "" {
			typ = o.types.Returned(name)
		}
		return typ
	})
}

// startsAt reports whether one of a scope's ranges begins at an address.
func (t typeTable) startsAt(scope types.ScopeNo, at uint64) bool {
	i := sort.Search(len(t.Ranges), func(i int) bool { return t.Ranges[i].Low >= at })
	for ; i < len(t.Ranges) && t.Ranges[i].Low == at; i++ {
		if t.Ranges[i].Scope == scope {
			return true
		}
	}
	return false
}

// isReadOnly reports whether a link-time address is in a segment that the program cannot write to.
func (o *loadObject) isReadOnly(at uint64) bool {
	for _, s := range o.symbols.Segments {
		if at-s.Address < s.MemSize {
			return s.Flags&2 == 0
		}
	}
	return false
}

// threadAddress converts an offset from the thread pointer, as code of the main program uses it, to
// an offset in the object's block of thread-local variables.
func (o *loadObject) threadAddress(offset int64) uint64 {
	block := o.symbols.TLS
	align := max(block.Align, 1)
	if o.symbols.Arch == isa.ARM64 { // after the thread's own two words
		return uint64(offset) - (16+align-1)/align*align
	}
	return uint64(offset) + (block.Size+align-1)/align*align
}

// isCanary reports whether the stack protector's canary is at an offset from the thread pointer.
func (o *loadObject) isCanary(offset int64) bool {
	switch o.symbols.Arch {
	case isa.AMD64:
		return offset == 0x28
	case isa.X86:
		return offset == 0x14
	}
	return false
}

// untypedVariables returns the variables in the load object's symbol tables, which give no types.
func (o *loadObject) untypedVariables() *symtab.Variables {
	if o.variables != nil {
		return o.variables
	}
	s := o.space
	v, err := s.tables.Variables(o.resolver.ObjectFile(o.number))
	if v != nil {
		err = v.Damage
	} else {
		v = &symtab.Variables{}
	}
	if err != nil && !o.resolver.Faulted(err) {
		s.problem(o.resolver.Program.Objects[o.number].Path, "symbols of data", err)
	}
	o.variables = v
	return v
}

// symbolAt returns the number of the symbol at a link-time address, or None.
func (o *loadObject) symbolAt(at uint64) symbolNo {
	if i, ok := o.untypedVariables().At(at); ok {
		return symbolNo(i)
	}
	return program.None
}

// maxScalar is the size of the largest scalar, in bytes.
const maxScalar = 16

// symbolObject returns the data object of a symbol without a type. It takes a large symbol for an
// aggregate, others for scalars.
func (s *Space) symbolObject(o *loadObject, n symbolNo) ObjectNo {
	x := &o.untypedVariables().List[n]
	k := objectKey{parent: Scalars, load: o.number, member: types.None, scopeKind: ScopeLoadObject,
		scope: s.resolver.Program.Objects[o.number].Name, descriptor: "{- " + x.Name + "}"}
	kind := KindScalar
	if x.Size > maxScalar {
		kind, k.parent = KindAggregate, Total
	}
	number, _ := s.intern(k, func() Object {
		return Object{Kind: kind, Name: x.Name, Type: "-", Offset: -1, Size: int64(x.Size), ElementSize: int64(x.Size)}
	})
	return number
}
