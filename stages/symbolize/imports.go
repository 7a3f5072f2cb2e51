package symbolize

import (
	"slices"

	"stackmill/internal/memo"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/insn/disasm"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
)

// Import is a function that a call may enter in another load object.
type Import struct {
	Symbol string // the name by which the dynamic linker finds it
	// Entry is the location of the function's entry in the procedure linkage table, if the first
	// call binds the function. It is None if the function is bound before any call.
	Entry program.LocationNo
}

// Bounds of the search for tail calls: the number of functions searched, and the bytes of each.
const (
	maxTailCallers = 16
	maxTailCode    = 64 << 10
)

// Imports returns the functions of other load objects that the call at a location may enter: the
// function that it calls through the procedure linkage table, or those to which the called function
// jumps (S26). They are in order of discovery; there are none if the instructions do not show them.
func (r *Resolver) Imports(call program.LocationNo) []Import {
	return memo.Get(r.graph.imports, call, func() []Import {
		l := r.Program.Location(call)
		s := importSearch{r: r, object: l.Object, table: r.loadObjects[l.Object].table}
		if s.table != nil && len(s.table.Slots) > 0 && l.Reason == "" {
			s.call(l.Offset)
		}
		return s.found
	})
}

// Defines reports whether a load object has a function with this symbol, or may have one because
// its functions are unknown.
func (r *Resolver) Defines(object program.ObjectNo, symbol string) bool {
	o := &r.loadObjects[object]
	if o.table == nil {
		return true
	}
	return len(o.table.Functions.BySymbol(symbol)) > 0
}

// ReturnsItself reports whether all functions with this symbol return to their caller themselves:
// there is one, and none jumps to a computed address, which may be in another load object.
func (s *Scope) ReturnsItself(symbol string) bool {
	return memo.Get(s.returning, symbol, func() bool { return s.returnsItself(symbol) })
}

func (s *Scope) returnsItself(symbol string) bool {
	entries := s.entriesNamed(symbol)
	for _, e := range entries {
		t := s.r.loadObjects[e.object].table
		f, _ := t.Function(e.offset)
		search := importSearch{r: s.r, object: e.object, table: t}
		if search.tailCalls(f); search.anywhere {
			return false
		}
	}
	return len(entries) > 0
}

// importSearch searches for the functions of other load objects that one call may enter.
type importSearch struct {
	r        *Resolver
	object   program.ObjectNo
	table    *symtab.Table
	found    []Import
	visited  []uint64 // offsets of functions whose jumps were followed
	anywhere bool     // one of these functions jumps to a computed address, or is too long to examine
}

// call follows the call at an offset of the file, if there is one.
func (s *importSearch) call(offset uint64) {
	region, ok := s.table.Region(offset)
	if !ok {
		return
	}
	code, arch := s.r.Bytes(s.object, offset, longestInst)
	inst, err := disasm.Decode(arch, code, region.Address+(offset-region.Offset))
	if err != nil || inst.Kind != insn.Call {
		return
	}
	s.follow(inst)
}

// The largest sizes of an instruction and of an entry of a procedure linkage table.
const (
	longestInst = 16
	maxStub     = 32
)

// follow adds the destination of a call or jump if it is in another load object. Otherwise it
// follows the jumps of the function there.
func (s *importSearch) follow(inst insn.Inst) {
	n := s.r.destination(s.object, inst)
	if n < 0 {
		return
	}
	to := s.r.graph.destinations[n]
	f, _ := s.table.Function(to.offset)
	switch {
	case to.slot.Symbol != "":
		i := Import{to.slot.Symbol, program.None}
		if to.table && to.slot.Lazy && f.Kind == funcinfo.PLT {
			i.Entry = s.r.Program.InternLocation(s.r.tableFunction(s.object, f), to.offset, "", nil)
		}
		s.add(i)
	case inst.HasTarget && f.Kind != funcinfo.Static && f.Kind != funcinfo.PLT && f.Address == inst.Target:
		s.tailCalls(f)
	}
}

func (s *importSearch) add(i Import) {
	if !slices.Contains(s.found, i) {
		s.found = append(s.found, i)
	}
}

// tailCalls follows the jumps by which control leaves a function.
func (s *importSearch) tailCalls(f symtab.Function) {
	if slices.Contains(s.visited, f.Offset) {
		return
	}
	if len(s.visited) == maxTailCallers {
		s.anywhere = true
		return
	}
	s.visited = append(s.visited, f.Offset)
	code, arch := s.r.Bytes(s.object, f.Offset, min(f.Size, maxTailCode))
	s.anywhere = s.anywhere || uint64(len(code)) < f.Size
	for i := range disasm.Walk(arch, code, f.Address) {
		switch {
		case i.Inst.Kind != insn.Jump && i.Inst.Kind != insn.CondJump:
		case i.Inst.HasSlot || i.Inst.HasTarget && i.Inst.Target-f.Address >= f.Size:
			s.follow(i.Inst)
		case !i.Inst.HasTarget:
			s.anywhere = true
		}
	}
}
