package image

import (
	"math/rand/v2"
	"testing"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
)

// A finder agrees with the image's ownerships at every address and time.
func TestFinder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var events []decode.MapEvent
		for range r.IntN(12) {
			e := decode.MapEvent{Time: r.Int64N(20), Address: 0x1000 + 0x10*r.Uint64N(16), Size: 0x10 + 0x10*r.Uint64N(4), Path: "f", Modes: 5, Unmap: r.IntN(4) == 0}
			if r.IntN(3) == 0 {
				e.Code = &decode.Code{Function: "g"}
			}
			events = append(events, e)
		}
		im := New(events, "map", &diagnostic.Log{})
		f := im.Finder()
		for range 400 {
			addr, at := 0xff0+r.Uint64N(0x180), r.Int64N(22)
			var want Ownership
			for _, s := range im.Ownerships(addr) {
				if s.From <= at && at < s.Until {
					want = s
				}
			}
			if got := f.At(addr, at); got != want {
				t.Fatalf("%#x at %d: %v, want %v\n%v", addr, at, got, want, events)
			}
			p := f.Range(addr, at)
			if first, last := f.At(p.First, at), f.At(p.Last, at); addr < p.First || addr > p.Last || first != want || last != want {
				t.Fatalf("%#x at %d: piece %v begins with %v and ends with %v\n%v", addr, at, p, first, last, events)
			}
		}
	}
}
