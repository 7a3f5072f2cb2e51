package perfdata

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/cfi"
	"stackmill/stages/unwind"
)

// Whatever a file holds, it is read to its end, and every sample that is counted
// can be read again.
func FuzzOpen(f *testing.F) {
	f.Add([]byte("PERFILE2\x10\x00\x00\x00\x00\x00\x00\x00"))
	f.Add(tiny(false))
	f.Add(tiny(true))
	f.Add(foreignRecording().file())
	f.Fuzz(readAll)
}

// Any records are read to their end, and every sample that is counted can be read again.
func FuzzRecords(f *testing.F) {
	for _, r := range []*builder{recording(binary.LittleEndian), foreignRecording()} {
		f.Add(r.data, r.more, r.regs, false)
	}
	f.Add(recording(binary.BigEndian).data, uint64(sampleRead|sampleBranchStack), uint64(0), true)
	f.Fuzz(func(t *testing.T, records []byte, more, regs uint64, big bool) {
		b := &builder{data: records, more: more, regs: regs, order: binary.LittleEndian}
		if big {
			b.order = binary.BigEndian
		}
		readAll(t, b.file())
	})
}

func readAll(t *testing.T, content []byte) {
	path := filepath.Join(t.TempDir(), "perf.data")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	rec := New().Open(t.Context(), path)
	defer rec.Close()
	for _, p := range rec.Processes {
		done, err := unwind.Complete(p, walk(func(*decode.StackDump) *cfi.Stack { return &cfi.Stack{Words: []uint64{1}} }).walkers)
		if err != nil {
			t.Fatal(err)
		}
		events := p.Events(schema.Perf)
		defer events.Close()
		n := int64(0)
		for {
			b, err := events.Next()
			if err != nil {
				t.Fatal(err)
			}
			if b == nil {
				break
			}
			b = done.Events(b)
			n += b.NumRows()
			b.Release()
		}
		if n != p.Records(schema.Perf) {
			t.Errorf("%d samples, %d announced", n, p.Records(schema.Perf))
		}
	}
}
