package queries

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"stackmill/queries/storetest"
	"stackmill/schema/storedir"
)

const aa = "00000000000000aa"

// found returns a check's findings as texts.
func found(list []Finding) (words []string) {
	for _, f := range list {
		words = append(words, f.String())
	}
	return words
}

// survey checks everything except the sums.
func survey(t *testing.T, store string) *CheckReport {
	t.Helper()
	p, err := Check(t.Context(), store, CheckOptions{FilesOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A check finds any change in a store's folder, and repair leaves a correct store, without the
// experiments that must be ingested again.
func TestRepair(t *testing.T) {
	file := func(store string, name string) string { return filepath.Join(store, name) }
	put := func(t *testing.T, name, content string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	define := func(t *testing.T, store, statement string) {
		t.Helper()
		if err := Publish(store); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("duckdb", filepath.Join(store, CatalogFile))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	replace := func(t *testing.T, name, old, new string) {
		t.Helper()
		data, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(data), old) {
			t.Fatal(old, err)
		}
		put(t, name, strings.Replace(string(data), old, new, 1))
	}
	for name, test := range map[string]struct {
		damage      func(t *testing.T, store string)
		wrong, note string
		experiments string // after the repair
	}{
		"orphan": {func(t *testing.T, store string) { put(t, file(store, "tables/samples/00000000000000cc.parquet"), "x") },
			"tables/samples/00000000000000cc.parquet: is in no commit", "", "2"},
		"extra file":   {func(t *testing.T, store string) { put(t, file(store, "tables/x/readme"), "x") }, "tables/x/readme: is in no commit", "", "2"},
		"extra commit": {func(t *testing.T, store string) { put(t, file(store, "commits/"+aa+".json~"), "x") }, "commits/" + aa + ".json~: is in no commit", "", "2"},
		"renamed commit": {func(t *testing.T, store string) {
			os.Rename(file(store, "commits/"+aa+".json"), file(store, "commits/x.json"))
		}, "commits/x.json: is not as it was written", "", "2"},
		"copied commit": {func(t *testing.T, store string) {
			data, err := os.ReadFile(file(store, "commits/"+aa+".json"))
			if err != nil {
				t.Fatal(err)
			}
			put(t, file(store, "commits/copy.json"), string(data))
			put(t, file(store, "commits/00000000000000cc.json"), string(data))
		}, "commits/copy.json: is not as it was written", "", "2"},
		"missing commit": {func(t *testing.T, store string) { os.Remove(file(store, "commits/"+aa+".json")) }, "tables/experiments/" + aa + ".parquet: is in no commit", "", "1"},
		"missing file":   {func(t *testing.T, store string) { os.Remove(file(store, "tables/samples/"+aa+".parquet")) }, "tables/samples/" + aa + ".parquet: is missing", "", "1"},
		"dropped table":  {func(t *testing.T, store string) { os.RemoveAll(file(store, "tables/samples")) }, "tables/samples/" + aa + ".parquet: is missing", "", "0"},
		"cut file":       {func(t *testing.T, store string) { os.Truncate(file(store, "tables/samples/"+aa+".parquet"), 9) }, "tables/samples/" + aa + ".parquet: has 9 bytes", "", "1"},
		"empty commit":   {func(t *testing.T, store string) { put(t, file(store, "commits/"+aa+".json"), "") }, "commits/" + aa + ".json: is not as it was written", "", "1"},
		"changed name": {func(t *testing.T, store string) {
			replace(t, file(store, "commits/"+aa+".json"), "test.1.er", "test.9.er")
		}, "commits/" + aa + ".json: is not", "", "1"},
		"changed status": {func(t *testing.T, store string) {
			replace(t, file(store, "commits/"+aa+".json"), "complete", "unclosed")
		}, "commits/" + aa + ".json: is not", "", "1"},
		"dropped view": {func(t *testing.T, store string) { define(t, store, "DROP VIEW samples") }, CatalogFile + ": lacks the view samples", "", "2"},
		"changed macro": {func(t *testing.T, store string) {
			define(t, store, "CREATE OR REPLACE MACRO timeline_by(width_ns) AS TABLE SELECT 1 AS a")
		},
			CatalogFile + ": has another definition of the macro timeline_by", "", "2"},
		"added table":     {func(t *testing.T, store string) { define(t, store, "CREATE TABLE t (a INTEGER)") }, CatalogFile + ": has the table t, which", "", "2"},
		"damaged catalog": {func(t *testing.T, store string) { put(t, file(store, CatalogFile), "damaged") }, CatalogFile + ": cannot be read", "", "2"},
		"missing catalog": {func(t *testing.T, store string) {}, "", CatalogFile + ": is missing", "2"},
		"stale catalog": {func(t *testing.T, store string) {
			define(t, store, "UPDATE catalog_fingerprint SET fingerprint = '4-0'")
		}, "", CatalogFile + ": is out of date", "2"},
		"killed ingest": {func(t *testing.T, store string) {
			kernel, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
			if err != nil {
				t.Fatal(err)
			}
			put(t, file(store, "staging/00000000000000cc.lock"), string(kernel))
			put(t, file(store, "staging/00000000000000cc/samples.parquet"), "x")
			put(t, file(store, "tables/frames/00000000000000cc.parquet"), "x")
			put(t, file(store, ".catalog-12/x"), "")
		}, "", "staging/00000000000000cc: was left", "2"},
	} {
		t.Run(name, func(t *testing.T) {
			store := storetest.New(t, storetest.Two)
			test.damage(t, store)
			p := survey(t, store)
			wrong, notes := found(p.Wrong), found(p.Notes)
			has := func(list []string, want string) bool {
				return slices.ContainsFunc(list, func(s string) bool { return strings.HasPrefix(s, want) })
			}
			if test.wrong == "" && len(wrong) > 0 || !has(wrong, test.wrong) && test.wrong != "" || !has(notes, test.note) && test.note != "" {
				t.Errorf("found %q, notes %q, want %q, %q", wrong, notes, test.wrong, test.note)
			}
			if err := Repair(t.Context(), store, func(string, string) {}); err != nil {
				t.Fatal(err)
			}
			p = survey(t, store)
			if len(p.Wrong) > 0 {
				t.Errorf("after the repair: %q", p.Wrong)
			}
			again := 0
			for _, n := range p.Notes {
				if strings.Contains(n.What, "must be ingested again") {
					again++
				} else {
					t.Errorf("after the repair: %s", n)
				}
			}
			db := open(t, store)
			if got := rows(t, db.DB, "SELECT count(*) FROM experiments"); got[0] != test.experiments {
				t.Errorf("%s experiments, want %s", got[0], test.experiments)
			}
			if name != "missing commit" && again != 2-db.Count {
				t.Errorf("%d experiments are to be ingested again, %d are left", again, db.Count)
			}
		})
	}
}

// A batch that is being written is neither reported nor removed.
func TestRepairBesideIngest(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	attempt, err := storedir.NewAttempt(store, "00000000000000cc")
	if err != nil {
		t.Fatal(err)
	}
	defer attempt.Remove()
	file := filepath.Join(store, "tables/samples/00000000000000cc.parquet") // in its place, not committed yet
	if err := errors.Join(os.WriteFile(file, nil, 0o644), Publish(store)); err != nil {
		t.Fatal(err)
	}
	p := survey(t, store)
	if len(p.Wrong) > 0 || len(p.Notes) > 0 {
		t.Errorf("found %v %v", p.Wrong, p.Notes)
	}
	p.extra = []string{"tables/samples/00000000000000cc.parquet"}
	if err := p.repair(t.Context(), store, func(string, string) {}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

// A check finds a status on which a commit and its experiment disagree, even if the commit is
// intact.
func TestCheckFindsOtherStatus(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	rewrite(t, store, aa, func(c *storedir.Commit) { c.Experiments[0].Status = "partial" })
	p, err := Check(t.Context(), store, CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Wrong) != 1 || !strings.HasPrefix(p.Wrong[0].String(), "experiments: differ from the commits") {
		t.Errorf("found %v", p.Wrong)
	}
}

// A check has no verdict if the machine fails.
func TestCheckUndone(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	few := before
	for few.Cur = 12; few.Cur < 72; few.Cur += 10 {
		p, err := func() (*CheckReport, error) {
			if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
					t.Fatal(err)
				}
			}()
			return Check(context.Background(), store, CheckOptions{})
		}()
		if p != nil && len(p.Wrong) > 0 {
			t.Errorf("%d files: found %v", few.Cur, p.Wrong)
		}
		if err == nil && p.Invariants == 0 {
			t.Errorf("%d files: it proves nothing", few.Cur)
		}
	}
}

// The files of a cluster's tasks belong to a store, and a repair that has nothing to do prints nothing.
func TestPlansBelongToStore(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	if err := Publish(store); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"plans/89a3357131b114c5/0.json", "plans/89a3357131b114c5/0/b0d8f2fbd0e7b2b01", "plans/readme", "plans/a/x.json", "plans/a/0/b/c", "plans/a/0"} {
		file := filepath.Join(store, name)
		if strings.HasSuffix(name, "a/0") {
			file += "1"
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"plans/a/0/b/c: is not part of the store", "plans/a/01: is not part of the store", "plans/a/x.json: is not part of the store", "plans/readme: is not part of the store"}
	if p := survey(t, store); len(p.Wrong) > 0 || !slices.Equal(found(p.Notes), want) {
		t.Errorf("found %v %v", p.Wrong, p.Notes)
	}
	if err := Repair(t.Context(), store, func(where, what string) { t.Errorf("repaired: %s: %s", where, what) }); err != nil {
		t.Fatal(err)
	}
}
