package pipeline

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"stackmill/internal/hosterr"
)

// The hash of a large file is the hash of its parts' hashes, with any number of processors.
func TestContentOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	whole := bytes.Repeat([]byte("0123456789abcde"), (2*hashPartBytes+100)/15)
	var sums []byte
	for rest := whole; len(rest) > 0; rest = rest[min(len(rest), hashPartBytes):] {
		sums = binary.LittleEndian.AppendUint64(sums, xxhash.Sum64(rest[:min(len(rest), hashPartBytes)]))
	}
	for _, test := range []struct {
		content []byte
		want    uint64
	}{{nil, xxhash.Sum64(nil)}, {whole[:100], xxhash.Sum64(whole[:100])}, {whole, xxhash.Sum64(sums)}} {
		if err := os.WriteFile(path, test.content, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, processors := range []int{1, 3} {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
			if sum, size, err := contentOf(t.Context(), path); sum != test.want || size != int64(len(test.content)) || err != nil {
				t.Errorf("%d bytes: %x, %d, %v", len(test.content), sum, size, err)
			}
		}
	}
}

// The hash of a file does not depend on whether its zeros are stored, and a hole of 100 GB is not
// read.
func TestContentOfHoles(t *testing.T) {
	dir := t.TempDir()
	content := make([]byte, 4*hashPartBytes+100)
	copy(content[hashPartBytes-3:], "data")
	sum := func(name string, fill func(f *os.File) error) uint64 {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(fill(f), f.Close()); err != nil {
			t.Fatal(err)
		}
		sum, _, err := contentOf(t.Context(), f.Name())
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	stored := sum("stored", func(f *os.File) error { _, err := f.Write(content); return err })
	sparse := sum("sparse", func(f *os.File) error {
		_, err := f.WriteAt([]byte("data"), hashPartBytes-3)
		return errors.Join(err, f.Truncate(int64(len(content))))
	})
	if stored != sparse {
		t.Errorf("%x with holes, %x without", sparse, stored)
	}
	if sum("huge", func(f *os.File) error { return f.Truncate(1 << 43) }) == stored { // reading it would take an hour
		t.Error("the same hash")
	}
}

// A file that became shorter has no hash; the end of the context is not an error of the file.
func TestContentEnds(t *testing.T) {
	part := func(size int64) *io.SectionReader { return io.NewSectionReader(strings.NewReader("content"), 0, size) }
	var p contentPart
	p.digest.Reset()
	if err := p.read(t.Context(), part(7)); err != nil || p.digest.Sum64() != xxhash.Sum64String("content") {
		t.Error(err)
	}
	p.digest.Reset()
	if err := p.read(t.Context(), part(8)); err == nil || hosterr.Is(err) {
		t.Error(err)
	}
	why := errors.New("a signal")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if err := p.read(ctx, part(7)); !errors.Is(err, why) || !hosterr.Is(err) {
		t.Error(err)
	}
}
