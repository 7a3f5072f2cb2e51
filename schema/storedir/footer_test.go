package storedir

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A file whose metadata has changed or is missing must not be read. The rest of the file is not
// checked.
func TestFooters(t *testing.T) {
	for _, size := range []int{0, 20, 40 << 10} { // of the metadata
		content := bytes.Repeat([]byte("page"), 1000)
		start := len(content)
		content = append(content, bytes.Repeat([]byte{7}, size)...)
		content = append(binary.LittleEndian.AppendUint32(content, uint32(size)), "PAR1"...)
		sum, err := FooterChecksum(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		store := t.TempDir()
		f := File{Table: "samples", Path: FilePath("samples", "b1"), Footer: sum}
		path := filepath.Join(store, f.Path)
		unfit := func(content []byte) error {
			t.Helper()
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, content, 0o666)); err != nil {
				t.Fatal(err)
			}
			found, err := UnreadableFiles(store, slices.Values([]File{f}))
			if err != nil {
				t.Fatal(err)
			}
			return found[f.Path]
		}
		if err := unfit(content); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
		for bit := 8 * (start - 100); bit < 8*len(content); bit += 1 + size/64 {
			damaged := bytes.Clone(content)
			damaged[bit/8] ^= 1 << (bit % 8)
			if err := unfit(damaged); errors.Is(err, ErrDamaged) != (bit >= 8*start) {
				t.Errorf("%d bytes of metadata from %d: bit %d of byte %d: %v", size, start, bit%8, bit/8, err)
			}
		}
		for _, cut := range []int{len(content), len(content) - 3, 1, 5} {
			if err := unfit(content[:len(content)-cut]); !errors.Is(err, ErrDamaged) {
				t.Errorf("%d bytes: without %d bytes: %v", size, cut, err)
			}
		}
	}
}
