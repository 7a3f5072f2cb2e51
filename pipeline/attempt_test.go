package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"golang.org/x/sys/unix"

	"stackmill/internal/hosterr"
	"stackmill/schema"
	"stackmill/schema/storedir"
	"stackmill/stages/decode"
)

// scripted decodes files named *.scripted: reading their events calls next.
type scripted struct {
	faulty
	next func(ctx context.Context, name string) error
}

func (scripted) Detect(path string) bool { return filepath.Ext(path) == ".scripted" }

func (s scripted) Open(ctx context.Context, path string) *decode.Recording {
	rec := s.faulty.Open(ctx, path)
	rec.Processes[0].Events = func(schema.Kind, ...string) decode.EventReader {
		return events(func() error { return s.next(ctx, filepath.Base(path)) })
	}
	return rec
}

type events func() error

func (e events) Next() (arrow.RecordBatch, error) { return nil, e() }
func (events) Close()                             {}

// scriptedFolder makes files of these names and registers their decoder.
func scriptedFolder(t *testing.T, next func(ctx context.Context, name string) error, names ...string) (folder string) {
	t.Helper()
	decoders = append(decoders, scripted{next: next})
	t.Cleanup(func() { decoders = decoders[:len(decoders)-1] })
	folder = t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// A host error aborts only its experiment: the others are committed, and the next run reads it.
func TestFaultAborts(t *testing.T) {
	faults := map[string]error{
		"space.scripted": unix.ENOSPC, "files.scripted": unix.EMFILE, "memory.scripted": unix.ENOMEM, "disk.scripted": unix.EIO, "ours.scripted": hosterr.New(errors.New("ours")),
	}
	broken := true
	next := func(_ context.Context, name string) error {
		if err := faults[name]; broken && err != nil {
			return fmt.Errorf("read: %w", err)
		}
		return nil
	}
	names := []string{"z.scripted"}
	for name := range faults {
		names = append(names, name)
	}
	folder, store := scriptedFolder(t, next, names...), filepath.Join(t.TempDir(), "store")
	ingest := func() []Result {
		results, err := Ingest(t.Context(), Options{Store: store, Jobs: 2, DebugDirs: []string{}}, folder)
		if err != nil || len(results) != len(names) {
			t.Fatal(err, results)
		}
		return results
	}
	for _, r := range ingest() {
		want := faults[filepath.Base(r.Path)]
		switch {
		case want == nil && r.Status != Complete:
			t.Errorf("%s: %s, %v", r.Path, r.Status, r.Err)
		case want != nil && (r.Status != Aborted || !errors.Is(r.Err, want) || !r.Lost()):
			t.Errorf("%s: %s, %v", r.Path, r.Status, r.Err)
		}
	}
	if n := batches(t, store); n != 1 {
		t.Errorf("%d batches, want 1", n)
	}
	nothingStaged(t, store)
	broken = false
	for _, r := range ingest() {
		if r.Status != Complete && faults[filepath.Base(r.Path)] != nil {
			t.Errorf("again: %s: %s, %v", r.Path, r.Status, r.Err)
		}
	}
}

func nothingStaged(t *testing.T, store string) {
	t.Helper()
	left, err := os.ReadDir(filepath.Join(store, "staging"))
	if err != nil || len(left) > 0 {
		t.Errorf("staging has %v, %v", left, err)
	}
}

// A host error that keeps a recording from being recognized or identified does not count as damage.
func TestFaultBeforeReading(t *testing.T) {
	folder := scriptedFolder(t, nil, "a.scripted")
	decoders = append(decoders, unidentified{scripted{}})
	defer func() { decoders = decoders[:len(decoders)-1] }()
	decoders[len(decoders)-1], decoders[len(decoders)-2] = decoders[len(decoders)-2], decoders[len(decoders)-1]
	results, err := Ingest(t.Context(), Options{Store: filepath.Join(t.TempDir(), "store"), Jobs: 1}, folder)
	if err != nil || len(results) != 1 || results[0].Status != Aborted {
		t.Error(results, err)
	}
}

// unidentified decodes recordings whose files cannot be listed, for lack of file descriptors.
type unidentified struct{ scripted }

func (unidentified) Files(string) ([]string, error) { return nil, unix.EMFILE }

// A store that cannot be written stops the run: every recording would fail.
func TestFullStoreStops(t *testing.T) {
	var s storeFaults
	full := storeFault(unix.ENOSPC)
	for i, c := range []struct {
		err  error
		stop bool
	}{{full, false}, {full, false}, {nil, false}, {full, false}, {unix.EMFILE, false}, {full, false}, {full, true}} {
		if got := s.add(c.err); got != c.stop {
			t.Errorf("%d: %v", i, got)
		}
	}
	names := []string{"a.scripted", "b.scripted", "c.scripted", "d.scripted", "e.scripted"}
	folder, store := scriptedFolder(t, func(context.Context, string) error { return nil }, names...), t.TempDir()
	if err := os.WriteFile(filepath.Join(store, "tables"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	results, err := Ingest(t.Context(), Options{Store: store, Jobs: 1}, folder)
	if err == nil || len(results) != len(names) {
		t.Fatal(results, err)
	}
	for i, r := range results {
		if begun := r.Elapsed > 0; r.Status != Aborted || begun != (i < maxStoreFaults) {
			t.Errorf("%s: %s, %v, %v", r.Path, r.Status, r.Elapsed, r.Err)
		}
	}
}

// An interrupt does not wait for attempts that ignore their context; these never commit.
func TestInterruptLeaves(t *testing.T) {
	shared(t, 1)
	var begun, released, ended sync.WaitGroup
	begun.Add(2)
	released.Add(1)
	ended.Add(2)
	next := func(context.Context, string) error {
		defer ended.Done()
		begun.Done()
		released.Wait()
		return nil
	}
	folder, store := scriptedFolder(t, next, "a.scripted", "b.scripted", "c.scripted"), filepath.Join(t.TempDir(), "store")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		begun.Wait()
		cancel(errors.New("a signal"))
	}()
	results, err := Ingest(ctx, Options{Store: store, Jobs: 2}, folder)
	if err == nil || len(results) != 3 {
		t.Fatal(results, err)
	}
	for _, r := range results {
		if r.Status != Aborted || r.Err.Error() != "a signal" {
			t.Errorf("%s: %s, %v", r.Path, r.Status, r.Err)
		}
	}
	nothingStaged(t, store)
	released.Done()
	ended.Wait()
	if commits, err := storedir.Commits(store); len(commits) > 0 {
		t.Errorf("what was left is committed: %v %v", commits, err)
	}
}

// An experiment that takes too long is stored as failed, with the reason, whether or not it checks
// its context; the next run tries it again.
func TestTimeLimit(t *testing.T) {
	shared(t, 1)
	released := make(chan bool)
	next := func(ctx context.Context, name string) error {
		if strings.HasPrefix(name, "deaf") {
			<-released
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	}
	folder, store := scriptedFolder(t, next, "a.scripted", "deaf.scripted"), filepath.Join(t.TempDir(), "store")
	results, err := Ingest(t.Context(), Options{Store: store, Jobs: 2, Timeout: 1e6}, folder)
	if err != nil || len(results) != 2 {
		t.Fatal(results, err)
	}
	committed := 0
	for _, r := range results {
		quarantined(t, r, reasonTime)
		if r.Err == nil {
			committed++
		}
	}
	if n := batches(t, store); n != committed {
		t.Errorf("%d batches, want %d", n, committed)
	}
	close(released)
	decoders[len(decoders)-1] = scripted{next: func(context.Context, string) error { return nil }}
	for _, status := range statuses(t, store, folder) {
		if status != Complete {
			t.Errorf("again: %s", status)
		}
	}
}

// quarantined checks the result of an input that exceeded a limit. It is committed as failed if it
// was identified in time.
func quarantined(t *testing.T, r Result, reason string) {
	t.Helper()
	if r.Status != Failed || r.Err == nil && (len(r.Problems) != 1 || r.Problems[0].Reason != reason) || r.Err != nil && !errors.As(r.Err, new(*overLimit)) {
		t.Errorf("%s: %s, %v, %v", r.Path, r.Status, r.Problems, r.Err)
	}
}

// An experiment that exceeds the memory by far is stored as failed; another one that is read at the
// same time is not.
func TestMemoryLimit(t *testing.T) {
	shared(t, 1)
	minMemory = 1 << 20
	defer func() { minMemory = 256 << 20 }()
	var both sync.WaitGroup
	both.Add(2)
	var once sync.Map
	next := func(ctx context.Context, name string) error {
		if _, again := once.LoadOrStore(name, true); !again {
			both.Done()
			both.Wait()
		}
		var hoard [][]byte
		for ctx.Err() == nil && name == "hog.scripted" {
			hoard = append(hoard, make([]byte, 1<<20))
			runtime.GC()
		}
		runtime.KeepAlive(hoard)
		return nil
	}
	folder, store := scriptedFolder(t, next, "hog.scripted", "other.scripted"), filepath.Join(t.TempDir(), "store")
	results, err := Ingest(t.Context(), Options{Store: store, Jobs: 2, Memory: 1 << 20}, folder)
	if err != nil || len(results) != 2 {
		t.Fatal(results, err)
	}
	quarantined(t, results[0], reasonMemory)
	if r := results[1]; r.Status != Complete {
		t.Errorf("the other: %s, %v", r.Status, r.Err)
	}
}

// A panic in any goroutine of an experiment becomes the experiment's error, with the stack.
func TestPanics(t *testing.T) {
	w := newTableWriters(t.Context(), nil) // writing without a batch panics
	rows := schema.NewRows(schema.Problems, "e", w.write)
	rows.Append(int32(1), "info", int32(0), "f", nil, "r", "m", int64(1))
	var internal *InternalError
	if err := errors.Join(rows.Close(), w.close()); !errors.As(err, &internal) || !strings.Contains(string(internal.Stack), "writers.go") {
		t.Errorf("a writer: %v", err)
	}
	internal = nil
	path := filepath.Join(t.TempDir(), "a.er") // Done gets its result in any case
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	results, err := Ingest(t.Context(), Options{Store: t.TempDir(), Jobs: 1, DebugDirs: []string{}, Done: func(Result) { panic("a mistake") }}, path)
	if err != nil || len(results) != 1 || results[0].Status != Failed || !errors.As(results[0].Err, &internal) || internal.Value != "a mistake" {
		t.Errorf("who is told of the result: %v, %v", results, err)
	}
}
