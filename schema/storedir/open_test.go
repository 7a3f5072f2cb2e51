package storedir

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stackmill/schema"
)

// A commit with names that no writer can have written is damaged, and its names are ignored.
func TestForgedCommits(t *testing.T) {
	const batch = "0123456789abcdef"
	named := func(table, path string) func(*Commit) {
		return func(c *Commit) { c.Files = append(c.Files, File{Table: table, Path: path}) }
	}
	for name, forge := range map[string]func(*Commit){
		"above the store":      named("samples", "../../secret/id_rsa"),
		"absolute":             named("samples", "/etc/passwd"),
		"a table above":        named("../../secret", "../secret/"+batch+".parquet"),
		"a table of its own":   named("secret", "tables/secret/"+batch+".parquet"),
		"no table":             named("", "tables/"+batch+".parquet"),
		"another table's":      named("samples", "tables/problems/"+batch+".parquet"),
		"another batch's":      named("samples", "tables/samples/0123456789abcde0.parquet"),
		"another batch begins": named("samples", "tables/samples/"+batch+"0.parquet"),
		"unclean":              named("samples", "tables/x/../samples/"+batch+".parquet"),
		"odd attempt":          named("samples", "tables/samples/"+batch+"-../../x.parquet"),
		"a pattern":            named("samples", "tables/samples/"+batch+"-*.parquet"),
		"with a NUL":           named("samples", "tables/samples/"+batch+"-0000000\x00.parquet"),
		"no Parquet file":      named("samples", "tables/samples/"+batch+".json"),
		"a commit":             named("samples", "commits/"+batch+".json"),
		"twice":                func(c *Commit) { c.Files = append(c.Files, c.Files[0]) },
		"negative rows":        func(c *Commit) { c.Files[0].Rows = -1 },
		"absurd bytes":         func(c *Commit) { c.Files[0].Bytes = 1 << 62 },
		"an experiment twice":  func(c *Commit) { c.Experiments = append(c.Experiments, c.Experiments[0]) },
		"without an id":        func(c *Commit) { c.Experiments[0].ExperimentID = "" },
		"generation":           func(c *Commit) { c.Experiments[0].Generation = 1<<63 - 1 },
		"below 0":              func(c *Commit) { c.Experiments[0].Generation = -1 },
		"labels":               func(c *Commit) { c.Labels = &Labels{Number: 1<<63 - 1} },
		"a number in its name": func(c *Commit) { c.Batch = "0.9223372036854775806"; c.Files = nil },
	} {
		store := t.TempDir()
		c := Commit{Batch: batch, StoreVersion: schema.StoreVersion, Experiments: []Entry{{ExperimentID: batch, Generation: 1}}, Files: []File{{Table: "samples", Path: FilePath("samples", batch)}}}
		made(t, store, 0, batch, "x", func(m *Commit) { *m = c })
		if l, err := ReadContents(store); err != nil || len(l.Damaged) > 0 {
			t.Fatalf("before it is forged: %v, %v", l.Damaged, err)
		}
		forge(&c)
		if err := os.Remove(commitPath(store, batch)); err != nil {
			t.Fatal(err)
		}
		made(t, store, 0, c.Batch, "x", func(m *Commit) { *m = c })
		for how, look := range map[string]func() (*Contents, error){
			"Look": func() (*Contents, error) { return ReadContents(store) },
			"Glance": func() (*Contents, error) {
				g, err := ReadRawCommits(store)
				return g.Parse(), err
			},
		} {
			l, err := look()
			if err != nil || len(l.Batches) > 0 || len(l.Damaged) != 1 || len(l.Damaged[0].Files) > 0 || !errors.Is(l.Damaged[0].Err, ErrDamaged) {
				t.Errorf("%s, by %s: %+v, %v", name, how, l, err)
			}
		}
	}
}

// inTime fails unless f ends.
func inTime(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("%s: it hangs", what)
	}
}

// oddFiles are the ways to put something other than a regular file at a path.
var oddFiles = map[string]func(path string) error{
	"pipe":   func(path string) error { return unix.Mkfifo(path, 0o600) },
	"device": func(path string) error { return os.Symlink("/dev/zero", path) },
	"folder": func(path string) error { return os.Mkdir(path, 0o700) },
	"socket": func(path string) error {
		l, err := net.Listen("unix", filepath.Join(os.TempDir(), fmt.Sprint("s", time.Now().UnixNano())))
		if err != nil {
			return err
		}
		return os.Rename(l.Addr().String(), path)
	},
	"link to a file": func(path string) error {
		return os.Symlink("/etc/passwd", path)
	},
	"link to a pipe": func(path string) error {
		if err := unix.Mkfifo(path+".pipe", 0o600); err != nil {
			return err
		}
		return os.Symlink(path+".pipe", path)
	},
}

