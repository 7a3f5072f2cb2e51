package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"stackmill/internal/objstore"
	"stackmill/schema/storedir"
)

// Inputs are grouped by their order and recorded bytes.
func TestGroups(t *testing.T) {
	sized := func(n int, bytes int64) (list []input) {
		for range n {
			list = append(list, input{bytes: 8 * largeInput, recorded: bytes})
		}
		return list
	}
	for _, test := range []struct {
		name   string
		inputs []input
		want   []int // how many there are in each group
	}{
		{"none", nil, nil},
		{"few", sized(3, 1), []int{3}},
		{"as many as share a batch", sized(384, 1), []int{384}},
		{"one more", sized(385, 1), []int{384, 1}},
		{"larger ones", sized(10, 4_000_000), []int{10}},
		{"many larger ones", sized(140, groupBytes/64), []int{64, 64, 12}},
		{"tiny ones before", slices.Concat(sized(430, 1), sized(10, 4_000_000)), []int{384, 56}},
		{"large ones between", slices.Concat(sized(20, 1), sized(1, largeInput), sized(20, 1)), []int{1, 40}},
	} {
		var sizes []int
		seen := map[int]bool{}
		for _, g := range partition(test.inputs, make([]bool, len(test.inputs))) {
			sizes = append(sizes, len(g))
			for _, i := range g {
				seen[i] = true
			}
		}
		if diff := cmp.Diff(test.want, sizes); diff != "" || len(seen) != len(test.inputs) {
			t.Errorf("%s: %d of %d inputs: %s", test.name, len(seen), len(test.inputs), diff)
		}
	}
}

// Archived copies of load objects do not become rows: recordings that are large only because of
// them share a batch.
func TestArchivesShareBatch(t *testing.T) {
	root := t.TempDir()
	for i, name := range []string{"a.er", "b.er", "c.er"} {
		dir := filepath.Join(root, "in", name)
		recordOf(t, dir, "/none/program", 3, 1_700_000_000+int64(i))
		copied := filepath.Join(dir, "archives", "libc.so_dnWuQRcLhw9")
		err := errors.Join(os.MkdirAll(filepath.Dir(copied), 0o755), os.WriteFile(copied, nil, 0o644), os.Truncate(copied, largeInput))
		if err != nil {
			t.Fatal(err)
		}
	}
	o := Options{Store: filepath.Join(root, "store"), Jobs: 2, DebugDirs: []string{}}
	if _, err := Ingest(t.Context(), o, filepath.Join(root, "in")); err != nil {
		t.Fatal(err)
	}
	if n := batches(t, filepath.Join(root, "store")); n != 1 {
		t.Errorf("%d batches, want 1", n)
	}
	object := func(key string, size int64) objstore.Object {
		return objstore.Object{Address: objstore.Address{Bucket: "b", Key: key}, Size: size}
	}
	far := remoteInput(&remoteRecording{objstore.Address{Bucket: "b", Key: "a.er"}, []objstore.Object{object("a.er/archives/libc.so", largeInput), object("a.er/profile", 1)}})
	if far.bytes != largeInput+1 || far.recorded != 1 {
		t.Errorf("from objects: %d bytes, %d recorded", far.bytes, far.recorded)
	}
	// A folder named archives that has recordings is not an experiment's.
	if in := remoteInput(&remoteRecording{objstore.Address{Bucket: "b", Key: "archives/perf.data"}, []objstore.Object{object("archives/perf.data", largeInput)}}); in.recorded != largeInput {
		t.Errorf("a recording in a folder archives: %d bytes recorded", in.recorded)
	}
}

// As many batches as lanes are filled at a time, each in its order.
func TestInterleaved(t *testing.T) {
	batches := [][]string{{"a1", "a2", "a3"}, {"b1"}, {"c1", "c2"}, {"d1"}}
	for lanes, want := range map[int]string{
		1: "[a1 a2 a3 b1 c1 c2 d1]",
		2: "[a1 b1 a2 c1 a3 c2 d1]",
		9: "[a1 b1 c1 d1 a2 c2 a3]",
	} {
		if got := fmt.Sprint(interleaved(batches, lanes)); got != want {
			t.Errorf("%d at a time: %s, want %s", lanes, got, want)
		}
	}
}

