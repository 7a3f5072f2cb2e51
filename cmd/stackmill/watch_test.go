package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"stackmill/internal/corpus"
	"stackmill/internal/exit"
	"stackmill/schema/storedir"
)

// watcher is a program that watches a folder.
type watcher struct {
	*night
	c     *exec.Cmd
	lines chan string // lines of its log; closed when it ends
}

func newWatcher(t *testing.T, settle string) *watcher {
	n := newNight(t)
	w := &watcher{night: n, lines: make(chan string, 1000)}
	w.c = program(t, "ingest", "--watch", "--recursive", "--interval", "10ms", "--settle", settle,
		"--store", n.store, "--cache", n.cache, "--report", n.report, "--metrics", n.metrics, n.dir)
	errs, err := w.c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(w.lines)
		for lines := bufio.NewScanner(errs); lines.Scan(); {
			w.lines <- lines.Text()
		}
	}()
	return w
}

// ingested waits until a recording was ingested, with a status.
func (w *watcher) ingested(name, status string) {
	w.t.Helper()
	line := "/" + name + " status=" + status + " "
	for !strings.Contains(w.stderr, line) { // recordings are read concurrently
		more, ok := <-w.lines
		if !ok {
			w.t.Fatalf("it ended before %s was ingested\n%s", name, w.stderr)
		}
		w.stderr += more + "\n"
	}
}

// looks waits until the program has looked n times and found nothing to do.
func (w *watcher) looks(n int) {
	w.t.Helper()
	last := 0.0
	for end := time.Now().Add(hangs); n >= 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatal("it does not look")
		}
		if _, err := os.Stat(w.metrics); err != nil {
			continue
		}
		if at := w.series()["stackmill_ingest_last_run_timestamp_seconds"]; at != last {
			last = at
			n--
		}
	}
}

// end interrupts the program and returns its exit status.
func (w *watcher) end() int {
	_ = w.c.Process.Signal(syscall.SIGTERM)
	for line := range w.lines {
		w.stderr += line + "\n"
	}
	_ = w.c.Wait() // the status is checked
	return w.c.ProcessState.ExitCode()
}

// put moves a recording into the watched folder.
func (w *watcher) put(name, content string, flag int) {
	w.t.Helper()
	f, err := os.OpenFile(filepath.Join(w.dir, name), os.O_CREATE|os.O_WRONLY|flag, 0o666)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := f.WriteString(content); err != nil {
		w.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// A recording that appears is ingested once, when it is complete. After a signal, all finished
// recordings are in the store.
func TestWatch(t *testing.T) {
	recordings := t.TempDir()
	if err := corpus.Perf(recordings); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(recordings, "perf", "p_cxx_fp.data"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWatcher(t, "1h")
	w.ingested("a.er", "complete")
	w.ingested("b.er", "complete")
	w.put("perf.data", string(whole[:len(whole)/2]), 0)
	w.looks(5)
	if n := committed(t, w.store); n != 2 {
		t.Errorf("%d are in while one is being copied", n)
	}
	w.put("perf.data", string(whole[len(whole)/2:]), os.O_APPEND)
	w.ingested("perf.data", "complete")
	if err := compose(filepath.Join(w.dir, "night", "2", "a.er")); err != nil {
		t.Fatal(err)
	}
	w.put("night/2/a.er/more", "c", 0)
	w.ingested("night/2/a.er", "complete")
	w.looks(3)
	if code := w.end(); code != 0 {
		t.Errorf("status %d\n%s", code, w.stderr)
	}
	if strings.Contains(w.stderr, "empty.er") {
		t.Errorf("one that has not settled is told of\n%s", w.stderr)
	}
	r := w.read()
	if r.Watch == nil || r.Watch.Totals.Experiments["complete"] != 4 || r.Watch.Rounds < 2 || len(r.Inputs) != 1 || !r.Arguments.Watch {
		t.Errorf("report: %+v %+v", r, r.Watch)
	}
	if s := w.series(); s["stackmill_ingest_experiments_total complete"] != 4 || s["stackmill_store_experiments complete"] != 4 || s["stackmill_ingest_last_success_timestamp_seconds"] == 0 {
		t.Errorf("metrics: %v", s)
	}
	if n := committed(t, w.store); n != 4 {
		t.Errorf("%d are in", n)
	}
}

// A damaged recording is reported once, and the exit status is the same as without --watch.
func TestWatchOfDamaged(t *testing.T) {
	w := newWatcher(t, "1ms")
	w.put("perf.data", "none", 0)
	w.ingested("perf.data", "failed")
	w.looks(10)
	if code := w.end(); code != exit.Lost {
		t.Errorf("status %d\n%s", code, w.stderr)
	}
	if n := strings.Count(w.stderr, "empty.er: failed"); n > 1 {
		t.Errorf("told %d times\n%s", n, w.stderr)
	}
	if s := w.series(); s["stackmill_ingest_experiments_total failed"] != 2 || s["stackmill_ingest_experiments_total complete"] != 2 {
		t.Errorf("metrics: %v\n%s", s, w.stderr)
	}
}

// committed counts the experiments in the commits of a store.
func committed(t *testing.T, store string) (n int) {
	t.Helper()
	list, err := storedir.Commits(store)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		n += len(c.Experiments)
	}
	return n
}
