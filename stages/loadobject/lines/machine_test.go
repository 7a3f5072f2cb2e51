package lines

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/internal/bytereader"
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
		{"standard", h(1, 2, 3, 3, 0x7f, 1, 4, 7, 9, 0x10, 0, 1), []registers{{address: 12, file: 1, line: 0}, {address: 28, file: 7, line: 0}}, nil},
		{"special", h(1, 13+5*12+4, 8, 1), []registers{{address: 20, file: 1, line: 2}, {address: 100, file: 1, line: 2}}, nil},
		{"without effect", h(1, 5, 9, 6, 7, 10, 11, 12, 3, 1), []registers{{address: 0, file: 1, line: 1}}, nil},
		{"extended", h(1, 0, 3, 2, 0x10, 0x20, 0, 2, 0x80, 1, 1, 0, 1, 1, 1), []registers{{address: 0x2010, file: 1, line: 1}, {address: 0x2010, file: 1, line: 1, endSequence: true}, {address: 0, file: 1, line: 1}}, nil},
		{"discriminators", h(1, 0, 2, 4, 5, 1, 1, 0, 2, 4, 6, 13+5*12+4), []registers{{file: 1, line: 1, discriminator: 5}, {file: 1, line: 1}, {address: 20, file: 1, line: 2, discriminator: 6}}, nil},
		{"bundles", h(3, 2, 2, 1, 2, 2, 1), []registers{{address: 0, file: 1, line: 1}, {address: 4, file: 1, line: 1}}, nil},
		{"cut", h(1, 1, 2), []registers{{address: 0, file: 1, line: 1}}, dwarf.ErrShort},
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
