package cache

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/symtab"
)

var objects = []string{"alias", "clones", "cxx", "entry", "libstripped.so", "omp_clang", "outline", "plt_sec", "recur_dw5"}

func at(name string) string { return filepath.Join("../symtab/testdata", name) }

func load(t testing.TB, l *Loader, path string) *symtab.Table {
	t.Helper()
	table, err := l.Local().Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// listed makes cmp compare tables by their lists of functions and rows.
var listed = cmp.Options{
	cmp.Transformer("All", func(f symtab.Functions) []symtab.Function { return slices.Collect(f.All()) }),
	cmp.Transformer("From", func(r symtab.Rows) []symtab.Row { return slices.Collect(r.From(0)) }),
}

func TestColdAndCached(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	options := Options{CacheDir: dir, DebugDirs: []string{}}
	for _, name := range objects {
		cold := load(t, New(Options{DebugDirs: []string{}}), at(name))
		first := load(t, New(options), at(name))
		l := New(options)
		cached := load(t, l, at(name))
		if d := cmp.Diff(cold, cached, listed); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if d := cmp.Diff(cold, first, listed); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if load(t, l, at(name)) != cached {
			t.Errorf("%s: the table in memory was not used", name)
		}
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.table"))
	if len(files) != len(objects) {
		t.Errorf("%d files in the cache, want one per object: %v", len(files), files)
	}
}

// A copy at another path is the same object.
func TestSameObjectElsewhere(t *testing.T) {
	b, err := os.ReadFile(at("clones"))
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "clones_hash")
	if err := os.WriteFile(copied, b, 0o644); err != nil {
		t.Fatal(err)
	}
	l := New(Options{DebugDirs: []string{}})
	if load(t, l, at("clones")) != load(t, l, copied) {
		t.Error("read twice")
	}
}

// Temporary files of killed processes are removed, but not files that are being written.
func TestAbandonedParts(t *testing.T) {
	dir := t.TempDir()
	left, written := filepath.Join(dir, partPrefix+"left"), filepath.Join(dir, partPrefix+"written")
	for path, age := range map[string]time.Duration{left: abandoned + time.Hour, written: abandoned - time.Hour} {
		then := time.Now().Add(-age)
		if err := errors.Join(os.WriteFile(path, []byte("part"), 0o666), os.Chtimes(path, then, then)); err != nil {
			t.Fatal(err)
		}
	}
	load(t, New(Options{CacheDir: dir, DebugDirs: []string{}}), at("clones"))
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the abandoned part is still there: %v", err)
	}
	if _, err := os.Stat(written); err != nil {
		t.Error(err)
	}
}

// A cache file with any byte changed is ignored.
func TestDamagedCache(t *testing.T) {
	options := Options{CacheDir: t.TempDir(), DebugDirs: []string{}}
	want := load(t, New(options), at("clones"))
	load(t, New(options), at("entry"))
	s, err := New(Options{DebugDirs: []string{}}).open(at("clones"), elf.SearchPaths{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	path := disk{dir: options.CacheDir}.path(s.key)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	o, err := New(Options{DebugDirs: []string{}}).open(at("entry"), elf.SearchPaths{})
	if err != nil {
		t.Fatal(err)
	}
	defer o.close()
	foreign, err := os.ReadFile(disk{dir: options.CacheDir}.path(o.key))
	if err != nil {
		t.Fatal(err)
	}
	flip := func(i int) []byte {
		b := append([]byte(nil), whole...)
		b[i] ^= 1
		return b
	}
	for name, b := range map[string][]byte{
		"empty": nil, "cut": whole[:len(whole)/2], "longer": append(flip(0)[:0:0], append(whole, 0)...),
		"magic": flip(0), "version": flip(16), "checksum": flip(24), "body": flip(len(whole) - 1), "another object's": foreign,
	} {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, load(t, New(options), at("clones")), listed); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if now, _ := os.ReadFile(path); string(now) != string(whole) {
			t.Errorf("%s: the file was not made anew", name)
		}
	}
}

func TestUnwritableCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	load(t, New(Options{CacheDir: filepath.Join(file, "cache")}), at("clones"))
}

func TestConcurrent(t *testing.T) {
	l := New(Options{CacheDir: t.TempDir(), DebugDirs: []string{}})
	got := make([][]*symtab.Table, len(objects))
	var wg sync.WaitGroup
	for i, name := range objects {
		got[i] = make([]*symtab.Table, 8)
		for k := range got[i] {
			wg.Go(func() { got[i][k], _ = l.Local().Load(at(name)) })
		}
	}
	wg.Wait()
	for i, name := range objects {
		for _, table := range got[i] {
			if table == nil || table != got[i][0] {
				t.Errorf("%s was read more than once", name)
			}
		}
	}
}

func TestMemoryLimit(t *testing.T) {
	l := New(Options{DebugDirs: []string{}, MemoryLimit: 1})
	for range 2 {
		for _, name := range objects {
			load(t, l, at(name))
			if len(l.tables) != 1 || l.recent.Len() != 1 {
				t.Fatalf("%d tables are kept", len(l.tables))
			}
		}
	}
	all := New(Options{DebugDirs: []string{}})
	var sum int64
	for _, name := range objects {
		sum += load(t, all, at(name)).Bytes()
	}
	if all.bytes != sum || len(all.tables) != len(objects) {
		t.Errorf("%d bytes in %d tables, want %d", all.bytes, len(all.tables), sum)
	}
}

