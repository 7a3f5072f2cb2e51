package perfdata

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"stackmill/internal/corpus"
)

// A recording is finished when its header says where the data ends, and all is there.
func TestFinished(t *testing.T) {
	dir := t.TempDir()
	if err := corpus.Perf(dir); err != nil {
		t.Fatal(err)
	}
	d := New()
	whole, err := os.ReadFile(filepath.Join(dir, "perf", "p_cxx_fp.data"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "perf.data")
	finished := func(content []byte) bool {
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		return d.Finished(path)
	}
	if !finished(whole) {
		t.Error("a whole one is not")
	}
	for _, n := range []int{0, 8, 16, 100, 104, 1000, len(whole) / 2, len(whole) - 1000, len(whole) - 1} {
		if finished(whole[:n]) {
			t.Errorf("the first %d of %d bytes are", n, len(whole))
		}
	}
	open := slices.Clone(whole)
	clear(open[48:56]) // the data's size, which perf writes last
	if finished(open) {
		t.Error("one that perf still writes is")
	}
	pipe := slices.Clone(whole[:16])
	pipe[8] = pipeHeaderSize
	if finished(append(pipe, whole[104:]...)) {
		t.Error("a stream is")
	}
	if err := os.Mkdir(filepath.Join(dir, "threads"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "threads", mainFile), whole, 0o666); err != nil {
		t.Fatal(err)
	}
	if !d.Finished(filepath.Join(dir, "threads")) || d.Finished(dir) {
		t.Error("a directory is judged by something else than its main file")
	}
}
