package pipeline

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"stackmill/schema/storedir"
)

// A recording whose file has not changed since is not read again, unless it had just been written.
func TestJournal(t *testing.T) {
	folder := scriptedFolder(t, func(context.Context, string) error { return nil }, "a.scripted")
	file, store := filepath.Join(folder, "a.scripted"), filepath.Join(t.TempDir(), "store")
	write := func(content string, at time.Time) {
		t.Helper()
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	ingest := func(what string, verify bool, want string) {
		t.Helper()
		results, err := Ingest(t.Context(), Options{Store: store, Jobs: 1, DebugDirs: []string{}, Verify: verify}, folder)
		if err != nil || len(results) != 1 || results[0].Status != want || results[0].ID == "" {
			t.Errorf("%s: %v, %v", what, results, err)
		}
	}
	old := time.Now().Add(-time.Hour)
	write("content", old)
	ingest("new", false, Complete)
	write("another", old)
	ingest("looks as before", false, Skipped)
	ingest("looks as before, but verified", true, Complete)
	write("content", old)
	ingest("what was noted last", false, Skipped)
	write("anothe", old)
	ingest("another size", false, Complete)
	write("other1", old.Add(time.Nanosecond))
	ingest("another time", false, Complete)

	now := time.Now()
	write("other2", now)
	ingest("just written", false, Complete)
	write("other3", now)
	ingest("written again at once", false, Complete)

	write("other4", old)
	ingest("old again", false, Complete)
	journal := filepath.Join(store, storedir.JournalFile)
	content, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Replace(content, []byte(`"experiment_id":"`), []byte(`"experiment_id":"0`), 1)
	for content, journalled := range map[string][]byte{"other5": nil, "other6": content[:len(content)/2], "other7": damaged} {
		write(content, old)
		if err := os.WriteFile(journal, journalled, 0o644); err != nil {
			t.Fatal(err)
		}
		ingest("a damaged journal says nothing", false, Complete)
	}
}
