package image

import (
	"encoding/binary"
	"math"
	"testing"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
)

// Whatever is mapped and unmapped, an address has exactly one owner at each time, and the owner
// covers it.
func FuzzSpans(f *testing.F) {
	f.Add([]byte("\x01\x00\x00\x10\x00\x20\x00\x00\x02\x01\x00\x10\x00\x00\x00\x00"), uint64(0x1000))
	f.Add([]byte("\x01\x00\x00\x10\x00\x20\x00\x00\x01\x02\x00\x10\x00\x40\x00\x00"), uint64(0x1800))
	f.Fuzz(func(t *testing.T, data []byte, addr uint64) {
		var events []decode.MapEvent
		for ; len(data) >= 8 && len(events) < 1000; data = data[8:] {
			e := decode.MapEvent{Time: int64(int8(data[0])), Unmap: data[1]&1 != 0, Address: uint64(binary.LittleEndian.Uint16(data[2:])), Size: uint64(binary.LittleEndian.Uint16(data[4:])), Path: "a"}
			if data[1]&2 != 0 { // the ends of the address space, and of time
				e.Address, e.Size = -e.Address, e.Size<<48
			}
			if data[1]&4 != 0 {
				e.Time = pick(e.Time < 0, math.MinInt64, math.MaxInt64)
			}
			if data[1]&8 != 0 {
				e.Code = &decode.Code{}
			}
			events = append(events, e)
		}
		im := New(events, "map", &diagnostic.Log{})
		for _, a := range []uint64{addr, 0, math.MaxUint64, addr % 0x10000} {
			from := int64(math.MinInt64)
			for _, s := range im.Ownerships(a) {
				if s.From != from || s.Until <= s.From {
					t.Errorf("from %d to %d after %d", s.From, s.Until, from)
				}
				if m := s.Mapping; m != nil && (a < m.Address || a-m.Address >= m.Size) {
					t.Errorf("%#x is not in %+v", a, m)
				}
				from = s.Until
			}
			if from != Never {
				t.Errorf("time ends at %d", from)
			}
		}
	})
}

func pick(first bool, a, b int64) int64 {
	if first {
		return a
	}
	return b
}
