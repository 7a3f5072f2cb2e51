package cache

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stackmill/internal/hosterr"
	"stackmill/internal/safefile"
	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/symtab"
)

// put writes a file into a new folder.
func put(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func names(table *symtab.Table) string {
	var list []string
	for f := range table.Functions.All() {
		list = append(list, f.Name)
	}
	return strings.Join(list, "\n")
}

// A file with another file's build-id and length never gets the other's function names, in this run
// or in a later one, whichever was read first. The second one gets a note.
func TestClaimedBuildID(t *testing.T) {
	honest, err := os.ReadFile(at("clones"))
	if err != nil {
		t.Fatal(err)
	}
	hostile := bytes.ReplaceAll(honest, []byte("use_part"), []byte("evilpart"))
	if len(hostile) != len(honest) || bytes.Equal(hostile, honest) {
		t.Fatal("nothing was renamed")
	}
	first, second := put(t, "clones", hostile), at("clones")
	for range 2 {
		options := Options{CacheDir: t.TempDir(), DebugDirs: []string{}}
		for _, run := range []string{"cold", "cached"} {
			a, b := load(t, New(options), first), load(t, New(options), second)
			if a.BuildID == "" || a.BuildID != b.BuildID {
				t.Fatalf("build-ids %q, %q", a.BuildID, b.BuildID)
			}
			for path, table := range map[string]*symtab.Table{first: a, second: b} {
				if got := strings.Contains(names(table), "evilpart"); got != (path != at("clones")) {
					t.Errorf("%s: %s has the other's functions", run, path)
				}
				doubted := len(table.Notes) == 1 && table.Notes[0].Reason == "claimed-build-id"
				if doubted != (path == second) {
					t.Errorf("%s: %s: notes %v", run, path, table.Notes)
				}
			}
		}
		first, second = second, first
	}
}

// A stripped copy has the same build-id, and fewer names.
func TestStrippedCopy(t *testing.T) {
	prog := gcc(t, "-g", "-Wl,--build-id")
	stripped := filepath.Join(filepath.Dir(prog), "stripped")
	objcopy(t, "--strip-all", prog, stripped)
	options := Options{CacheDir: t.TempDir(), DebugDirs: []string{}}
	for _, path := range []string{prog, stripped, prog} {
		if table := load(t, New(options), path); table.BuildID == "" || len(table.Notes) > 0 {
			t.Errorf("%s: build-id %q, notes %v", path, table.BuildID, table.Notes)
		}
	}
}

func objcopy(t testing.TB, args ...string) {
	t.Helper()
	if out, err := exec.Command("objcopy", args...).CombinedOutput(); err != nil {
		t.Skipf("objcopy: %v\n%s", err, out)
	}
}

// The umask decides who may read the cache.
func TestCacheModes(t *testing.T) {
	for _, umask := range []int{0o022, 0o027, 0o077, 0o002} {
		dir := filepath.Join(t.TempDir(), "cache")
		old := unix.Umask(umask)
		load(t, New(Options{CacheDir: dir, DebugDirs: []string{}}), at("clones"))
		unix.Umask(old)
		files := 0
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			files++
			if info, err := e.Info(); err != nil || info.Mode() != fs.FileMode(0o666&^umask) {
				t.Errorf("umask %o: %s has %v, %v", umask, path, info.Mode(), err)
			}
			return nil
		})
		if err != nil || files == 0 {
			t.Fatal(files, err)
		}
	}
}

// The remembered hash of a file is not used for another file for which an attacker has chosen the
// same path, length and times.
func TestRememberedContent(t *testing.T) {
	text := bytes.Repeat([]byte{1}, minRecordedSize)
	file := func(stamp safefile.Stamp, b byte) *elf.File {
		f, err := elf.New("x", append(elfHeader(), append(text, b)...))
		if err != nil {
			t.Fatal(err)
		}
		f.Stamp = stamp
		return f
	}
	long := time.Now().Add(-time.Hour).UnixNano()
	stamp := safefile.Stamp{Device: 1, Inode: 2, Size: minRecordedSize, Modified: long, Changed: long}
	dir := t.TempDir()
	fresh := func() *hashCache { return &hashCache{dir: dir} }
	want := fresh().of(file(stamp, 1))
	if got := fresh().of(file(stamp, 2)); got != want {
		t.Error("the content was read again") // a file with this stamp cannot have changed
	}
	for what, change := range map[string]func(*safefile.Stamp){
		"the time of the change": func(s *safefile.Stamp) { s.Changed++ },
		"the number":             func(s *safefile.Stamp) { s.Inode++ },
		"the device":             func(s *safefile.Stamp) { s.Device++ },
		"a change just now":      func(s *safefile.Stamp) { s.Changed = time.Now().UnixNano() },
	} {
		other := stamp
		change(&other)
		if got := fresh().of(file(other, 2)); got == want {
			t.Errorf("%s differs, and another file's content was taken", what)
		}
	}
	fresh().of(file(stamp, 1))
	path := (&hashCache{dir: dir}).path(stamp)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-20] ^= 1
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := fresh().of(file(stamp, 1)); got != want {
		t.Error("a damaged record was believed")
	}
}

// elfHeader returns the header of an empty object.
func elfHeader() []byte {
	b := make([]byte, 64)
	copy(b, "\x7fELF\x02\x01\x01")
	return b
}

