package types

import (
	"cmp"
	"slices"
	"sort"

	"stackmill/stages/loadobject/symtab"
)

// Strip returns a type without const, volatile, restrict, atomic and typedefs.
func (t *Table) Strip(typ TypeNo) TypeNo {
	for {
		switch t.Types[typ].Kind {
		case Const, Volatile, Restrict, Atomic, Typedef:
			typ = t.Types[typ].Elem // a lower number than typ, so that the loop ends
		default:
			return typ
		}
	}
}

// Global returns the variable at a link-time address, and the offset in it. If several variables
// contain the address, it returns the innermost.
func (t *Table) Global(address uint64) (variable VariableNo, offset int64, ok bool) {
	return t.variableAt(t.Globals, t.aroundGlobals, address)
}

// Thread returns the thread-local variable at an offset of the load object's thread-local block,
// and the offset in the variable.
func (t *Table) Thread(offset uint64) (variable VariableNo, at int64, ok bool) {
	return t.variableAt(t.Threads, t.aroundThreads, offset)
}

func (t *Table) variableAt(list []VariableNo, around []int32, address uint64) (variable VariableNo, offset int64, ok bool) {
	i := sort.Search(len(list), func(i int) bool { return t.Variables[list[i]].Address > address }) - 1
	for ; i >= 0; i = int(around[i]) {
		if v := list[i]; address < t.end(v) {
			return v, int64(address - t.Variables[v].Address), true
		}
	}
	return None, 0, false
}

// end returns the address at which a variable ends. A variable of unknown size has one byte.
func (t *Table) end(v VariableNo) uint64 {
	x := &t.Variables[v]
	return x.Address + uint64(max(t.Types[x.Type].Size, x.Size, 1))
}

// ScopesAt returns the scopes that contain an instruction, innermost first.
func (t *Table) ScopesAt(pc uint64) []ScopeNo {
	var scopes []ScopeNo
	for s := t.Scope(pc); s != 0; s = t.Scopes[s].Parent {
		scopes = append(scopes, s)
	}
	return scopes
}

// Function returns the scope of the function whose code an instruction is in, not of one that was
// inlined there; 0 for none.
func (t *Table) Function(pc uint64) ScopeNo {
	s := t.Scope(pc)
	for t.Scopes[s].Parent != 0 {
		s = t.Scopes[s].Parent
	}
	return s
}

// Scope returns the innermost scope that contains an instruction, 0 for none.
func (t *Table) Scope(pc uint64) ScopeNo {
	i := sort.Search(len(t.Ranges), func(i int) bool { return t.Ranges[i].Low > pc }) - 1
	for ; i >= 0; i = int(t.aroundRanges[i]) {
		if r := &t.Ranges[i]; pc < r.High {
			return r.Scope
		}
	}
	return 0
}

// FunctionName returns the readable name of a function's scope.
func (t *Table) FunctionName(scope ScopeNo) string {
	s := &t.Scopes[scope]
	if s.Linked {
		return symtab.ReadableName(s.Name)
	}
	return s.Name
}

// Returned returns the return type of the function with a linkage name, 0 if it is unknown or
// neither a pointer nor a reference.
func (t *Table) Returned(name string) TypeNo {
	i, ok := slices.BinarySearchFunc(t.Returns, name, func(r ReturnType, name string) int { return cmp.Compare(r.Name, name) })
	if !ok {
		return 0
	}
	return t.Returns[i].Type
}

// Index prepares the lookups by address. It is called once the table is complete.
func (t *Table) Index() {
	start := func(list []VariableNo) func(int) (uint64, uint64) {
		return func(i int) (uint64, uint64) { return t.Variables[list[i]].Address, t.end(list[i]) }
	}
	t.aroundGlobals = around(len(t.Globals), start(t.Globals))
	t.aroundThreads = around(len(t.Threads), start(t.Threads))
	t.aroundRanges = around(len(t.Ranges), func(i int) (uint64, uint64) { return t.Ranges[i].Low, t.Ranges[i].High })
	t.findBitFields()
}

// around links each of n ranges, sorted by start, to the last range before it that ends after its
// start; -1: there is none. All ranges that contain an address are on the chain of links from the
// last range that starts at or before the address.
func around(n int, bounds func(i int) (low, high uint64)) []int32 {
	out := make([]int32, n)
	var open []int32
	for i := range out {
		low, _ := bounds(i)
		for len(open) > 0 {
			if _, high := bounds(int(open[len(open)-1])); high > low {
				break
			}
			open = open[:len(open)-1]
		}
		out[i] = -1
		if len(open) > 0 {
			out[i] = open[len(open)-1]
		}
		open = append(open, int32(i))
	}
	return out
}

// Bytes estimates the memory that the table takes, in bytes.
func (t *Table) Bytes() int64 {
	n := len(t.Types)*64 + len(t.Members)*64 + len(t.Variables)*80 + (len(t.Globals)+len(t.Threads))*8 +
		len(t.Places)*48 + len(t.Scopes)*72 + len(t.Ranges)*28 + len(t.Returns)*24
	for i := range t.Types { // C++ types have the longest names
		n += len(t.Types[i].Name)
	}
	for i := range t.Scopes {
		n += len(t.Scopes[i].Name) + len(t.Scopes[i].FrameBase)*48
	}
	return int64(n)
}
