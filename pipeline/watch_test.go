package pipeline

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// watchTest polls a folder, with its own clock.
type watchTest struct {
	t       *testing.T
	dir     string
	watcher *Watcher
	now     time.Time
}

func newWatchTest(t *testing.T) *watchTest {
	dir := t.TempDir()
	return &watchTest{t, dir, NewWatcher([]string{dir}, true, time.Minute), time.Unix(1e9, 0)}
}

// look polls some time after the last poll, and checks which recordings are ready.
func (w *watchTest) look(after time.Duration, want ...string) {
	w.t.Helper()
	w.now = w.now.Add(after)
	var got []string
	for _, p := range w.watcher.Ready(w.t.Context(), w.now) {
		rel, err := filepath.Rel(w.dir, p)
		if err != nil {
			w.t.Fatal(err)
		}
		got = append(got, rel)
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("%v are ready, not %v", got, want)
	}
}

// done reports that recordings got a status.
func (w *watchTest) done(status string, names ...string) {
	var results []Result
	for _, n := range names {
		results = append(results, Result{Path: filepath.Join(w.dir, n), Status: status})
	}
	w.watcher.Done(results)
}

// append extends a file, or creates it.
func (w *watchTest) append(name, text string) {
	w.t.Helper()
	f, err := os.OpenFile(filepath.Join(w.dir, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		w.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// A finished recording is ready once, when two polls saw the same state.
func TestWatchFinished(t *testing.T) {
	w := newWatchTest(t)
	w.look(time.Second)
	record(t, filepath.Join(w.dir, "a.er"), 3)
	w.look(time.Second)
	w.append("a.er/more", "x")
	w.look(time.Second)
	w.look(time.Second, "a.er")
	w.look(time.Second, "a.er") // Done was not called
	w.done(Aborted, "a.er")
	if !w.watcher.Pending() {
		t.Error("nothing is left of an aborted one")
	}
	w.look(time.Second, "a.er")
	w.done(Complete, "a.er")
	if w.watcher.Pending() {
		t.Error("something is left")
	}
	for range 2 * recheckRounds {
		w.look(time.Hour)
	}
	if err := os.MkdirAll(filepath.Join(w.dir, "new", "folder"), 0o777); err != nil {
		t.Fatal(err)
	}
	record(t, filepath.Join(w.dir, "new", "folder", "b.er"), 4)
	w.look(time.Second)
	w.look(time.Second, "new/folder/b.er")
}

// An unfinished recording is ready after the settle time, and again after it has grown.
func TestWatchUnfinished(t *testing.T) {
	w := newWatchTest(t)
	record(t, filepath.Join(w.dir, "a.er"), 3)
	log := filepath.Join(w.dir, "a.er", "log.xml")
	whole, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, whole[:bytes.Index(whole, []byte(`kind="exit"`))], 0o666); err != nil {
		t.Fatal(err)
	}
	w.look(time.Second)
	w.look(59 * time.Second)
	w.look(time.Second, "a.er")
	w.done(Partial, "a.er")
	w.look(time.Hour)
	if err := os.WriteFile(log, whole, 0o666); err != nil {
		t.Fatal(err)
	}
	w.look(time.Second)
	w.look(time.Second, "a.er")
	w.done(Complete, "a.er")
	w.look(time.Hour)
}

// A damaged recording is ready once, after the settle time; an unrelated file never is.
func TestWatchDamaged(t *testing.T) {
	w := newWatchTest(t)
	w.append("perf.data", "nothing of perf")
	w.append("notes.txt", "nothing")
	w.look(time.Second)
	w.look(time.Second)
	w.look(time.Minute, "perf.data")
	w.done(Failed, "perf.data")
	w.look(time.Hour)
	w.append("perf.data", "more")
	w.look(time.Second)
	w.look(time.Minute, "perf.data")
}

// The watcher forgets recordings and unrelated files that are gone.
func TestWatchForgets(t *testing.T) {
	w := newWatchTest(t)
	for range 3 {
		record(t, filepath.Join(w.dir, "night", "a.er"), 3)
		w.append("night/notes.txt", "nothing")
		w.look(time.Second)
		w.look(time.Second, "night/a.er")
		w.done(Complete, "night/a.er")
		w.look(time.Second)
		if err := os.RemoveAll(filepath.Join(w.dir, "night")); err != nil {
			t.Fatal(err)
		}
		w.look(time.Second)
		if len(w.watcher.recordings)+len(w.watcher.unrelated) > 0 {
			t.Errorf("%v, %v are remembered", w.watcher.recordings, w.watcher.unrelated)
		}
	}
}
