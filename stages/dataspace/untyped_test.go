package dataspace

import (
	"testing"

	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
)

// The size of a variable without a type shows whether it is an aggregate.
func TestUntypedVariables(t *testing.T) {
	s, o := testObject()
	o.variables = &symtab.Variables{List: []symtab.Variable{{Address: 0x1000, Size: 8, Name: "one"}, {Address: 0x1010, Size: 400, Name: "many"}}}
	for at, want := range map[uint64]string{0xfff: "", 0x1000: "{- one}", 0x1007: "{- one}", 0x1008: "", 0x1010: "{- many}", 0x119f: "{- many}", 0x11a0: ""} {
		n := o.symbolAt(at)
		if n == program.None {
			if want != "" {
				t.Errorf("%#x: nothing, want %s", at, want)
			}
			continue
		}
		x := s.Objects[s.symbolObject(o, n)]
		if aggregate := x.Kind == KindAggregate && x.Parent == Total; x.Descriptor != want || aggregate != (x.Size > 16) || !aggregate && x.Parent != Scalars {
			t.Errorf("%#x: %+v, want %s", at, x, want)
		}
	}
}
