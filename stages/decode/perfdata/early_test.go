package perfdata

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/decode"
)

// The reader passes the mappings of processes with samples to the observer before it has read all
// samples, and the kernel's mapping once a stack has a kernel frame.
func TestEarly(t *testing.T) {
	b := &builder{order: binary.LittleEndian}
	b.mmap(1, 0, 0x4000, "/bin/p")
	b.mmap(2, 0, 0x4000, "/bin/without-samples")
	b.mmap(3, 0, 0x4000, "/bin/q")
	b.sample(1, 1000, user, 0x4010)
	b.sample(3, 2000, ^uint64(0)-127, uint64(kernelText), user, 0x4010)
	b.sample(3, 3000, ^uint64(0)-127, uint64(kernelText), user, 0x4010)
	path := filepath.Join(t.TempDir(), "perf.data")
	if err := os.WriteFile(path, b.file(), 0o644); err != nil {
		t.Fatal(err)
	}
	var told [][]string
	rec := New().Open(decode.WithMappingObserver(t.Context(), func(rec *decode.Recording, image []decode.MapEvent) {
		if len(rec.Processes) > 0 {
			t.Error("told late")
		}
		var paths []string
		for _, m := range image {
			paths = append(paths, m.Path)
		}
		told = append(told, paths)
	}), path)
	defer rec.Close()
	slices.SortFunc(told, slices.Compare)
	if diff := cmp.Diff([][]string{{"/bin/p"}, {"/bin/q"}, {decode.KernelPath}}, told); diff != "" {
		t.Error(diff)
	}
}