// shared lets n small inputs share a batch.
func shared(t *testing.T, n int) {
	before := groupInputs
	groupInputs = n
	t.Cleanup(func() { groupInputs = before })
}

const manyGroups = 16

// many returns names of inputs; three of them share a batch.
func many(t *testing.T) (names []string) {
	shared(t, 3)
	for i := range 3 * manyGroups {
		names = append(names, fmt.Sprintf("%02d.scripted", i))
	}
	return names
}

// stocked returns the batches of the experiments that readers see, by base name, and the checksums
// of all files.
func stocked(t *testing.T, store string) (experiments, files map[string]string) {
	t.Helper()
	look, err := storedir.ReadContents(store)
	if err != nil {
		t.Fatal(err)
	}
	experiments, files = map[string]string{}, map[string]string{}
	for i := range look.Batches {
		b := &look.Batches[i]
		for e := range b.Visible {
			experiments[filepath.Base(e.Path)] = b.Batch
		}
		for _, f := range b.Files {
			files[f.Path] = f.Checksum
		}
	}
	return experiments, files
}

// A failure keeps only its own experiment out of a shared batch, with any number of jobs.
func TestSharedBatch(t *testing.T) {
	broken := true
	next := func(_ context.Context, name string) error {
		switch {
		case broken && name == "01.scripted":
			return unix.EIO
		case broken && name == "04.scripted":
			panic("a mistake")
		}
		return nil
	}
	folder := scriptedFolder(t, next, many(t)...)
	var first map[string]string
	for _, jobs := range []int{1, 4} {
		store := filepath.Join(t.TempDir(), "store")
		ingest := func() (n map[string]int) {
			n = map[string]int{}
			results, err := Ingest(t.Context(), Options{Store: store, Jobs: jobs, DebugDirs: []string{}}, folder)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range results {
				n[r.Status]++
			}
			return n
		}
		broken = true
		if diff := cmp.Diff(map[string]int{Complete: 46, Aborted: 1, Failed: 1}, ingest()); diff != "" {
			t.Error(diff)
		}
		nothingStaged(t, store)
		in, files := stocked(t, store)
		if in["00.scripted"] != in["02.scripted"] || in["00.scripted"] == in["03.scripted"] || in["01.scripted"] != "" || len(in) != 46 {
			t.Errorf("%d are in: %v", len(in), in)
		}
		if first == nil {
			first = files
		} else if diff := cmp.Diff(first, files); diff != "" {
			t.Errorf("%d jobs: %s", jobs, diff)
		}
		broken = false
		if diff := cmp.Diff(map[string]int{Complete: 2, Skipped: 46}, ingest()); diff != "" {
			t.Error("again:", diff)
		}
		if in, _ := stocked(t, store); len(in) != 3*manyGroups {
			t.Errorf("%d are in", len(in))
		}
	}
}

// A bug while an experiment is written costs only that experiment: others in its batch are read
// again.
func TestBrokenBatch(t *testing.T) {
	folder, store := scriptedFolder(t, func(context.Context, string) error { return nil }, many(t)...), filepath.Join(t.TempDir(), "store")
	begun := 0
	results, err := Ingest(t.Context(), Options{Store: store, Jobs: 1, DebugDirs: []string{}, begun: func() {
		if begun++; begun == 1 {
			panic("a mistake")
		}
	}}, folder)
	if err != nil || results[0].Status != Failed {
		t.Fatal(results[0], err)
	}
	for _, r := range results[1:] {
		if r.Status != Complete || r.Err != nil {
			t.Errorf("%s: %s, %v", r.Path, r.Status, r.Err)
		}
	}
	if in, _ := stocked(t, store); len(in) != len(results)-1 || in["01.scripted"] == in["02.scripted"] {
		t.Errorf("%d are in: %v", len(in), in)
	}
	nothingStaged(t, store)
}

