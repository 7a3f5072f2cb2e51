package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/internal/corpus"
	"stackmill/internal/terminal"
	"stackmill/queries/console"
)

// recipe matches a question of docs/cookbook.md with its SQL and answer.
var recipe = regexp.MustCompile("(?s)\n### ([^\n]*)\n(?:[^#]*?)```sql\n(.*?)```\n(?:\n```\n(.*?)```\n)?")

// minRecipes is the minimum number of questions on the page.
const minRecipes = 30

// The SQL of each question in docs/cookbook.md gives the answer on the page, without a warning.
// -update rewrites the answers.
func TestCookbook(t *testing.T) {
	store := cookbookStore(t)
	name := filepath.Join("..", "..", "docs", "cookbook.md")
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	questions := strings.Count(string(page), "\n### ")
	recipes := recipe.FindAllStringSubmatch(string(page), -1)
	if len(recipes) < minRecipes || len(recipes) != questions {
		t.Errorf("%d of %d questions have SQL, want at least %d", len(recipes), questions, minRecipes)
	}
	var stdout, stderr strings.Builder
	a := &app{store: store, Output: terminal.Output{Stdout: &stdout, Stderr: &stderr}}
	db, err := a.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	prompt, err := console.Open(t.Context(), &a.Output, db, console.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer prompt.Close()
	answered := string(page)
	for _, r := range recipes {
		stdout.Reset()
		stderr.Reset()
		err := prompt.Run(t.Context(), r[2], "table", "")
		if err != nil || stderr.String() != "" {
			t.Errorf("%s: %v %s", r[1], err, stderr.String())
			continue
		}
		out := stdout.String()
		if strings.Count(out, "\n") < 3 {
			t.Errorf("%s: no rows", r[1])
		}
		if diff := cmp.Diff(r[3], out); diff != "" && !*update {
			t.Errorf("%s: (-page +answer)\n%s", r[1], diff)
		}
		sql := "```sql\n" + r[2] + "```\n"
		old := sql
		if r[3] != "" {
			old += "\n```\n" + r[3] + "```\n"
		}
		answered = strings.Replace(answered, old, fmt.Sprintf("%s\n```\n%s```\n", sql, out), 1)
	}
	if *update {
		if err := os.WriteFile(name, []byte(answered), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// cookbookStore makes the store that the page describes.
func cookbookStore(t *testing.T) string {
	dir := t.TempDir()
	for _, unpack := range []func(string) error{corpus.Perf, corpus.Data} {
		if err := unpack(dir); err != nil {
			t.Fatal(err)
		}
	}
	recordings, err := corpus.Dir()
	if err != nil {
		t.Fatal(err)
	}
	// Programs that are newer than their recordings would cause doubts, so they are copied first.
	wall := filepath.Join(dir, "wall")
	const from = "../../testdata/wall/"
	if err := os.CopyFS(filepath.Join(wall, "symfs"), os.DirFS(from+"symfs")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"calls_raw.data", "convoy_both.data"} {
		content, err := os.ReadFile(from + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(wall, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	paths := func(folder string, names ...string) []string {
		for i := range names {
			names[i] = filepath.Join(folder, names[i])
		}
		return names
	}
	store := filepath.Join(dir, "store")
	ingest := func(label string, paths []string) []string {
		return append([]string{"ingest", "--no-system-debug", "--debug-dir", dir, "--no-recorded-sources", "--symfs", filepath.Join(dir, "symfs"), "--label", "suite=" + label}, paths...)
	}
	for _, args := range [][]string{
		ingest("gprofng", paths(filepath.Join(recordings, "exp"), "recur.er", "recur_raw.er", "heap.er", "io.er", "sync.er", "threads.er", "cxx.er", "clones.er", "jit_none.er")),
		ingest("perf", paths(filepath.Join(dir, "perf"), "p_recur_fp.data", "p_threads_s.data", "p_multi.data", "p_fork.data")),
		ingest("memory", paths(filepath.Join(dir, "data"), "records_gcc_O2.data")),
		append([]string{"ingest", "--no-system-debug", "--debug-dir", dir, "--no-recorded-sources", "--symfs", filepath.Join(wall, "symfs"), "--label", "suite=kernel"},
			paths(wall, "calls_raw.data", "convoy_both.data")...),
		{"label", "recur_raw.er", "night=2026-11-20"},
		{"label", "recur.er", "night=2026-11-21"},
	} {
		if _, errs, status := call(append(args, "--store", store)...); status != 0 {
			t.Fatalf("%v: status %d: %s", args, status, errs)
		}
	}
	return store
}
