package lines

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/bytereader"
	"stackmill/stages/loadobject/dwarf"
)

// Each opcode changes the registers as DWARF 5, 6.2.5 says.
func TestMachine(t *testing.T) {
	h := func(maxOps uint64, program ...byte) *header {
		return &header{minInst: 4, maxOps: maxOps, lineBase: -3, lineRange: 12, opcodeBase: 13,
			operands: []byte{0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1}, program: bytereader.Reader{Rest: program}}
	}
	for _, x := range []struct {
		what string
		h    *header
		want []registers
		err  error
	}{
		{"nothing", h(1), nil, nil},
		{"standard", h(1, 2, 3, 3, 0x7f, 1, 4, 7, 9, 0x10, 0, 1), []registers{{12, 1, 0, false}, {28, 7, 0, false}}, nil},
		{"special", h(1, 13+5*12+4, 8, 1), []registers{{20, 1, 2, false}, {100, 1, 2, false}}, nil},
		{"without effect", h(1, 5, 9, 6, 7, 10, 11, 12, 3, 1), []registers{{0, 1, 1, false}}, nil},
		{"extended", h(1, 0, 3, 2, 0x10, 0x20, 0, 2, 0x80, 1, 1, 0, 1, 1, 1), []registers{{0x2010, 1, 1, false}, {0x2010, 1, 1, true}, {0, 1, 1, false}}, nil},
		{"bundles", h(3, 2, 2, 1, 2, 2, 1), []registers{{0, 1, 1, false}, {4, 1, 1, false}}, nil},
		{"cut", h(1, 1, 2), []registers{{0, 1, 1, false}}, dwarf.ErrShort},
	} {
		var got []registers
		err := x.h.run(func(r registers) bool {
			got = append(got, r)
			return true
		})
		if d := cmp.Diff(x.want, got, cmp.AllowUnexported(registers{})); d != "" || err != x.err {
			t.Errorf("%s: %v\n%s", x.what, err, d)
		}
	}
}
