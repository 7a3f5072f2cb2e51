package gprofng_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

// Damage in an event file costs the packets that it covers, and no others.
func TestDamagedEvents(t *testing.T) {
	const (
		size  = 80   // of a heap packet
		count = 2000 // three blocks of 64 KiB
		block = 1 << 16
	)
	garbage := func(n int) []byte { return bytes.Repeat([]byte{0xA5, 0x5A, 0xFF}, n/3+1)[:n] }
	for _, c := range []struct {
		name    string
		damage  func(b []byte) []byte
		lost    int   // events
		offsets []int // offsets of the problems
	}{
		{"none", func(b []byte) []byte { return b }, 0, nil},
		{"garbage from a header on", func(b []byte) []byte { copy(b[10*size:], garbage(3*size)); return b }, 3, []int{10 * size}},
		{"garbage from the middle of a packet on", func(b []byte) []byte { copy(b[10*size+48:], garbage(3*size)); return b }, 4, []int{10 * size}},
		{"zeros", func(b []byte) []byte { clear(b[10*size : 14*size]); return b }, 4, []int{10 * size}},
		{"zeros over a boundary", func(b []byte) []byte { clear(b[200*size : 220*size]); return b }, 20, []int{200 * size}},
		{"garbage over a block's end", func(b []byte) []byte { copy(b[817*size:], garbage(400)); return b }, 5, []int{817 * size}},
		{"two places", func(b []byte) []byte { copy(b[10*size:], garbage(8)); copy(b[block+10*size:], garbage(8)); return b }, 2, []int{10 * size, block + 10*size}},
		{"size too large", func(b []byte) []byte { b[10*size+1] = 0x40; return b }, 1, []int{10 * size}},
		{"size of five", func(b []byte) []byte { b[10*size], b[10*size+1] = 0x90, 1; return b }, 1, []int{10 * size}},
		{"size too small", func(b []byte) []byte { b[10*size] = 60; return b }, 1, []int{10 * size}},
		{"size not aligned", func(b []byte) []byte { b[10*size] = 81; return b }, 1, []int{10 * size}},
		{"impossible type", func(b []byte) []byte { b[10*size+3] = 7; return b }, 1, []int{10 * size}},
		{"impossible operation", func(b []byte) []byte { b[10*size+48] = 9; return b }, 1, []int{10 * size}},
		{"cut in a packet", func(b []byte) []byte { return b[:20*size+33] }, count - 20, []int{20 * size}},
		{"cut in a header", func(b []byte) []byte { return b[:20*size+3] }, count - 20, []int{20 * size}},
		{"cut behind a packet", func(b []byte) []byte { return b[:20*size] }, count - 20, []int{20 * size}},
		{"cut in the padding", func(b []byte) []byte { return b[:len(b)-500] }, 0, []int{2*block + 362*size}},
		{"cut in a full block's padding", func(b []byte) []byte { return b[:block-4] }, count - 819, []int{819 * size}},
		{"cut behind a full block", func(b []byte) []byte { return b[:block] }, count - 819, []int{block}},
		{"cut behind two", func(b []byte) []byte { return b[:2*block] }, count - 2*819, []int{2 * block}},
		{"cut and filled with NULs", func(b []byte) []byte { clear(b[20*size:]); return b }, count - 20, []int{20 * size, 3 * block}},
		{"NULs for a block", func(b []byte) []byte { clear(b[block : 2*block]); return b }, 819, []int{3 * block}},
		{"NULs to the end of a block", func(b []byte) []byte { clear(b[809*size : block]); return b }, 10, []int{809 * size}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newExperiment(t)
			e.Segment(0, 0x1000, 0x1000, 0, 5, "/bin/a")
			e.Declare(schema.Heap, "")
			stack := e.Frame(0x1010)
			for i := range int64(count) {
				e.Events(schema.Heap).Put(0, &gprofngtest.Layouts[schema.Heap][0], gprofngtest.Packet{Thread: 0x1234, Time: i, Stack: stack, Values: []int64{0, i, i * 16, 0}})
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(e.Dir, "heaptrace")
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, c.damage(b), 0o644); err != nil {
				t.Fatal(err)
			}
			rec := open(t, e.Dir)
			got, _ := events(t, rec.Processes[0], schema.Heap)
			if n := len(got["size"]); n != count-c.lost || !slices.IsSorted(got["size"]) {
				t.Errorf("%d events, want %d", n, count-c.lost)
			}
			var offsets []int
			var counted int64
			for _, p := range rec.Problems.Problems {
				if p.Severity == diagnostic.Error {
					if p.File != "heaptrace" || p.Reason != "bad-packet" && p.Reason != "truncated" && p.Reason != "blank-blocks" {
						t.Errorf("%v (%s)", p, p.Reason)
					}
					offsets = append(offsets, int(p.Offset))
					counted += p.Count
				}
			}
			if !slices.Equal(offsets, c.offsets) {
				t.Errorf("problems at %v, want %v", offsets, c.offsets)
			}
			// Neither a cut file nor NULs show how much is missing.
			if len(c.damage(bytes.Clone(b))) == len(b) && !strings.Contains(c.name, "NULs") && counted != int64(c.lost) {
				t.Errorf("%d packets count as lost, want %d", counted, c.lost)
			}
		})
	}
}

// Damage in data.frameinfo costs the call stacks that it covers, and no others.
func TestDamagedFrames(t *testing.T) {
	const count = 1000
	for _, c := range []struct {
		name    string
		at      int // packet whose bytes are overwritten
		bytes   []byte
		offset  int // in the packet
		lost    int
		changed int // stacks whose words are garbage
	}{
		{"header", 100, bytes.Repeat([]byte{0xA5}, 20), 0, 1, 0},
		{"over three packets", 100, bytes.Repeat([]byte{0xA5}, 130), 0, 3, 0},
		{"info size", 100, []byte{0xFF, 0xFF}, 16, 1, 0},
		{"no info size", 100, []byte{0, 0, 0, 0}, 16, 1, 0},
		{"info kind", 100, []byte{0x77}, 20, 1, 0},
		{"words", 100, []byte{0x77}, 40, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newExperiment(t)
			e.Segment(0, 0x1000, 0x1000, 0, 5, "/bin/a")
			for i := range uint64(count) {
				e.Frame(i, i+1, i+2)
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(e.Dir, "data.frameinfo")
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			const size = 16 + 16 + 3*8
			copy(b[c.at*size+c.offset:], c.bytes)
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
			rec := open(t, e.Dir)
			changed := 0
			for _, s := range rec.Processes[0].Stacks.Expanded() {
				if len(s.Words) != 3 || s.Words[1] != s.Words[0]+1 || s.Words[2] != s.Words[0]+2 {
					changed++
				}
			}
			if n := rec.Processes[0].Stacks.Len(); n != count-c.lost || changed != c.changed {
				t.Errorf("%d stacks, %d of them changed", n, changed)
			}
			if c.lost > 0 {
				wantReasons(t, rec, diagnostic.Error, "data.frameinfo:bad-packet")
				if o := rec.Problems.Problems[0].Offset; o != int64(c.at*size) {
					t.Errorf("problem at %d", o)
				}
			}
		})
	}
}
