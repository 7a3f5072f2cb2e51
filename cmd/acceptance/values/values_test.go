// Package values verifies stored values: it computes them from samples and stacks by the manual's
// definitions, and changes them to see whether check finds the change.
//
// `go test` does that for a few recordings and changes. With STACKMILL_SOAK=1, it changes every row
// of the value tables in turn, and also checks by SQL, which takes hours.
package values

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"stackmill/cmd/acceptance/suite"
	"stackmill/internal/corpus"
	"stackmill/pipeline"
	"stackmill/queries"
)

var (
	soak = os.Getenv("STACKMILL_SOAK") != ""
	// other is a store whose values are computed as well.
	other = flag.String("store", "", "also compare the values of this store")
)

var folder string // of the recordings, removed at the end

func TestMain(m *testing.M) {
	suite.Main(m, func(dir string) (*queries.DB, error) {
		folder = dir
		if err := corpus.Perf(dir); err != nil {
			return nil, err
		}
		return suite.Open(options(filepath.Join(dir, "store")), paths("exp/heap.er", "exp/io.er", "exp/omp_gcc.er", "exp/cxx.er", "exp/clones.er", "exp/java.er",
			"perf/p_recur_fp.data", "perf/p_cxx_dwarf.data", "perf/p_multi.data", "perf/p_fork.data", "perf/p_traps_kernel.data", "pprof/cpu.pb.gz", "pprof/heap.pb.gz")...)
	})
}

func options(store string) pipeline.Options {
	return pipeline.Options{Store: store, SymFS: filepath.Join(folder, "symfs"), Kallsyms: filepath.Join(folder, "kallsyms"), PerfMaps: filepath.Join(folder, "perf", "maps")}
}

// paths returns the paths of recordings.
func paths(names ...string) (list []string) {
	experiments, err := corpus.Dir()
	if err != nil {
		panic(err)
	}
	root, err := corpus.Root()
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		in := map[string]string{"exp": experiments, "perf": folder, "pprof": filepath.Join(root, "testdata")}[filepath.Dir(name)]
		list = append(list, filepath.Join(in, name))
	}
	return list
}

// storeOf makes a store of one recording.
func storeOf(t *testing.T, name string) string {
	t.Helper()
	store := filepath.Join(t.TempDir(), "store")
	results, err := suite.Ingest(options(store), paths(name)...)
	if err != nil || len(results) != 1 {
		t.Fatal(results, err)
	}
	return store
}

// Every value of every mode and metric follows from the samples and their stacks.
func TestValuesByDefinition(t *testing.T) {
	stores := []string{filepath.Join(folder, "store")}
	if *other != "" {
		stores = append(stores, *other)
	}
	for _, store := range stores {
		db, err := queries.Open(t.Context(), store)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if n := compareByDefinition(t, db); n < 10_000 {
			t.Errorf("only %d values", n)
		} else {
			fmt.Println(n, "values are those of the samples")
		}
	}
}

// Values computed from the stored stacks equal the stored values, for every format.
func TestComputedValues(t *testing.T) {
	if suite.CheckValues(t, filepath.Join(folder, "store")) == 0 {
		t.Error("no experiment has values")
	}
}
