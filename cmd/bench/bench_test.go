package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackmill/internal/corpus"
	"stackmill/pipeline"
)

// A file that is put aside disappears from its path, but stays on the disk.
func TestPutAside(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "store")
	for range 2 {
		if err := os.MkdirAll(filepath.Join(path, "tables"), 0o777); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time, nothing is at the path
			if err := putAside(path); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	}
	if kept, err := filepath.Glob(filepath.Join(dir, asideDir, "*", "store", "tables")); err != nil || len(kept) != 2 {
		t.Error(kept, err)
	}
}

func TestFigures(t *testing.T) {
	for _, test := range []struct {
		figure
		wanted, result, verdict string
	}{
		{figure{value: 0.454, target: 0.5}, "at most 0.50", "0.45", "met"},
		{figure{value: 0.51, target: 0.5}, "at most 0.50", "0.51", "missed"},
		{figure{value: 1.74, target: 1.8, atLeast: true}, "at least 1.80", "1.74", "missed"},
		{figure{value: 1.8, target: 1.8, atLeast: true}, "at least 1.80", "1.80", "met"},
		{figure{value: 406, target: 406, unit: "MiB"}, "at most 406 MiB", "406 MiB", "met"},
		{figure{value: 18.26, unit: "ms"}, "", "18.3 ms", ""},
		{figure{skipped: "no perf", target: 1}, "at most 1.00", "", "skipped: no perf"},
	} {
		if wanted, result, verdict := test.figure.wanted(), test.figure.result(), test.figure.verdict(); wanted != test.wanted || result != test.result || verdict != test.verdict {
			t.Errorf("%+v: %q, %q, %q", test.figure, wanted, result, verdict)
		}
	}
	var out bytes.Buffer
	figures{{work: "reading", against: "writing", value: 2, target: 1}}.print(&out)
	for _, word := range []string{"WORK", "reading", "writing", "2.00", "at most 1.00", "missed"} {
		if !strings.Contains(out.String(), word) {
			t.Errorf("no %s in\n%s", word, &out)
		}
	}
}

func TestRuns(t *testing.T) {
	rs := runs{{3 * time.Second, 3 * time.Second, 10}, {time.Second, 2 * time.Second, 30}, {2 * time.Second, 1 * time.Second, 20}}
	if rs.elapsed() != 2*time.Second || rs.cpu() != 2*time.Second || rs.memory() != 30 || rs.cores() != 1 {
		t.Errorf("%v, %v, %d, %g", rs.elapsed(), rs.cpu(), rs.memory(), rs.cores())
	}
}

func TestTableSizes(t *testing.T) {
	store := t.TempDir()
	for path, n := range map[string]int{"small/a": 10, "large/a": 20, "large/b": 10} {
		path = filepath.Join(store, "tables", path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, make([]byte, n), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	all, err := tableSizes(store)
	if err != nil || all.total() != 40 || all.String() != "store: 0.0 MB, large 75%, small 25%" {
		t.Errorf("%d %v %v", all.total(), all, err)
	}
}

// A shortened recording is ingested without problems.
func TestShorten(t *testing.T) {
	from, symfs := recorded(t)
	short := filepath.Join(t.TempDir(), "short.data")
	if err := shorten(from, short, 100); err != nil {
		t.Fatal(err)
	}
	ingested := read(t, short, symfs)
	if whole := read(t, from, symfs); ingested.Samples != 100 || whole.Samples <= 100 || len(ingested.Problems) > len(whole.Problems) {
		t.Errorf("%d samples of %d\n%v\n%v", ingested.Samples, whole.Samples, ingested.Problems, whole.Problems)
	}
}

// repool keeps all samples of a program, in one process or split over several.
func TestRepool(t *testing.T) {
	from, symfs := recorded(t)
	for _, split := range []bool{false, true} {
		to := filepath.Join(t.TempDir(), "pool.data")
		n, err := repool(from, to, "cxx_fp", 7, split)
		if err != nil {
			t.Fatal(err)
		}
		before, after := read(t, from, symfs), read(t, to, symfs)
		if after.Samples != int64(n) || after.Samples != before.Samples || len(after.Problems) > len(before.Problems) {
			t.Errorf("%d samples of %d\n%v\n%v", after.Samples, before.Samples, after.Problems, before.Problems)
		}
	}
	if _, err := repool(from, filepath.Join(t.TempDir(), "none.data"), "cxx", 7, true); err == nil {
		t.Error("samples of a program that was not recorded")
	}
}

// recorded returns a recording of a small program and the folder of its load objects.
func recorded(t *testing.T) (path, symfs string) {
	t.Helper()
	dir := t.TempDir()
	if err := corpus.Perf(dir); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "perf", "p_cxx_fp.data"), filepath.Join(dir, "symfs")
}

func read(t *testing.T, path, symfs string) pipeline.Result {
	t.Helper()
	results, err := pipeline.Ingest(context.Background(), pipeline.Options{Store: t.TempDir(), Jobs: 1, SymFS: symfs}, path)
	if err != nil {
		t.Fatal(err)
	}
	return results[0]
}
