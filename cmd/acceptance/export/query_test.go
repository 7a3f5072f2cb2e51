package export

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"stackmill/queries/export"
)

const foldedQuery = "FROM folded WHERE mode = 'user' AND metric = 'totalcpu' AND experiment IN ('recur.er', 'omp_gcc.er')"

// asked exports the rows of a query as a profile.
func asked(t *testing.T, query, as string) ([]byte, error) {
	t.Helper()
	rows, err := store.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out bytes.Buffer
	err = export.WriteRows(t.Context(), rows, as, nil, &out)
	return out.Bytes(), err
}

// The rows of any query make a profile with the values of the functions in them.
func TestQueryRows(t *testing.T) {
	db := only(t, "recur.er", "omp_gcc.er")
	want := reported(t, db, "function_metrics", "f.name", "totalcpu", "user")
	delete(want, "<Total>")
	data, err := asked(t, foldedQuery, "pprof")
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.ParseData(data)
	if err != nil {
		t.Fatal(err)
	}
	if m := p.SampleType[0]; m.Type != "totalcpu" || m.Unit != "nanoseconds" {
		t.Errorf("the metric is %v", m)
	}
	got := map[string]both{}
	var sum int64
	for _, s := range p.Sample {
		seen := map[string]bool{}
		sum += s.Value[0]
		for i, l := range s.Location {
			name := l.Line[0].Function.Name
			b := got[name]
			if i == 0 {
				b[0] += s.Value[0]
			}
			if !seen[name] {
				b[1] += s.Value[0]
			}
			got[name], seen[name] = b, true
		}
	}
	delete(got, "<Total>")
	if diff := gocmp.Diff(got, want); diff != "" {
		t.Errorf("-profile +report\n%s", diff)
	}
	if all := total(t, db, "totalcpu", "user"); sum != all {
		t.Errorf("sum %d, want %d", sum, all)
	}
}

// Folded stacks of a query equal the export's; speedscope reads both.
func TestQueryFolded(t *testing.T) {
	query := strings.Replace(foldedQuery, "FROM folded", "SELECT any_value(experiment_id) AS experiment_id, stack, sum(value) AS value FROM folded", 1) + " GROUP BY stack ORDER BY stack"
	query = strings.Replace(query, "sum(value)", "sum(value)::BIGINT", 1)
	got, err := asked(t, query, "folded")
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(got), string(exported(t, only(t, "recur.er", "omp_gcc.er"), export.Request{As: "folded", Metric: "totalcpu"}))); diff != "" {
		t.Errorf("-query +export\n%s", diff)
	}
}

func TestQuerySpeedscope(t *testing.T) {
	data, err := asked(t, foldedQuery, "speedscope")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "q.speedscope.json")
	write(t, path, data)
	if p, want := speedscope(t, path)[0], total(t, only(t, "recur.er", "omp_gcc.er"), "totalcpu", "user"); p.Total != want || p.Unit != "nanoseconds" {
		t.Errorf("total %d %s, want %d", p.Total, p.Unit, want)
	}
}

// Results that cannot be profiles are refused.
func TestQueryErrors(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT stack, value FROM folded":                                                 "the query has no column experiment_id (it needs experiment_id, stack and value)",
		"FROM folded WHERE mode = 'none'":                                                 "the query returned no rows: there is nothing to export",
		"FROM folded WHERE mode = 'user'":                                                 "cannot be in one profile (add a condition on metric)",
		"FROM folded WHERE metric = 'totalcpu' AND experiment = 'recur.er'":               "cannot be in one profile (add a condition on mode)",
		"SELECT 'a' AS experiment_id, 'main' AS stack, 'many' AS value FROM (VALUES (1))": "(stack must be text and value an integer)",
	} {
		if _, err := asked(t, query, "folded"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", query, err, want)
		}
	}
}
