package storedir

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// Another machine's attempt, whose lock is invisible here, stays until it has been unchanged for
// long; remains of removed files that NFS keeps stay.
func TestCleanForeign(t *testing.T) {
	store := t.TempDir()
	if err := makeDirs(store); err != nil {
		t.Fatal(err)
	}
	staging := filepath.Join(store, StagingDir)
	dir := filepath.Join(staging, "b0000000000000001")
	file, table := filepath.Join(dir, "samples.parquet"), filepath.Join(store, FilePath("metrics", filepath.Base(dir)))
	old := time.Now().Add(-2 * abandonedAfter)
	for _, path := range []string{filepath.Join(staging, ".nfs01"), file, table} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, nil, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []struct {
		what    string
		lock    string
		changed []string // files that changed just now; the others long ago
		lives   bool
	}{
		{"lock", "another kernel\n", []string{dir + lockSuffix}, true},
		{"folder", "another kernel\n", []string{dir}, true},
		{"file", "another kernel\n", []string{file}, true},
		{"lock that was just made", "", []string{dir + lockSuffix}, true},
		{"nothing", "another kernel\n", nil, false},
	} {
		err := os.WriteFile(dir+lockSuffix, []byte(x.lock), 0o666)
		for _, path := range []string{dir + lockSuffix, file, dir} {
			err = errors.Join(err, os.Chtimes(path, old, old))
		}
		for _, path := range x.changed {
			err = errors.Join(err, os.Chtimes(path, time.Now(), time.Now()))
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := FindAttempts(store).Living[filepath.Base(dir)]; got != x.lives {
			t.Errorf("%s changed: lives %v", x.what, got)
		}
		if x.lives {
			if removed, err := RemoveOrphan(store, FilePath("metrics", filepath.Base(dir))); removed || err != nil {
				t.Errorf("%s changed: removed an extra file: %v, %v", x.what, removed, err)
			}
		}
		Clean(store)
		for _, path := range []string{dir + lockSuffix, file, table} {
			if _, err := os.Stat(path); (err == nil) != x.lives {
				t.Errorf("%s changed: %s: %v", x.what, path, err)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(staging, ".nfs01")); err != nil {
		t.Error(err)
	}
}

// A commit is not made if one of its files is missing or was replaced.
func TestCommitLost(t *testing.T) {
	store := t.TempDir()
	attempt, err := NewAttempt(store, "b1")
	if err != nil {
		t.Fatal(err)
	}
	defer attempt.Remove()
	c := Commit{Batch: "b1", Experiments: []Entry{}, Files: []File{{Table: "samples", Path: FilePath("samples", "b1"), Bytes: 1}}}
	path := filepath.Join(store, c.Files[0].Path)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	write := func(content string, want error) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		made, err := WriteCommit(store, attempt, c)
		if made != (want == nil) || !errors.Is(err, want) {
			t.Errorf("made %v, %v", made, err)
		}
	}
	write("", ErrLost)
	write("1", nil)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	c.Batch = "b2"
	if made, err := WriteCommit(store, attempt, c); made || !errors.Is(err, ErrLost) {
		t.Error(made, err)
	}
}

// A lock names its owner as soon as it exists: an empty one that a killed process left would stay
// for a day.
func TestLockIsWhole(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "name")
	if s, err := claimWhole(dir); err != nil {
		t.Skip("the file system has no files without a name: ", err)
	} else if s.Remove(); kernel() == "" {
		t.Skip("the system does not say which kernel runs")
	}
	var seen atomic.Int64
	done := make(chan bool)
	go func() {
		defer close(done)
		for n := 0; n < 3000 || n < 300_000 && seen.Load() == 0; n++ {
			s, err := claim(dir)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := claim(dir); !errors.Is(err, errTaken) {
				t.Errorf("it is claimed twice: %v", err)
			}
			s.Remove()
		}
	}()
	for {
		select {
		case <-done:
			if seen.Load() == 0 {
				t.Error("no lock was seen")
			}
			return
		default:
		}
		content, err := os.ReadFile(dir + lockSuffix)
		if err != nil {
			continue
		}
		if seen.Add(1); string(content) != kernel()+"\n" {
			t.Errorf("a lock says %q", content)
			<-done
			return
		}
	}
}
