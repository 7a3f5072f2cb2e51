package cache

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"stackmill/stages/loadobject/types"
)

// Types and variables are the same from the file and from the cache; a damaged cache file is
// rebuilt.
func TestDataCached(t *testing.T) {
	const path = "../types/build/testdata/shapes_dw5.so"
	load := func(cache string) []byte {
		table, err := New(Options{CacheDir: cache, DebugDirs: []string{}}).Local().Data(path)
		if err != nil || table == nil {
			t.Fatal(table, err)
		}
		return table.Append(nil)
	}
	want := load("")
	cache := filepath.Join(t.TempDir(), "cache")
	for _, what := range []string{"made", "from the cache"} {
		if !bytes.Equal(want, load(cache)) {
			t.Error(what, "it differs")
		}
	}
	files, _ := filepath.Glob(filepath.Join(cache, "*.data"))
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
	if !bytes.Equal(want, load(cache)) {
		t.Error("a damaged cache was believed")
	}
}

// A table built without a missing file is rebuilt once the file is there.
func TestDataMissing(t *testing.T) {
	dir := t.TempDir()
	d := disk{dir: filepath.Join(dir, "cache")}
	table := &types.Table{Types: make([]types.Type, 1), Units: []string{""}, Scopes: make([]types.Scope, 1)}
	half := filepath.Join(dir, "half.dwo")
	d.writeData("key", []string{half}, table)
	read := func(key string) *types.Table { t, _ := d.readData(key); return t }
	if read("key") == nil || read("other") != nil {
		t.Error("the table was not kept under its key")
	}
	if err := os.WriteFile(half, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if read("key") != nil {
		t.Error("the table lacks what a file that appeared tells")
	}
}

// A file without debug information, or that is not an object, has no table.
func TestNoData(t *testing.T) {
	list := filepath.Join(t.TempDir(), "perf-1.map")
	if err := os.WriteFile(list, []byte("1000 10 f\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{list, at("libstripped.so")} {
		if table, err := New(Options{DebugDirs: []string{}}).Local().Data(path); table != nil || err != nil {
			t.Error(path, table, err)
		}
	}
	if _, err := New(Options{}).Local().Data(list + ".gone"); err == nil {
		t.Error("no error for a file that is not there")
	}
}
