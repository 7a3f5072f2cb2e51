package perf

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"stackmill/schema/storedir"
)

// A recording that was ingested while perf was writing it is visible once, in its finished form,
// wherever the other form was and whichever came first. Until the end, perf's header lacks the size
// of the data and the features, so that host and start are unknown.
func TestUnfinished(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join(folder, "perf", "p_recur_fp.data"))
	if err != nil {
		t.Fatal(err)
	}
	// The fields of the header: perf-data 1.1.
	const sizeAt, featuresAt, headerSize = 48, 72, 104
	start, size := binary.LittleEndian.Uint64(whole[40:]), binary.LittleEndian.Uint64(whole[sizeAt:])
	early := append([]byte{}, whole[:start+size*2/3]...)
	clear(early[sizeAt : sizeAt+8])
	clear(early[featuresAt:headerSize])

	for _, test := range []struct {
		name  string
		forms []string // in the order of ingests
	}{
		{"in its place", []string{"a:early", "a:whole"}},
		{"elsewhere", []string{"b:early", "a:whole"}},
		{"an old copy", []string{"a:whole", "b:early"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			store := filepath.Join(root, "store")
			for _, form := range test.forms {
				path, content := filepath.Join(root, form[:1]+".data"), whole
				if form[2:] == "early" {
					content = early
				}
				if err := os.WriteFile(path, content, 0o644); err != nil {
					t.Fatal(err)
				}
				if results, err := ingest(store, path); err != nil || len(results) != 1 || results[0].Err != nil {
					t.Fatal(results, err)
				}
			}
			look, err := storedir.ReadContents(store)
			if err != nil {
				t.Fatal(err)
			}
			var seen []string
			for i := range look.Batches {
				for e := range look.Batches[i].Visible {
					seen = append(seen, filepath.Base(e.Path)+" "+e.Status)
				}
			}
			if len(seen) != 1 || seen[0] != "a.data complete" {
				t.Errorf("the store has %v", seen)
			}
		})
	}
}