// Anything but a regular file in place of a store's own file is refused at once, and nothing
// outside of the store is read or written.
func TestOddFiles(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for kind, put := range oddFiles {
		store := t.TempDir()
		made(t, store, 0, "b1", "x", nil)
		odd := []string{commitPath(store, "0000000000000001"), filepath.Join(store, JournalFile), filepath.Join(store, StagingDir, "a.lock"), filepath.Join(store, ScratchPrefix+"1.lock"),
			filepath.Join(store, FilePath("samples", "b1"))}
		for _, path := range odd {
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), put(path)); err != nil {
				t.Fatal(err)
			}
		}
		inTime(t, kind, func() {
			c, err := ReadContents(store)
			if err != nil || len(c.Batches) != 1 || len(c.Damaged) != 1 || !errors.Is(c.Damaged[0].Err, ErrNotRegular) {
				t.Errorf("%s: %+v, %v", kind, c, err)
			}
			if g, err := ReadRawCommits(store); err != nil || g.Intact {
				t.Errorf("%s: taken for a commit: %v", kind, err)
			}
			if _, err := ReadCommit(store, "0000000000000001"); !errors.Is(err, ErrDamaged) {
				t.Errorf("%s: the commit: %v", kind, err)
			}
			if own, restored, err := RestoreCommitName(store, "0000000000000001"); own != "" || restored || err != nil {
				t.Errorf("%s: restored %s, %v", kind, own, err)
			}
			if noted := ReadJournal(store); noted != nil {
				t.Errorf("%s: the journal is %v", kind, noted)
			}
			FindAttempts(store)
			Clean(store)
			if _, err := OpenFile(store, FilePath("samples", "b1")); !errors.Is(err, ErrNotRegular) {
				t.Errorf("%s: the table: %v", kind, err)
			}
			unfit, err := UnreadableFiles(store, slices.Values(c.Batches[0].Files))
			if err != nil || !errors.Is(unfit[FilePath("samples", "b1")], ErrNotRegular) {
				t.Errorf("%s: unfit %v, %v", kind, unfit, err)
			}
		})
	}
}

// Neither reading nor removing follows a folder's link out of the store; a link to another folder
// of the store is followed.
func TestFoldersThatAreLinks(t *testing.T) {
	store, outside := t.TempDir(), t.TempDir()
	name := FilePath("samples", "b1")
	if err := errors.Join(os.MkdirAll(filepath.Join(store, TablesDir, "problems"), 0o700), os.Symlink(outside, filepath.Join(store, TablesDir, "samples")),
		os.WriteFile(filepath.Join(outside, "b1.parquet"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	many := []File{{Table: "samples", Path: name}}
	for n := range 3 {
		many = append(many, File{Table: "samples", Path: FilePath("samples", fmt.Sprint("c", n))})
	}
	for _, files := range [][]File{many[:1], many} {
		unfit, err := UnreadableFiles(store, slices.Values(files))
		if err != nil || !errors.Is(unfit[name], ErrNotRegular) {
			t.Errorf("%d files: %v, %v", len(files), unfit[name], err)
		}
	}
	if _, err := OpenFile(store, name); !errors.Is(err, ErrNotRegular) {
		t.Error(err)
	}
	if err := removeFile(store, name); err == nil {
		t.Error("a file outside was removed")
	}
	if _, err := os.Stat(filepath.Join(outside, "b1.parquet")); err != nil {
		t.Error(err)
	}
	inside := filepath.Join(store, TablesDir, "samples")
	if err := errors.Join(os.Remove(inside), os.Symlink("problems", inside), os.WriteFile(filepath.Join(store, TablesDir, "problems", "b1.parquet"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if unfit, err := UnreadableFiles(store, slices.Values(many)); err != nil || unfit[name] != nil || len(unfit) != len(many)-1 {
		t.Errorf("%v, %v", unfit, err)
	}
}

// A commit larger than any store's is not read.
func TestLargeCommit(t *testing.T) {
	store := t.TempDir()
	made(t, store, 0, "b1", "x", nil)
	if err := errors.Join(os.WriteFile(commitPath(store, "b2"), nil, 0o600), os.Truncate(commitPath(store, "b2"), 100<<30)); err != nil {
		t.Fatal(err)
	}
	c, err := ReadContents(store)
	if err != nil || len(c.Damaged) != 1 || !strings.Contains(c.Damaged[0].Err.Error(), "bytes") {
		t.Errorf("%+v, %v", c, err)
	}
	if g, err := ReadRawCommits(store); err != nil || g.Intact {
		t.Errorf("it was read: %v", err)
	}
}
