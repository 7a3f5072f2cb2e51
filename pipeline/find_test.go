package pipeline

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"stackmill/schema/storedir"
)

// A store whose contents the caller has just read is not read again.
func TestFindInContents(t *testing.T) {
	folder := scriptedFolder(t, func(context.Context, string) error { return nil }, "a.scripted")
	store, old := filepath.Join(t.TempDir(), "store"), time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(folder, "a.scripted"), old, old); err != nil {
		t.Fatal(err)
	}
	options := Options{Store: store, Jobs: 1, DebugDirs: []string{}}
	if _, err := Ingest(t.Context(), options, folder); err != nil {
		t.Fatal(err)
	}
	contents, err := storedir.ReadContents(store)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(store, storedir.CommitsDir)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		contents *storedir.Contents
		want     string
	}{{contents, Skipped}, {nil, ""}} {
		options.Contents = c.contents
		found, err := Find(t.Context(), options, folder)
		if err != nil || len(found) != 1 || found[0].Instead != c.want {
			t.Errorf("found %+v, want %q, %v", found, c.want, err)
		}
	}
}
