package values

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"stackmill/queries"
	"stackmill/queries/verify"
	"stackmill/schema"
	"stackmill/schema/storedir"
)

// valueTables are the tables whose rows are sums of an experiment.
var valueTables = []*schema.Table{
	schema.StackValues, schema.UsageValues, schema.FunctionValues, schema.CallValues, schema.TreeValues, schema.LineValues, schema.SourceValues,
	schema.PCValues, schema.ModuleValues, schema.ObjectValues, schema.DataValues, schema.FunctionRollup,
}

// changed makes changes to a random row of a table (with soak: to every row), each in a copy, and
// reports those that found does not notice. It tries one in `in` of the possible changes (with
// soak: all).
func changed(t *testing.T, store string, table *schema.Table, seed, in int, found func(store string) bool) {
	t.Helper()
	rows := read(t, store, table)
	if len(rows) == 0 {
		return
	}
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	at := []int{random.IntN(len(rows))}
	if soak {
		at, in = random.Perm(len(rows)), 1
	}
	for _, at := range at {
		for n, c := range changesAt(table, rows, at) {
			if (n+seed)%in != 0 {
				continue
			}
			to := linked(t, store)
			write(t, to, table, c.rows)
			if !found(to) {
				t.Errorf("%s: not found: %s: %v", table.Name, c.what, rows[at])
			}
			if err := os.RemoveAll(to); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// proved reports whether reading the files verifies all of a store, except for data objects of
// samples.
func proved(t *testing.T, store string) bool {
	t.Helper()
	c, err := storedir.ReadContents(store)
	if err != nil {
		t.Fatal(err)
	}
	doubts, err := verify.Batch(t.Context(), store, &c.Batches[0], 1<<30, func() {})
	return err == nil && (len(doubts) == 0 || errors.Is(doubts[0].Err, verify.ErrData))
}

// right reports whether check finds nothing wrong in a store.
func right(t *testing.T, store string, o queries.CheckOptions) bool {
	t.Helper()
	p, err := queries.Check(context.Background(), store, o)
	if err != nil {
		t.Fatal(err)
	}
	return len(p.Wrong) == 0
}

// Reading the files notices every value that is changed, missing, duplicated or has other modes.
func TestChangedValuesAreDoubted(t *testing.T) {
	for seed, name := range []string{"exp/heap.er", "exp/clones.er", "exp/java.er", "perf/p_recur_fp.data", "perf/p_cxx_dwarf.data", "pprof/cpu.pb.gz"} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			store := storeOf(t, name)
			if !proved(t, store) {
				t.Fatal("not proved as it is")
			}
			for _, table := range valueTables {
				if table != schema.DataValues { // SQL verifies these
					changed(t, store, table, seed+1, 1, func(store string) bool { return !proved(t, store) })
				}
			}
		})
	}
}

// SQL finds all these changes, too.
func TestChangedValuesAreFoundBySQL(t *testing.T) {
	names := []string{"exp/clones.er"}
	if soak {
		names = append(names, "exp/heap.er", "perf/p_recur_fp.data", "perf/p_data.data")
	}
	for _, name := range names {
		store := storeOf(t, name)
		for n, table := range valueTables {
			changed(t, store, table, n, 13, func(store string) bool { return !right(t, store, queries.CheckOptions{SQL: true}) })
		}
	}
}

// The sums of a batch are always compared with its rows by function, with and without SQL.
func TestChangedSumsAreFound(t *testing.T) {
	store := storeOf(t, "exp/clones.er")
	changed(t, store, schema.FunctionSums, 2, 3, func(store string) bool { return !right(t, store, queries.CheckOptions{}) })
}
