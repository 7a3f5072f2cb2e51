package storedir

import (
	"bytes"
	"os"
	"testing"
)

// ReadRawCommits and ReadContents agree, and the state changes with every change of a commit.
func TestGlance(t *testing.T) {
	store := t.TempDir()
	glance := func() *RawCommits {
		t.Helper()
		g, err := ReadRawCommits(store)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	made(t, store, 0, "aa", "aa", nil)
	first := glance()
	if b := first.Parse().Batches; !first.Intact || len(b) != 1 || b[0].Batch != "aa" {
		t.Errorf("it sees %v", b)
	}
	made(t, store, 0, "bb", "bb", nil)
	second := glance()
	if !second.Intact || second.State == first.State {
		t.Error("it does not tell another commit")
	}
	path := commitPath(store, "bb")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]bool{first.State: true, second.State: true}
	for what, data := range map[string][]byte{"a bit": bytes.Replace(whole, []byte("bb"), []byte("bc"), 1), "its end": whole[:len(whole)-9], "all": nil} {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		g := glance()
		if c := g.Parse(); g.Intact || states[g.State] || len(c.Damaged) != 1 || len(c.Batches) != 1 {
			t.Errorf("%s of a commit was lost, and it says %+v", what, c)
		}
		states[g.State] = true
	}
	if err := os.Rename(path, commitPath(store, "cc")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(commitPath(store, "cc"), whole, 0o666); err != nil {
		t.Fatal(err)
	}
	if g := glance(); g.Intact || states[g.State] {
		t.Error("a commit has the name of another")
	}
}

// A Watcher and Refresh see a commit that is damaged, replaced by another one of its name and size,
// and restored, however quickly these follow each other.
func TestChanges(t *testing.T) {
	store := t.TempDir()
	made(t, store, 0, "aa", "aa", nil)
	made(t, store, 0, "bb", "bb", nil)
	w := NewWatcher(store)
	c, err := ReadContents(store)
	if err != nil {
		t.Fatal(err)
	}
	path := commitPath(store, "bb")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(whole)
	damaged[len(damaged)/2] ^= 1
	states := map[string]string{} // by content
	for i := range 50 {
		data, link := whole, i%7 == 6
		if i%2 == 1 {
			data = damaged
		}
		switch {
		case link:
			data = nil
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			err = os.Symlink("nowhere", path)
		case i%3 == 0: // another inode
			if err = os.WriteFile(path+".new", data, 0o666); err == nil {
				err = os.Rename(path+".new", path)
			}
		default:
			if i%7 == 0 {
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
			}
			err = os.WriteFile(path, data, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		state, err := w.State()
		if err != nil {
			t.Fatal(err)
		}
		g, err := ReadRawCommits(store)
		if err != nil || g.State != state {
			t.Fatalf("change %d: the watch has state %s, the files %s, %v", i, state, g.State, err)
		}
		if was, ok := states[string(data)]; ok && was != state {
			t.Errorf("change %d: another state of the same", i)
		}
		states[string(data)] = state
		if err := c.Refresh(); err != nil {
			t.Fatal(err)
		}
		if want := g.Parse(); len(c.Damaged) != len(want.Damaged) || len(c.Batches) != len(want.Batches) {
			t.Errorf("change %d: refreshed: %d damaged, %d batches, want %d, %d", i, len(c.Damaged), len(c.Batches), len(want.Damaged), len(want.Batches))
		}
	}
	if len(states) != 3 {
		t.Errorf("%d states of 3 contents", len(states))
	}
}
