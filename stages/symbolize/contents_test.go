package symbolize

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// The bytes read from a file do not depend on the bounds of blocks, or on the cached ones.
func TestContents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	content := make([]byte, 3*blockSize+100)
	for i := range content {
		content[i] = byte(i * i >> 3)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	r, rec := recording(nil)
	end := uint64(len(content))
	for _, from := range []uint64{0, 1, blockSize - 1, blockSize, 2*blockSize - 20, 3 * blockSize, end - 10, end, end + 1, end + 2*blockSize, math.MaxInt64, math.MaxUint64} {
		for _, size := range []uint64{0, 1, 20, blockSize, blockSize + 1, 4 * blockSize} {
			want := content[min(from, end):]
			want = want[:min(size, uint64(len(want)))]
			if got := r.read(path, from, size); !bytes.Equal(got, want) {
				t.Errorf("%d bytes at %#x: got %d, want %d", size, from, len(got), len(want))
			}
		}
	}
	for n := range uint64(maxBlocks + 10) {
		r.blocks[block{"other", n}] = nil
	}
	if got := r.read(path, blockSize, 4); !bytes.Equal(got, content[blockSize:blockSize+4]) {
		t.Errorf("got % x", got)
	}
	// The file was truncated: blocks that were not read before are empty.
	clear(r.blocks)
	if err := os.Truncate(path, 5); err != nil {
		t.Fatal(err)
	}
	if got := r.read(path, 0, 10); !bytes.Equal(got, content[:5]) || rec.HostErr.Err() != nil {
		t.Errorf("got % x, %v", got, rec.HostErr.Err())
	}
	if r.read(path+"?", 0, 10) != nil || rec.HostErr.Err() != nil {
		t.Error("there is no such file")
	}
	if r.closeFiles(); len(r.open) > 0 {
		t.Error("files are still open")
	}
	// A read-only cache uses the blocks of another one, and adds none.
	again := fileContents{rec: rec, blocks: map[block][]byte{{path, 0}: []byte("known before")}, readOnly: true}
	if got := again.read(path, 6, 10); string(got) != "before" || len(again.open) > 0 {
		t.Errorf("got %q", got)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	for n := range uint64(3) {
		from := (n + 1) * blockSize
		if got := again.read(path, from, 10); !bytes.Equal(got, content[from:from+10]) || len(again.blocks) > 1 {
			t.Errorf("got % x, and %d blocks are kept", got, len(again.blocks))
		}
	}
	again.closeFiles()
}