// A file whose hash is remembered, because it is large, is hashed again after it was replaced by
// one of the same length and times.
func TestReplacedFile(t *testing.T) {
	prog := gcc(t, "-Wl,--build-id=0xabcdef")
	b, err := os.ReadFile(prog)
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, make([]byte, 2*minRecordedSize)...)
	path := put(t, "prog", b)
	then := time.Now().Add(-time.Hour)
	options := Options{CacheDir: t.TempDir(), DebugDirs: []string{}}
	for _, name := range []string{"main", "evil"} {
		b = bytes.ReplaceAll(b, []byte("\x00main\x00"), []byte("\x00"+name+"\x00"))
		if err := errors.Join(os.WriteFile(path, b, 0o644), os.Chtimes(path, then, then)); err != nil {
			t.Fatal(err)
		}
		if got := names(load(t, New(options), path)); !strings.Contains(got, name) {
			t.Errorf("no function %s: %s", name, got)
		}
	}
}

// A file of split debug information next to one copy of a program is not used for a copy in
// another folder.
func TestForeignSplitFile(t *testing.T) {
	prog := gcc(t, "-gdwarf-4", "-gsplit-dwarf")
	files, _ := filepath.Glob(filepath.Join(filepath.Dir(prog), "*.dwo"))
	if len(files) != 1 {
		t.Skip("no .dwo file")
	}
	half, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(prog)
	if err != nil {
		t.Fatal(err)
	}
	copied := put(t, "prog", b)
	evil := bytes.ReplaceAll(half, []byte("prog.c"), []byte("evil.c"))
	if err := os.WriteFile(filepath.Join(filepath.Dir(copied), filepath.Base(files[0])), evil, 0o644); err != nil {
		t.Fatal(err)
	}
	module := func(l *Loader, path string) string {
		table := load(t, l, path)
		for f := range table.Functions.All() {
			if f.Name == "main" {
				return filepath.Base(table.Modules[f.Module].Name)
			}
		}
		return "no main"
	}
	for _, shared := range []bool{false, true} {
		options := Options{CacheDir: t.TempDir(), DebugDirs: []string{}}
		one := New(options)
		loader := func() *Loader {
			if shared {
				return one
			}
			return New(options)
		}
		away := files[0] + ".away"
		if err := os.Rename(files[0], away); err != nil {
			t.Fatal(err)
		}
		if got := module(loader(), copied); got != "evil.c" {
			t.Fatalf("module %s: the copy's own file is not used", got)
		}
		if got := module(loader(), prog); got == "evil.c" {
			t.Error("without a file of its own, the program has what the copy's tells")
		}
		if err := os.Rename(away, files[0]); err != nil {
			t.Fatal(err)
		}
		if got := module(New(options), prog); got != "prog.c" {
			t.Errorf("module %s", got)
		}
	}
}

// Running out of file descriptors is a host error, whichever file is opened: otherwise a program
// would be stored without names for good.
func TestFaults(t *testing.T) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	paths := []string{at("clones"), put(t, "perf-1.map", []byte("1000 10 f\n"))}
	r := New(Options{DebugDirs: []string{}}).Of("", func(string) string { return "" })
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: limit.Max}); err != nil {
		t.Fatal(err)
	}
	var errs []error
	for _, path := range paths {
		_, err := r.Load(path)
		errs = append(errs, err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	for i, err := range errs {
		if !hosterr.Is(err) {
			t.Errorf("%s: %v", paths[i], err)
		}
	}
	if !hosterr.Is(r.HostErr()) {
		t.Errorf("the recording's fault is %v", r.HostErr())
	}
	r = New(Options{DebugDirs: []string{}}).Of("", func(string) string { return "" })
	if _, err := r.Load(put(t, "text", []byte("no object"))); err == nil || r.HostErr() != nil {
		t.Errorf("a bad file: %v, fault %v", err, r.HostErr())
	}
}

// Special files in place of load objects, lists and debug files are refused without waiting.
func TestSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"prog", "perf-1.map", "kallsyms"} {
		pipe, zero, loop := filepath.Join(dir, "pipe", name), filepath.Join(dir, "zero", name), filepath.Join(dir, "loop", name)
		for _, path := range []string{pipe, zero, loop} {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(unix.Mkfifo(pipe, 0o644), os.Symlink("/dev/zero", zero), os.Symlink(name, loop)); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{pipe, zero, loop} {
			l := New(Options{DebugDirs: []string{}})
			for what, load := range map[string]func(string) error{
				"symbols": func(path string) error { _, err := l.Local().Load(path); return err },
				"frames":  func(path string) error { _, err := l.Local().Frames(path); return err },
				"data":    func(path string) error { _, err := l.Local().Data(path); return err },
			} {
				if err := load(path); err == nil || hosterr.Is(err) {
					t.Errorf("%s of %s: %v", what, path, err)
				}
			}
		}
	}
	prog := gcc(t, "-g")
	stripped := filepath.Join(filepath.Dir(prog), "stripped")
	objcopy(t, "--only-keep-debug", prog, prog+".debug")
	objcopy(t, "--strip-all", "--add-gnu-debuglink="+prog+".debug", prog, stripped)
	if err := errors.Join(os.Remove(prog+".debug"), unix.Mkfifo(prog+".debug", 0o644)); err != nil {
		t.Fatal(err)
	}
	table := load(t, New(Options{DebugDirs: []string{}}), stripped)
	if len(table.Notes) != 1 || !strings.Contains(table.Notes[0].Text, "not a regular file") {
		t.Errorf("notes %v", table.Notes)
	}
}