// After a bug while the batch is committed, no result claims that the batch is in the store.
func TestBrokenCommit(t *testing.T) {
	folder, store := scriptedFolder(t, func(context.Context, string) error { return nil }, many(t)...), filepath.Join(t.TempDir(), "store")
	results, err := Ingest(t.Context(), Options{Store: store, Jobs: 1, DebugDirs: []string{}, Committing: func(c storedir.Commit) {
		if len(c.Experiments) > 1 || filepath.Base(c.Experiments[0].Path) == "05.scripted" {
			panic("a mistake")
		}
	}}, folder)
	if err != nil {
		t.Fatal(err)
	}
	in, _ := stocked(t, store)
	for i, r := range results {
		if isIn := in[filepath.Base(r.Path)] != ""; isIn != (r.Status == Complete) || isIn != (i != 5) {
			t.Errorf("%s: %s, %v, in the store: %v", r.Path, r.Status, r.Err, isIn)
		}
	}
	if results[5].Status != Failed || !errors.As(results[5].Err, new(*InternalError)) {
		t.Errorf("%+v", results[5])
	}
	nothingStaged(t, store)
}

// Experiments that were read before an interrupt are committed; the results say which.
func TestInterruptCommitsWhatWasRead(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	next := func(_ context.Context, name string) error {
		if name == "04.scripted" { // the second of a group
			cancel(errors.New("a signal"))
		}
		return nil
	}
	folder, store := scriptedFolder(t, next, many(t)...), filepath.Join(t.TempDir(), "store")
	results, err := Ingest(ctx, Options{Store: store, Jobs: 1, DebugDirs: []string{}}, folder)
	if err == nil {
		t.Error("no error")
	}
	in, _ := stocked(t, store)
	for _, r := range results {
		if isIn := in[filepath.Base(r.Path)] != ""; isIn != (r.Status == Complete) || !isIn && r.Status != Aborted {
			t.Errorf("%s is %s, in the store: %v", r.Path, r.Status, isIn)
		}
	}
	if in["03.scripted"] == "" || in["05.scripted"] != "" {
		t.Errorf("in the store: %v", in)
	}
	nothingStaged(t, store)
}

// The first of several inputs with the same content is stored, even if another one is read first,
// and the files are the same as with one job.
func TestFirstOfCopies(t *testing.T) {
	reading, once := make(chan struct{}), sync.Once{}
	next := func(_ context.Context, name string) error {
		if name == "02.scripted" {
			once.Do(func() { close(reading) })
		}
		return nil
	}
	folder := scriptedFolder(t, next, "00.scripted", "01.scripted", "02.scripted")
	for _, name := range []string{"00.scripted", "02.scripted"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("the same"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var want map[string]string
	for _, jobs := range []int{1, 3} {
		in, err := newIngest(t.Context(), Options{Store: filepath.Join(t.TempDir(), "store"), Jobs: jobs, DebugDirs: []string{}, Progress: &Progress{}})
		if err != nil {
			t.Fatal(err)
		}
		in.read = func(ctx context.Context, src input, to *slot) Result {
			if jobs > 1 && to.number == 0 {
				<-reading
			}
			return in.one(ctx, src, to)
		}
		if err := in.readStore(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		in.stop = cancel
		inputs, err := in.discover(ctx, []string{folder})
		if err != nil {
			t.Fatal(err)
		}
		var statuses []string
		for _, r := range in.all(ctx, inputs) {
			statuses = append(statuses, r.Status)
		}
		cancel(nil)
		if diff := cmp.Diff([]string{Complete, Complete, Skipped}, statuses); diff != "" {
			t.Errorf("%d jobs: %s", jobs, diff)
		}
		_, files := stocked(t, in.options.Store)
		if want == nil {
			want = files
		} else if diff := cmp.Diff(want, files); diff != "" {
			t.Errorf("%d jobs: %s", jobs, diff)
		}
	}
}
