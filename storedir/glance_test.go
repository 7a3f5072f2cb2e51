package storedir

import (
	"bytes"
	"os"
	"testing"
)

// A glance at commits says what looking at them does, and tells every change of theirs; of
// those that are not as they were written there is none.
func TestGlance(t *testing.T) {
	store := t.TempDir()
	made(t, store, 0, "aa", "aa", nil)
	first := GlanceAt(store)
	if first == nil {
		t.Fatal("it sees nothing")
	}
	if b := first.Look().Batches; len(b) != 1 || b[0].Batch != "aa" {
		t.Errorf("it sees %v", b)
	}
	made(t, store, 0, "bb", "bb", nil)
	second := GlanceAt(store)
	if second == nil || second.State == first.State {
		t.Error("it does not tell another commit")
	}
	path := commitPath(store, "bb")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for what, data := range map[string][]byte{"a bit": bytes.Replace(whole, []byte("bb"), []byte("bc"), 1), "its end": whole[:len(whole)-9], "all": nil} {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		if GlanceAt(store) != nil {
			t.Errorf("%s of a commit was lost", what)
		}
	}
	if err := os.Rename(path, commitPath(store, "cc")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(commitPath(store, "cc"), whole, 0o666); err != nil {
		t.Fatal(err)
	}
	if GlanceAt(store) != nil {
		t.Error("a commit has the name of another")
	}
}
