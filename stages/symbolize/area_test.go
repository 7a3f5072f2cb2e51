package symbolize

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/symtab"
)

// What a PC means does not depend on what was asked before, though mappings come and go
// and there are more of them than areas are remembered.
func TestAreas(t *testing.T) {
	d := disk{}
	var events []decode.MapEvent
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 3 * maxAreas {
		path := fmt.Sprintf("/lib/%d", i)
		d[path] = program(path, symtab.Function{Name: "f"}, symtab.Function{Name: "g"})
		events = append(events, decode.MapEvent{
			Path: path, Time: int64(i), Address: 0x10000 + 0x800*random.Uint64N(64), FileOffset: textSize, Size: textSize, Modes: 5,
		})
	}
	r, _ := recording(d)
	pr := process(r, events...)
	for range 20000 {
		pc, at := 0x10000+random.Uint64N(0x20000), random.Int64N(int64(len(events)))
		got := pr.Resolve(pc, at)
		if want := process(r, events...).Resolve(pc, at); got != want {
			t.Fatalf("%#x at %d: %+v, want %+v", pc, at, got, want)
		}
		if got.From > at || at >= got.Until {
			t.Fatalf("%#x at %d: %+v", pc, at, got)
		}
	}
	if named := len(r.Program.Functions); named < 2*maxAreas {
		t.Errorf("only %d functions were found", named)
	}
}
