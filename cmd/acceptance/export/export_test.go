// Package export checks exports with the tools that read them.
package export

import (
	"bytes"
	"cmp"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"stackmill/cmd/acceptance/suite"
	"stackmill/internal/corpus"
	"stackmill/pipeline"
	"stackmill/queries"
	"stackmill/queries/export"
)

// The recordings: recursion, inlined C++, several metrics, threads, processes, bodies of
// parallel regions.
var recordings = []string{"recur", "cxx", "heap", "threads", "forkexec", "omp_gcc", "clones"}

// others are further recordings: Java methods and generated code, I/O.
var others = []string{"java", "io"}

var store *queries.DB // with all recordings

func TestMain(m *testing.M) {
	suite.Main(m, func(dir string) (db *queries.DB, err error) {
		from, err := corpus.Dir()
		if err != nil {
			return nil, err
		}
		var paths []string
		for _, name := range slices.Concat(recordings, others) {
			paths = append(paths, filepath.Join(from, "exp", name+".er"))
		}
		store, err = suite.Open(pipeline.Options{Store: filepath.Join(dir, "store")}, paths...)
		_ = corpus.Remove()
		return store, err
	})
}

// only opens the store for some experiments.
func only(t *testing.T, names ...string) *queries.DB {
	t.Helper()
	db, err := queries.OpenWith(t.Context(), store.Store, queries.Options{Only: names})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// exported returns the content of an export.
func exported(t *testing.T, db *queries.DB, r export.Request) []byte {
	t.Helper()
	var out bytes.Buffer
	r.Mode = cmp.Or(r.Mode, "user")
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	if err := export.Write(t.Context(), db, r, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// file exports to a file and returns its path.
func file(t *testing.T, db *queries.DB, r export.Request) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "exported")
	write(t, path, exported(t, db, r))
	return path
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// both is an exclusive and an inclusive value.
type both [2]int64

// reported returns the functions' values in a view, by a key of its columns.
func reported(t *testing.T, db *queries.DB, view, key, metric, mode string) map[string]both {
	t.Helper()
	values := map[string]both{}
	suite.Query(t, db.DB, func(r *sql.Rows) error {
		var k string
		var v both
		err := r.Scan(&k, &v[0], &v[1])
		values[k] = both{values[k][0] + v[0], values[k][1] + v[1]}
		return err
	}, fmt.Sprintf(`SELECT %s AS key, v.exclusive, v.inclusive
FROM %s v JOIN functions_wide f USING (experiment_id, function_id) JOIN load_objects o USING (experiment_id, load_object_id)
WHERE v.metric = ? AND v.mode = ? AND (v.exclusive <> 0 OR v.inclusive <> 0)`, key, view), metric, mode)
	return values
}

// total returns the value of `<Total>`.
func total(t *testing.T, db *queries.DB, metric, mode string) (sum int64) {
	t.Helper()
	err := db.QueryRowContext(t.Context(), "SELECT sum(inclusive)::BIGINT FROM function_metrics WHERE function = '<Total>' AND kind = 'artificial' AND metric = ? AND mode = ?", metric, mode).Scan(&sum)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}
