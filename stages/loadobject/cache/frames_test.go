package cache

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/internal/cachetag"
	"stackmill/stages/loadobject/cfi"
)

// Call frame information is the same from the file, from a copy without section headers, and from
// the cache; a damaged cache file is rebuilt.
func TestFrames(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if found, _ := filepath.Glob("/lib/*-linux-gnu/libc.so.6"); len(found) > 0 {
		path = found[0]
	}
	dir := t.TempDir()
	load := func(path, cache string) *cfi.Table {
		table, err := New(Options{CacheDir: cache}).Local().Frames(path)
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	encoded := func(table *cfi.Table) []byte {
		if table == nil {
			return nil
		}
		return table.Append(nil)
	}
	first := encoded(load(path, ""))
	if len(first) < 1000 {
		t.Fatalf("a table of %d bytes", len(first))
	}
	cache := filepath.Join(dir, "cache")
	for _, what := range []string{"made", "from the cache"} {
		if d := cmp.Diff(first, encoded(load(path, cache))); d != "" {
			t.Error(what, d)
		}
	}
	if !cachetag.Is(cache) {
		t.Error("the cache is not marked")
	}
	files, _ := filepath.Glob(filepath.Join(cache, "*.frames"))
	if len(files) != 1 {
		t.Fatal(files)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(files[0], b, 0o666); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(first, encoded(load(path, cache))); d != "" {
		t.Error("behind a damaged cache", d)
	}

	bare := filepath.Join(dir, "bare")
	b, err = os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clear(b[0x28:0x30])                        // e_shoff
	binary.LittleEndian.PutUint32(b[0x3c:], 0) // e_shnum, e_shstrndx
	if err := os.WriteFile(bare, b, 0o666); err != nil {
		t.Fatal(err)
	}
	// Go's linker makes no search table.
	if got := load(bare, ""); filepath.Base(path) == "libc.so.6" && (got == nil || got.Rows() < load(path, "").Rows()*9/10) {
		t.Error("without sections there is no table")
	}
}

// A section that cannot be read is counted, not treated as absent.
func TestDamagedFrames(t *testing.T) {
	const path = "/bin/sh" // some program that a compiler made
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := slices.IndexFunc(f.Sections, func(s *elf.Section) bool { return s.Name == ".eh_frame" })
	b, err := os.ReadFile(path)
	if err != nil || n < 0 {
		t.Fatal(n, err)
	}
	const headerSize, sizeAt = 0x40, 0x20
	header := binary.LittleEndian.Uint64(b[0x28:]) + uint64(n)*headerSize
	binary.LittleEndian.PutUint64(b[header+sizeAt:], 1<<40)
	damaged := filepath.Join(t.TempDir(), "damaged")
	if err := os.WriteFile(damaged, b, 0o666); err != nil {
		t.Fatal(err)
	}
	table, err := New(Options{DebugDirs: []string{t.TempDir()}}).Local().Frames(damaged)
	if err != nil || table == nil || table.Bad == 0 {
		t.Errorf("%+v, %v", table, err)
	}
}

// A file that is not an object, or is for another processor, has no call frame information.
func TestNoFrames(t *testing.T) {
	list := filepath.Join(t.TempDir(), "perf-1.map")
	if err := os.WriteFile(list, []byte("1000 10 f\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if table, err := New(Options{}).Local().Frames(list); table != nil || err != nil {
		t.Error(table, err)
	}
	if _, err := New(Options{}).Local().Frames(list + ".gone"); err == nil {
		t.Error("no error for a file that is not there")
	}
}
