package acceptance

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stackmill/cmd/acceptance/golden"
	"stackmill/queries"
)

// peer returns the path of gprofng. Without gprofng it skips the test, unless
// STACKMILL_REQUIRE_GPROFNG is set.
func peer(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("gprofng")
	if err != nil {
		if os.Getenv("STACKMILL_REQUIRE_GPROFNG") == "1" {
			t.Fatal("STACKMILL_REQUIRE_GPROFNG is set:", err)
		}
		t.Skip(err)
	}
	return path
}

// show lets gprofng print one of its reports with every metric of the store.
func show(t *testing.T, gprofng string, m *model, report, experiment string) golden.Table {
	t.Helper()
	var metrics []string
	for name, unit := range m.units {
		visible := "+"
		if unit == "ns" {
			visible = "."
		}
		metrics = append(metrics, "e"+visible+name, "i"+visible+name)
	}
	cmd := exec.Command(gprofng, "display", "text", "-limit", "0", "-metrics", strings.Join(metrics, ":")+":name", "-"+report, experiment)
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	path := filepath.Join(t.TempDir(), report)
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	tables, err := golden.ReadTables(path)
	if err != nil || len(tables) != 1 {
		t.Fatalf("%v: %d tables, %v\n%s", cmd, len(tables), err, text)
	}
	return tables[0]
}

// TestPeer compares recordings of the corpus, and a new one, with this machine's gprofng.
func TestPeer(t *testing.T) {
	gprofng := peer(t)
	for _, c := range []string{"recur", "notail", "io", "sync", "forkexec"} {
		t.Run(c, func(t *testing.T) {
			path := filepath.Join(recordings, "exp", c+".er")
			compareWithPeer(t, gprofng, path, load(t, shared.DB, experiment(c)))
		})
	}
	t.Run("recorded now", func(t *testing.T) {
		path := record(t, gprofng)
		store := filepath.Join(t.TempDir(), "store")
		if _, err := ingest(store, t.TempDir(), path); err != nil {
			t.Fatal(err)
		}
		db, err := queries.Open(context.Background(), store)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		m := load(t, db.DB, filepath.Base(path))
		compareWithPeer(t, gprofng, path, m)
		counts("work", "heapalloccnt", 500, "heapallocbytes", 500*64, "heapleakcnt", 250, "heapleakbytes", 250*64)(t, m)
	})
}

// compareWithPeer compares functions by name if gprofng and the store agree on it, and the sum of
// all others.
func compareWithPeer(t *testing.T, gprofng, path string, m *model) {
	table := show(t, gprofng, m, "functions", path)
	for _, col := range table.Columns {
		want, got := map[string][]string{}, map[string][]string{}
		for i, r := range table.Rows {
			if v := cell(table, i, col); !isZero(v) && !strings.Contains(r.Name, "no functions found") {
				name, _, _ := strings.Cut(r.Name, " (<")
				want[name] = append(want[name], v)
			}
		}
		for id, v := range m.values[col.Metric] {
			f := m.functions[id]
			name := f.name
			for _, alias := range strings.Split(f.aliases, "\t") {
				if _, ok := want[alias]; ok {
					name = alias
				}
			}
			if s := printed(m, col, v); !isZero(s) && want[name] != nil {
				got[name] = append(got[name], s)
			}
		}
		compareSets(t, fmt.Sprint(col.Flavor, " ", col.Metric), want, got)
	}
}

const allocating = `
#include <stdio.h>
#include <stdlib.h>
void *volatile kept;
__attribute__((noinline, noclone)) void work(int i) { void *p = malloc(64); kept = p; if (i % 2) free(p); }
__attribute__((noinline, noclone)) void other(void) { free(calloc(3, 100)); }
int main(void) { for (int i = 0; i < 500; i++) work(i); for (int i = 0; i < 7; i++) other(); puts("done"); return 0; }
`

// record compiles a small program and records its heap calls, its I/O and its waits.
func record(t *testing.T, gprofng string) string {
	t.Helper()
	dir := t.TempDir()
	source, program, experiment := filepath.Join(dir, "allocating.c"), filepath.Join(dir, "allocating"), filepath.Join(dir, "allocating.er")
	if err := os.WriteFile(source, []byte(allocating), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"gcc", "-g", "-O1", "-o", program, source},
		{gprofng, "collect", "app", "-p", "off", "-H", "on", "-i", "on", "-s", "on", "-O", experiment, program},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	return experiment
}
