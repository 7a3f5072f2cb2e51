package gprofng_test

import (
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/decode/gprofng"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

func newExperiment(t testing.TB) *gprofngtest.Experiment {
	return gprofngtest.New(filepath.Join(t.TempDir(), "test.er"))
}

// build closes an experiment and opens it.
func build(t testing.TB, e *gprofngtest.Experiment) *decode.Recording {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, e.Dir)
}

// open opens a recording.
func open(t testing.TB, path string) *decode.Recording {
	t.Helper()
	rec := gprofng.New().Open(t.Context(), path)
	t.Cleanup(func() {
		if err := rec.Close(); err != nil {
			t.Error(err)
		}
	})
	return rec
}

// events reads all events of a kind: the values of each column, or of some, and the
// strings of its string column.
func events(t testing.TB, p *decode.Process, kind schema.Kind, some ...string) (columns map[string][]int64, names []string) {
	t.Helper()
	columns = map[string][]int64{}
	r := p.Events(kind, some...)
	defer r.Close()
	for {
		b, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			return columns, names
		}
		if n := b.NumRows(); n == 0 || n > schema.BatchRows {
			t.Errorf("a batch has %d rows", n)
		}
		if len(some) == 0 && !b.Schema().Equal(schema.EventSchema(kind)) {
			t.Fatalf("schema of %s: %s", kind, b.Schema())
		}
		names = append(names, addColumns(columns, b)...)
		b.Release()
	}
}

func addColumns(columns map[string][]int64, b arrow.RecordBatch) (names []string) {
	for i, c := range b.Columns() {
		name := b.ColumnName(i)
		for row := range c.Len() {
			switch c := c.(type) {
			case *array.Int64:
				columns[name] = append(columns[name], c.Value(row))
			case *array.Int32:
				columns[name] = append(columns[name], int64(c.Value(row)))
			case *array.String:
				names = append(names, c.Value(row))
			}
		}
	}
	return names
}

// reasons are the problems of a recording of at least a severity, as
// `file:reason`.
func reasons(rec *decode.Recording, least diagnostic.Severity) []string {
	var out []string
	for _, p := range rec.Problems.Problems {
		if p.Severity >= least {
			out = append(out, p.File+":"+p.Reason)
		}
	}
	return out
}

func wantReasons(t testing.TB, rec *decode.Recording, least diagnostic.Severity, want ...string) {
	t.Helper()
	got := reasons(rec, least)
	ok := len(got) == len(want)
	for i := range min(len(got), len(want)) {
		ok = ok && got[i] == want[i]
	}
	if !ok {
		t.Errorf("problems: %v, want %v\n%v", got, want, rec.Problems.Problems)
	}
}
