package pipeline

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

// A recording of a program that ended before the first sample is complete.
func TestNoSamples(t *testing.T) {
	const header, attr, finishedRound = 104, 64, 68
	words := []uint64{header, attr + 16, header, attr + 16, header + attr + 16, 8, 0, 0, 0, 0, 0, 0, // header; no features
		1 | attr<<32, 0, 1000, 1, 0, 0, 0, 0, 0, 0, // the event: software, of its IP
		finishedRound | 8<<48}
	b := []byte("PERFILE2")
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	path := filepath.Join(t.TempDir(), "perf.data")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	results, err := Ingest(t.Context(), Options{Store: filepath.Join(t.TempDir(), "store"), Jobs: 1, Memory: 64 << 20}, path)
	if err != nil || len(results) != 1 {
		t.Fatal(results, err)
	}
	r := results[0]
	if r.Status != Complete || r.Samples != 0 || len(r.Problems) != 1 || r.Problems[0].Reason != "no-samples" {
		t.Errorf("%s, %d samples: %v", r.Status, r.Samples, r.Problems)
	}
}
