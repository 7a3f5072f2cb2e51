package perfdata

import (
	"encoding/binary"
	"testing"

	"stackmill/stages/decode"
)

// cacheList composes the list of caches: level, line and type of each.
func cacheList(version uint32, caches ...[3]any) []byte {
	u32 := func(b []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(b, v) }
	text := func(b []byte, s string) []byte {
		const padded = 64
		return append(append(u32(b, padded), s...), make([]byte, padded-len(s))...)
	}
	b := u32(u32(nil, version), uint32(len(caches)))
	for _, c := range caches {
		b = u32(u32(u32(u32(b, uint32(c[0].(int))), uint32(c[1].(int))), 64), 8)
		b = text(text(text(b, c[2].(string)), "32K"), "0-1")
	}
	return b
}

// The line size is that of the first-level data cache; unreadable and impossible entries are
// reported.
func TestCacheLine(t *testing.T) {
	whole := cacheList(1, [3]any{1, 64, "Data"}, [3]any{1, 64, "Instruction"})
	for _, x := range []struct {
		name     string
		b        []byte
		want     int64
		problems int
	}{
		{"usual", cacheList(1, [3]any{1, 64, "Data"}, [3]any{1, 32, "Instruction"}, [3]any{2, 128, "Unified"}), 64, 0},
		{"lines of the first level only", cacheList(1, [3]any{3, 256, "Unified"}, [3]any{2, 128, "Unified"}, [3]any{1, 64, "Instruction"}), 128, 0},
		{"processors that differ", cacheList(1, [3]any{1, 64, "Data"}, [3]any{1, 128, "Data"}), 128, 0},
		{"nothing", cacheList(1), 0, 0},
		{"no line", cacheList(1, [3]any{1, 0, "Data"}), 0, 1},
		{"no power of two", cacheList(1, [3]any{1, 96, "Data"}), 0, 1},
		{"longer than a page", cacheList(1, [3]any{1, 1 << 30, "Data"}), 0, 1},
		{"cut", whole[:len(whole)-1], 64, 1},
		{"another version", cacheList(2, [3]any{1, 64, "Data"}), 0, 1},
		{"empty", nil, 0, 1},
	} {
		r := &reader{recordParser: recordParser{rec: &decode.Recording{}}}
		r.feature(featureCache, x.b)
		if got := len(r.rec.Problems.Problems); r.rec.CacheLine != x.want || got != x.problems {
			t.Errorf("%s: lines of %d bytes and %d problems, want %d and %d", x.name, r.rec.CacheLine, got, x.want, x.problems)
		}
	}
}
