package pipeline

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"

	"stackmill/internal/corpus"
	"stackmill/internal/safefile"
	"stackmill/schema/storedir"
)

// entriesOf returns the entries of a store by their experiments' names.
func entriesOf(t *testing.T, store string) map[string]storedir.Entry {
	t.Helper()
	commits, err := storedir.Commits(store)
	if err != nil {
		t.Fatal(err)
	}
	entries := map[string]storedir.Entry{}
	for _, c := range commits {
		for _, e := range c.Experiments {
			entries[e.Experiment] = e
		}
	}
	return entries
}

// TestFileTime checks that the commit has the time of a recording's file in every format: for a
// compressed file its own time, for a directory the time of the log. A file without a meaningful time
// has none. The result names the experiments for which only the file's time is known.
func TestFileTime(t *testing.T) {
	root := t.TempDir()
	if err := corpus.Perf(root); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(root, name) }
	content, err := os.ReadFile(at("perf/p_multi.data"))
	if err == nil {
		err = os.WriteFile(at("packed.data.gz"), squeezed(t, content, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	recordOf(t, at("log.er"), at("program"), 10, 1_700_000_000)
	night := time.Date(2026, 11, 20, 2, 0, 3, 123_456_789, time.UTC)
	times := map[string]time.Time{"perf/p_recur_fp.data": night, "packed.data.gz": night.Add(time.Hour), "log.er/log.xml": night.Add(2 * time.Hour), "perf/p_clones.data": time.Unix(0, 0)}
	for name, is := range times {
		if err := os.Chtimes(at(name), is, is); err != nil {
			t.Fatal(err)
		}
	}
	store := at("store")
	results, err := Ingest(t.Context(), Options{Store: store, Jobs: 1}, at("perf/p_recur_fp.data"), at("packed.data.gz"), at("log.er"), at("perf/p_clones.data"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]time.Time{}
	for name, e := range entriesOf(t, store) {
		got[name] = e.FileTime
	}
	want := map[string]time.Time{"p_recur_fp.data": night, "packed.data.gz": night.Add(time.Hour), "log.er": night.Add(2 * time.Hour), "p_clones.data": {}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	var named []string
	for _, r := range results {
		if !r.FileTime.Time.IsZero() {
			named = append(named, filepath.Base(r.Path))
		}
	}
	if slices.Sort(named); !slices.Equal(named, []string{"p_recur_fp.data", "packed.data.gz"}) {
		t.Errorf("only the file's time is known of %q", named)
	}
}

// TestOriginalFiles checks that a file that was being written for as long as the recording took counts
// as an original, and that a copy does not, even if it has the original's time.
func TestOriginalFiles(t *testing.T) {
	root := t.TempDir()
	if err := corpus.Perf(root); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(root, "perf/p_watch.data")) // 66 ms
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "a.data")
	f, err := os.Create(path)
	if err == nil {
		time.Sleep(200 * time.Millisecond)
		_, err = f.Write(content)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if safefile.Born(path).IsZero() {
		t.Skip("the file system does not keep when files are created")
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		prepare func(copied string) error
		want    bool
	}{
		"original": {func(copied string) error { return os.Rename(path, copied) }, true},
		"copy":     {func(copied string) error { return os.WriteFile(copied, content, 0o666) }, false},
		"copy with its time": {func(copied string) error {
			return errors.Join(os.WriteFile(copied, content, 0o666), os.Chtimes(copied, info.ModTime(), info.ModTime()))
		}, false},
	} {
		dir := t.TempDir()
		copied := filepath.Join(filepath.Dir(root), filepath.Base(dir)+".data")
		err := x.prepare(copied)
		results, ingestErr := Ingest(t.Context(), Options{Store: dir, Jobs: 1}, copied)
		if err := errors.Join(err, ingestErr); err != nil {
			t.Fatal(err)
		}
		e := entriesOf(t, dir)[filepath.Base(copied)]
		if e.FileOriginal != x.want || e.FileTime.IsZero() || results[0].FileTime.Time.IsZero() != x.want {
			t.Errorf("%s: %v, %s, %+v", name, e.FileOriginal, e.FileTime, results[0].FileTime)
		}
	}
}
