package image

import (
	"math/rand"
	"slices"
	"testing"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
)

// All mappings that contain an address are found.
func TestCovering(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 200 {
		var events []decode.MapEvent
		for i := range 1 + r.Intn(40) {
			e := decode.MapEvent{Time: int64(i), Address: uint64(r.Intn(100)), Size: uint64(1 + r.Intn(1<<r.Intn(8))), Path: "file"}
			if r.Intn(4) == 0 {
				e.Code = &decode.Code{}
			}
			events = append(events, e)
		}
		im := New(events, "map.xml", &diagnostic.Log{})
		for addr := range uint64(260) {
			var want []*Mapping
			for _, m := range im.Mappings {
				if m.Address <= addr && addr < m.End() {
					want = append(want, m)
				}
			}
			if got := im.covering(addr); !slices.Equal(got, want) {
				t.Fatalf("%d mappings contain %d, want %d", len(got), addr, len(want))
			}
		}
	}
}
