package pipeline

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/cache"
)

// prefetchIn starts a prefetcher with a disk cache in a folder.
func prefetchIn(t *testing.T) (p *symbolPrefetcher, folder string) {
	t.Helper()
	folder = t.TempDir()
	in := &ingest{caches: caches{loader: cache.New(cache.Options{CacheDir: folder, DebugDirs: []string{}})}}
	return in.prefetchSymbols(t.Context()), folder
}

// Tables of executable mappings are loaded, once per file; errors of a file are not reported.
func TestPrefetch(t *testing.T) {
	p, folder := prefetchIn(t)
	asked := make(chan string, 10)
	rec := &decode.Recording{Locate: func(path string) []decode.Candidate {
		asked <- path
		if path == "/missing" {
			return nil
		}
		return []decode.Candidate{{Path: path}, {Path: "/second"}}
	}}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	image := []decode.MapEvent{
		{Path: "/missing", Modes: 5}, {Path: "/unreadable", Modes: 5}, {Path: "/data", Modes: 3},
		{Path: "code", Modes: 5, Code: &decode.Code{}}, {Path: self, Modes: 5}, {Path: self, Modes: 5},
	}
	p.request(rec, image)
	p.request(rec, image)
	for until := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if tables, _ := filepath.Glob(filepath.Join(folder, "*.table")); len(tables) == 1 {
			break
		}
		if time.Now().After(until) {
			t.Fatal("no table was loaded")
		}
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
	if close(asked); len(asked) != 3 {
		t.Errorf("%d files were looked for", len(asked))
	}
}

// A request never blocks, even after the end; close returns a panic.
func TestPrefetchEnds(t *testing.T) {
	p, _ := prefetchIn(t)
	looking := make(chan bool, 1)
	rec := &decode.Recording{Locate: func(string) []decode.Candidate { looking <- true; panic("a mistake") }}
	p.request(rec, []decode.MapEvent{{Path: "/a", Modes: 5}})
	<-looking
	if err := p.close(); !errors.As(err, new(*InternalError)) {
		t.Error(err)
	}
	many := make([]decode.MapEvent, 3*maxPrefetched)
	for i := range many {
		many[i] = decode.MapEvent{Path: "/b", BuildID: string(rune('a' + i)), Modes: 5}
	}
	p.request(rec, many)
}
