package cache

import (
	debugelf "debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/elf/elftest"
	"stackmill/stages/loadobject/symtab"
)

// Variables are shared. A list of symbols has none and is not an ELF object.
func TestVariables(t *testing.T) {
	l := New(Options{DebugDirs: []string{}})
	first, err := l.Local().Variables(at("clones"))
	if err != nil || len(first.List) == 0 {
		t.Fatal(first, err)
	}
	if again, err := l.Local().Variables(at("clones")); again != first || err != nil {
		t.Error("they were read again", err)
	}
	list := filepath.Join(t.TempDir(), "perf-1.map")
	if err := os.WriteFile(list, []byte("1000 10 f\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if v, err := l.Local().Variables(list); v != nil || !errors.Is(err, elf.ErrNotELF) {
		t.Error(v, err)
	}
	if v, err := l.Local().Variables(""); v != nil || !errors.Is(err, os.ErrNotExist) {
		t.Error(v, err)
	}
}

// The block of thread-local variables is the same from the file and from the cache.
func TestTLSCached(t *testing.T) {
	dir := t.TempDir()
	f := elftest.File{
		Sections: []elftest.Section{elftest.Text(".text", 0x1000, 0x400, 0x40)},
		Loads:    []elftest.Load{{Type: debugelf.PT_TLS, Address: 0x3000, MemSize: 0x58}},
	}
	b := f.Bytes()
	binary.LittleEndian.PutUint64(b[binary.LittleEndian.Uint64(b[32:])+48:], 32) // p_align
	path := filepath.Join(dir, "threads")
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	want := symtab.TLS{Size: 0x58, Align: 32}
	for _, what := range []string{"made", "from the cache"} {
		table, err := New(Options{CacheDir: filepath.Join(dir, "cache"), DebugDirs: []string{}}).Local().Load(path)
		if err != nil || table.TLS != want {
			t.Errorf("%s: %+v, %v", what, table, err)
		}
	}
}
