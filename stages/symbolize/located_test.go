package symbolize

import (
	"testing"

	"pgregory.net/rapid"
)

// Locations are found by the offsets at which they were added, and nowhere else.
func TestLocated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, known := newLocated(), map[uint64]LocationNo{}
		for i := range rapid.IntRange(0, 500).Draw(t, "locations") {
			offset := rapid.Uint64().Draw(t, "offset")
			n, ok := l.at(offset)
			if want, was := known[offset]; ok != was || ok && n != want {
				t.Fatalf("%#x is %d (%v), added as %d (%v)", offset, n, ok, want, was)
			}
			if !ok {
				known[offset] = LocationNo(i)
				l.add(offset, LocationNo(i))
			}
		}
	})
}
