package inlines

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/lines"
	"stackmill/stages/loadobject/symtab"
)

// Each byte has the innermost call whose code covers it, if calls lie inside the enclosing ones as
// compilers nest them.
func TestFlatten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const end = 40
		var code []inlinedCode
		var want [end + 1]int32
		for i := range want {
			want[i] = -1
		}
		var nest func(low, high uint64, depth int)
		nest = func(low, high uint64, depth int) {
			for depth > 0 && low < high && rapid.Bool().Draw(t, "more") {
				from := rapid.Uint64Range(low, high-1).Draw(t, "low")
				until := rapid.Uint64Range(from+1, high).Draw(t, "high")
				n := int32(len(code))
				code = append(code, inlinedCode{from, until, n})
				for i := from; i < until; i++ {
					want[i] = n
				}
				nest(from, until, depth-1)
				low = until
			}
		}
		nest(0, end, 4)
		pieces := flatten(rapid.Permutation(code).Draw(t, "code"))
		for off := range want {
			got := int32(-1)
			for _, p := range pieces {
				if p.offset <= uint64(off) {
					got = p.call
				}
			}
			if got != want[off] {
				t.Fatalf("%d: call %d, want %d: %v of %v", off, got, want[off], pieces, code)
			}
		}
	})
}

// However calls overlap, the pieces ascend and end where the code ends.
func TestFlattenOverlapping(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var code []inlinedCode
		for i := range rapid.Int32Range(1, 8).Draw(t, "calls") {
			low := rapid.Uint64Range(0, 20).Draw(t, "low")
			code = append(code, inlinedCode{low, rapid.Uint64Range(low+1, 30).Draw(t, "high"), i})
		}
		pieces := flatten(slices.Clone(code))
		for i, p := range pieces {
			if i > 0 && p.offset <= pieces[i-1].offset {
				t.Fatalf("%v of %v", pieces, code)
			}
			if p.call >= 0 && !slices.ContainsFunc(code, func(c inlinedCode) bool { return c.call == p.call && c.low <= p.offset && p.offset < c.high }) {
				t.Fatalf("%v is not code of the call: %v", p, code)
			}
		}
		if pieces[len(pieces)-1].call != -1 {
			t.Fatalf("%v has no end", pieces)
		}
	})
}

// Functions without a name are `(unknown)`, whatever their entries refer to.
func TestUnnamed(t *testing.T) {
	d := dwarf.New(nil, nil)
	r := New(d, &lines.Reader{}, &symtab.Draft{Table: symtab.Table{Modules: make([]symtab.Module, 1)}})
	d.Sections = &dwarf.Sections{}
	d.Sections.SetBudget()
	x := r.enter(&dwarf.Unit{Offset: 100, Size: 50}, d.Sections, d.Sections, nil, symtab.Module{})
	for _, v := range []dwarf.Value{{}, {Form: dwarf.FormGNURefAlt, Uint: 3}, {Form: dwarf.FormRefSig8, Uint: 3}, {Form: dwarf.FormRef4, Uint: 7}, {Form: dwarf.FormRef4, Uint: 60}, {Form: dwarf.FormRefAddr, Uint: 1 << 60}} {
		n := r.refer(x, v)
		r.requestScope(x, n)
		r.table.Inlines.Calls = append(r.table.Inlines.Calls, symtab.Call{Function: int32(n)})
	}
	r.resolve(x)
	r.Finish()
	for _, c := range r.table.Inlines.Calls {
		if got := r.table.Inlines.Functions[c.Function].Name; got != unnamed {
			t.Errorf("got %q", got)
		}
	}
}
