package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"stackmill/queries/export/increment"
	"stackmill/queries/storetest"
)

// fed is a store and the folder to which its summaries are exported.
type fed struct {
	t             *testing.T
	store, folder string
}

func newFed(t *testing.T) *fed {
	return &fed{t, storetest.New(t, storetest.Two), filepath.Join(t.TempDir(), "feed")}
}

// run runs the program on the store.
func (f *fed) run(args ...string) string {
	f.t.Helper()
	out, err := program(f.t, append(args, "--store", f.store)...).CombinedOutput()
	if err != nil {
		f.t.Fatalf("%q: %v: %s", args, err, out)
	}
	return string(out)
}

// update exports the changes and returns the program's messages. The folder must then have the rows
// of the store's views.
func (f *fed) update(views ...string) string {
	f.t.Helper()
	args := []string{"export", "--summaries", "-o", f.folder}
	if views != nil {
		args = append(args, "--view", strings.Join(views, ","))
	} else {
		views = increment.DefaultViews
	}
	said := f.run(args...)
	f.compare(views...)
	return said
}

// compare compares the rows in the folder with the views.
func (f *fed) compare(views ...string) {
	f.t.Helper()
	for _, view := range views {
		const rows = "SELECT count(*) AS n, md5(string_agg(v::VARCHAR, chr(10) ORDER BY v::VARCHAR)) AS hash FROM (FROM %s) v"
		want := f.run("query", "--format", "csv", fmt.Sprintf(rows, view))
		if got := f.run("query", "--unsafe", "--format", "csv", fmt.Sprintf(rows, "'"+filepath.Join(f.folder, view, "*.parquet")+"'")); got != want {
			f.t.Errorf("%s: exported %q; the store has %q", view, got, want)
		}
	}
}

// files returns the names of a view's files, with their modification times.
func (f *fed) files(view string) (names []string) {
	f.t.Helper()
	entries, err := os.ReadDir(filepath.Join(f.folder, view))
	if err != nil {
		f.t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			f.t.Fatal(err)
		}
		names = append(names, fmt.Sprint(e.Name(), " ", info.ModTime()))
	}
	return names
}

// The folder has the rows of the views, whatever happens to the store and the folder; files of
// unchanged commits are not rewritten.
func TestExportSummaries(t *testing.T) {
	f := newFed(t)
	says := func(said, want string) {
		t.Helper()
		if want == "" && said != "" || !strings.Contains(said, want) {
			t.Errorf("it says %q; want %q", said, want)
		}
	}
	says(f.update(), "experiments: 2 new, 0 changed, 0 gone; file sets: 2 written, 0 removed")
	before := f.files("function_trends")
	says(f.update(), "")
	if said := f.run("compact", "--keep", "0"); !strings.Contains(said, "2 batches") {
		t.Errorf("it says %q", said)
	}
	says(f.update(), "")
	if after := f.files("function_trends"); len(before) != 2 || !slices.Equal(before, after) {
		t.Errorf("%q became %q", before, after)
	}
	f.run("label", "monday/test.1.er", "night=one")
	says(f.update(), "0 new, 1 changed, 0 gone; file sets: 1 written, 1 removed")
	after := f.files("function_trends")
	if len(after) != 2 || after[0] == before[0] && after[1] == before[1] || !slices.Contains(after, before[0]) && !slices.Contains(after, before[1]) {
		t.Errorf("%q became %q", before, after)
	}
	// The name of the remaining experiment becomes shorter.
	f.run("forget", "monday/test.1.er")
	says(f.update(), "0 new, 1 changed, 1 gone; file sets: 1 written, 2 removed")
	// The folder is damaged by a killed process, or by others.
	file := strings.Fields(f.files("labels")[0])[0]
	for path, text := range map[string]string{"labels/zz.parquet": "nonsense", "labels/.zz.tmp": "nonsense"} {
		if err := os.WriteFile(filepath.Join(f.folder, path), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(f.folder, "experiments", file)); err != nil {
		t.Fatal(err)
	}
	says(f.update(), "file sets: 1 written, 1 removed")
	says(f.update("experiments", "thread_metrics"), "file sets: 1 written, 1 removed")
	if _, err := os.Stat(filepath.Join(f.folder, "labels")); err == nil {
		t.Error("a view that is not wanted any more is there")
	}
	says(f.update("experiments", "thread_metrics"), "")
}

// An export does not touch folders that are not its own, and reports failures.
func TestExportSummariesFailures(t *testing.T) {
	f := newFed(t)
	fails := func(want string, args ...string) {
		t.Helper()
		out, err := program(t, append([]string{"export", "--store", f.store}, args...)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%q: %v: %s; want %q", args, err, out, want)
		}
	}
	other := t.TempDir()
	mine := filepath.Join(other, "mine.parquet")
	if err := os.WriteFile(mine, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	fails("choose an empty folder", "--summaries", "-o", other)
	fails("need --summaries", "--watch", "-o", f.folder)
	fails("cannot be combined with", "--summaries", "--metric", "totalcpu", "-o", f.folder)
	fails("no folder given", "--summaries")
	fails(`no view "experiment_name"`, "--summaries", "--view", "experiment_name", "-o", f.folder)
	fails(`no view "function_totals"`, "--summaries", "--view", "function_totals", "-o", filepath.Join(f.folder, "x"))
	list := filepath.Join(other, increment.ListFile)
	for text, want := range map[string]string{
		`{"views": [".."], "parts": []}`:                `".." is not a valid name`,
		`{"views": [], "parts": [{"name": "../../x"}]}`: `is not a valid name`,
		`{"views": `:                 "choose another folder",
		`{"views": [], "items": []}`: "it was not written by stackmill",
	} {
		if err := os.WriteFile(list, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		fails(want, "--summaries", "-o", other)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
	held, err := increment.Open(filepath.Join(t.TempDir(), "held"), increment.DefaultViews, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	fails("another process writes to it", "--summaries", "-o", held.Path)
}

// A watch writes new commits, and ends with status 0 on a signal.
func TestExportWatch(t *testing.T) {
	f := newFed(t)
	c := program(t, "export", "--summaries", "--watch", "--interval", "10ms", "-o", f.folder, "--store", f.store)
	errs, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(errs)
	says := func(want string) {
		t.Helper()
		if !lines.Scan() || !strings.Contains(lines.Text(), want) {
			t.Fatalf("it says %q; want %q", lines.Text(), want)
		}
	}
	says("2 new")
	f.compare(increment.DefaultViews...)
	f.run("forget", "monday/test.1.er")
	says("1 gone")
	f.compare(increment.DefaultViews...)
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		t.Errorf("it says %q", lines.Text())
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}