func TestErrors(t *testing.T) {
	l := New(Options{})
	if _, err := l.Local().Load(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := l.Local().Load("loader_test.go"); !errors.Is(err, elf.ErrNotELF) {
		t.Error(err)
	}
}

// A file that shrinks while it is mapped is an error, not a crash.
func TestShrinkingFile(t *testing.T) {
	b, err := os.ReadFile(at("cxx"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cxx")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{DebugDirs: []string{}}).open(path, elf.SearchPaths{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.build(); !errors.Is(err, elf.ErrUnreadable) {
		t.Errorf("error %v", err)
	}
}

// gcc builds a program from a source in a new folder.
func gcc(t testing.TB, options ...string) string {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "prog.c")
	if err := os.WriteFile(source, []byte("int f(int x) { return x + 1; }\nint main(void) { return f(1); }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("gcc", append([]string{"-O1", "-fno-inline", "-o", "prog", "prog.c"}, options...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("gcc: %v\n%s", err, out)
	}
	return filepath.Join(dir, "prog")
}

// A table built without split debug information is dropped once that is found.
func TestSplitFileTurnsUp(t *testing.T) {
	prog := gcc(t, "-gdwarf-4", "-gsplit-dwarf")
	files, _ := filepath.Glob(filepath.Join(filepath.Dir(prog), "*.dwo"))
	if len(files) != 1 {
		t.Skip("no .dwo file")
	}
	language := func(l *Loader) string {
		table := load(t, l, prog)
		for f := range table.Functions.All() {
			if f.Name == "main" {
				return table.Modules[f.Module].Language
			}
		}
		return "no main"
	}
	options := Options{CacheDir: t.TempDir()}
	if err := os.Rename(files[0], files[0]+".away"); err != nil {
		t.Fatal(err)
	}
	if got := language(New(options)); got != "" {
		t.Errorf("language %q without the .dwo file", got)
	}
	if err := os.Rename(files[0]+".away", files[0]); err != nil {
		t.Fatal(err)
	}
	if got := language(New(options)); got != "C" {
		t.Errorf("language %q with the .dwo file", got)
	}
}

// A debug file of another build is named in the notes of this path's table only.
func TestForeignDebugFile(t *testing.T) {
	prog := gcc(t, "-g")
	dir := filepath.Dir(prog)
	for _, args := range [][]string{
		{"--only-keep-debug", "prog", "prog.debug"},
		{"--strip-all", "--add-gnu-debuglink=prog.debug", "prog", "stripped"},
	} {
		cmd := exec.Command("objcopy", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("objcopy: %v\n%s", err, out)
		}
	}
	other, err := os.ReadFile(at("clones"))
	if err != nil {
		t.Fatal(err)
	}
	l := New(Options{CacheDir: t.TempDir(), DebugDirs: []string{}})
	stripped := filepath.Join(dir, "stripped")
	if table := load(t, l, stripped); table.Functions.Len() < 3 || table.Lines.Len() == 0 || table.Notes != nil {
		t.Errorf("the debug file was not used: %v", table.Notes)
	}
	if err := os.WriteFile(filepath.Join(dir, "prog.debug"), other, 0o644); err != nil {
		t.Fatal(err)
	}
	l = New(l.options)
	table := load(t, l, stripped)
	if len(table.Notes) != 1 || !strings.Contains(table.Notes[0].Text, "prog.debug") || table.Lines.Len() > 0 {
		t.Errorf("notes %v, %d lines", table.Notes, table.Lines.Len())
	}
	if again := load(t, l, stripped); cmp.Diff(table, again, listed) != "" {
		t.Error("the second load differs")
	}
}

func FuzzDecode(f *testing.F) {
	for _, name := range []string{"clones", "entry"} {
		b := encode("key", []string{"missing.dwo"}, load(f, New(Options{DebugDirs: []string{}}), at(name)))
		f.Add(b[headSize:])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		key, missing, table, err := decode(seal(body))
		if err != nil {
			return
		}
		key2, missing2, table2, err := decode(encode(key, missing, table))
		if err != nil || key2 != key || cmp.Diff(missing, missing2) != "" || cmp.Diff(table, table2, listed) != "" {
			t.Fatalf("not the same after writing: %v", err)
		}
	})
}

// large lists the benchmarks' objects; those that the machine lacks are skipped.
var large = map[string][]string{
	"libc":      {"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/lib/aarch64-linux-gnu/libc.so.6"},
	"libstdcxx": {"/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/lib64/libstdc++.so.6", "/lib/aarch64-linux-gnu/libstdc++.so.6"},
	"go":        {"/usr/local/go/bin/go", "/usr/lib/go/bin/go"},
}

func benchmark(b *testing.B, options func() Options) {
	for _, name := range []string{"libc", "libstdcxx", "go"} {
		b.Run(name, func(b *testing.B) {
			for _, path := range large[name] {
				if _, err := os.Stat(path); err != nil {
					continue
				}
				o := options()
				load(b, New(o), path)
				b.ReportAllocs()
				for b.Loop() {
					load(b, New(o), path)
				}
				return
			}
			b.Skip("not on this machine")
		})
	}
}

func BenchmarkCold(b *testing.B) {
	benchmark(b, func() Options { return Options{} })
}

func BenchmarkCached(b *testing.B) {
	benchmark(b, func() Options { return Options{CacheDir: b.TempDir()} })
}
