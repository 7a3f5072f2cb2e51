package symbolize

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"stackmill/stages/loadobject/insn/disasm"
	"stackmill/stages/loadobject/isa"
)

// Decoding around PCs gives the same selection as decoding all instructions.
func TestNear(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	code := make([]byte, 4000)
	for i := range code {
		code[i] = byte(random.Uint32())
	}
	const address, offset = 0x401000, 0x1000
	chosen := func(items []disasm.Item, pcs []uint64, within int) string {
		var out Disassembly
		var wanted []uint64
		list, found := selectInstructions(&out, items, address-offset, pcs, within)
		for n, is := range list {
			if is {
				wanted = append(wanted, items[n].Addr)
			}
		}
		return fmt.Sprint(wanted, out.Starts, found)
	}
	all := slices.Collect(disasm.Walk(isa.AMD64, code, address))
	for range 300 {
		var pcs []uint64
		for range random.IntN(6) {
			pcs = append(pcs, offset+random.Uint64N(uint64(len(code)+50)))
		}
		slices.Sort(pcs)
		for _, within := range []int{All, 0, 1, 64} {
			few := decodeAround(nil, isa.AMD64, code, address, address-offset, pcs, within)
			if got, want := chosen(few, pcs, within), chosen(all, pcs, within); got != want {
				t.Fatalf("within %d of %#x: %s of %d instructions, %s of all", within, pcs, got, len(few), want)
			}
		}
	}
}
