package gprofng

import (
	"testing"

	"pgregory.net/rapid"
)

// A table of uids behaves like a map, even when it is full.
func TestUIDTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		uids := rapid.SliceOfDistinct(rapid.Uint64(), func(u uint64) uint64 { return u }).Draw(t, "uids")
		known := rapid.IntRange(0, len(uids)).Draw(t, "known")
		table := newUIDTable(known)
		for n, uid := range uids[:known] {
			table.put(uid, int32(n))
		}
		for n, uid := range uids {
			if number, ok := table.number(uid); ok != (n < known) || ok && number != int32(n) {
				t.Errorf("%#x has number %d (%v), want %d of %d", uid, number, ok, n, known)
			}
		}
	})
}
