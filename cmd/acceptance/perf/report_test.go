package perf

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/cmd/acceptance/perftext"
	"stackmill/internal/testfiles"
)

// count has the period and the number of samples of an event in a function.
type count struct {
	Period, Samples int64
}

// key identifies an event and a function.
type key struct {
	Event string
	symbol
}

// recorded is a common table expression: the recorded frames of a recording's samples, before any
// rule, with the names that perf shows.
const recorded = `WITH chains AS MATERIALIZED (
		SELECT p.event, p.value, s.sample, f.position, f.location_id FROM perf_samples p
		JOIN samples_wide s USING (experiment_id, sample)
		JOIN raw_frames f ON f.experiment_id = s.experiment_id AND f.raw_stack_id = s.raw_stack_id
		JOIN experiments e ON e.experiment_id = p.experiment_id WHERE e.experiment = $1 AND f.location_id IS NOT NULL
	), named AS MATERIALIZED (
		SELECT l.location_id, o.name AS object, CASE WHEN f.kind IN ('static', 'plt', 'unknown') OR f.name = '__restore_rt' THEN '?' ELSE f.perf_name END AS function, f.kind
		FROM locations_wide l JOIN functions_wide f USING (experiment_id, function_id)
		JOIN load_objects o ON o.experiment_id = l.experiment_id AND o.load_object_id = l.load_object_id
		JOIN experiments e ON e.experiment_id = l.experiment_id WHERE e.experiment = $1
	), frames AS MATERIALIZED (
		SELECT event, value, sample, position, object, function, kind FROM chains JOIN named USING (location_id)
	) `

// counts runs a query for events, objects, functions, kinds of these, sums and counts.
func counts(t *testing.T, name, text string) map[key]count {
	t.Helper()
	got := map[key]count{}
	query(t, func(r *sql.Rows) error {
		var k key
		var c count
		var kind string
		err := r.Scan(&k.Event, &k.Object, &k.Function, &kind, &c.Period, &c.Samples)
		if kind != "dynamic" {
			k.Function = compilerMark.ReplaceAllString(perftext.Bare(k.Function), "")
		}
		old := got[k]
		got[k] = count{old.Period + c.Period, old.Samples + c.Samples}
		return err
	}, recorded+text, name+".data")
	return got
}

// add adds a sample to a function.
func add(m map[key]count, k key, period int64) {
	c := m[k]
	m[k] = count{c.Period + period, c.Samples + 1}
}

// The events' sums, and each function's exclusive part, equal perf's: by the sampled address
// itself, before any rule, and by the name that perf shows.
func TestSelf(t *testing.T) {
	for _, name := range cases(t) {
		t.Run(name, func(t *testing.T) {
			want := map[key]count{}
			for _, s := range script(t, name) {
				if len(s.chain) > 0 {
					add(want, key{s.event, s.chain[0]}, s.period)
				}
			}
			got := counts(t, name, `SELECT event, object, function, kind, sum(value)::BIGINT, count(*) FROM frames WHERE position = 0 GROUP BY ALL`)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-perf +stackmill)\n%s", diff)
			}
		})
	}
}

// chains counts each sample once for every function in its chain.
const chains = `SELECT event, object, function, kind, sum(value)::BIGINT, count(*)
	FROM (SELECT DISTINCT event, sample, object, function, kind, value FROM frames WHERE function <> '?') GROUP BY ALL`

// dwarf reports whether a recording's chains were unwound from stack dumps: TestStackDumps compares
// these frame by frame.
func dwarf(name string) bool { return strings.HasSuffix(name, "_dwarf") }

// A function's inclusive value equals perf's: each sample counts once for every function in its
// chain.
func TestChildren(t *testing.T) {
	for _, name := range cases(t) {
		if dwarf(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			want := map[key]count{}
			for _, s := range script(t, name) {
				seen := map[symbol]bool{}
				for _, f := range s.chain {
					if !seen[f] && f.Function != "?" {
						add(want, key{s.event, f}, s.period)
					}
					seen[f] = true
				}
			}
			if diff := cmp.Diff(want, counts(t, name, chains)); diff != "" {
				t.Errorf("(-perf +stackmill)\n%s", diff)
			}
		})
	}
}

// The percentages of `perf report` follow from these sums if it has one row for a name.
func TestReport(t *testing.T) {
	for _, file := range testfiles.Glob(t, filepath.Join(folder, "golden", "*", "report_children.txt")) {
		name := filepath.Base(filepath.Dir(file))
		if dwarf(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			rows, totals := map[key][]string{}, map[string]float64{}
			read, err := perftext.Report(open(t, name, "report_children.txt"))
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range read {
				if totals[r.Event] = float64(r.Total); !strings.HasPrefix(r.Symbol, "0") {
					k := key{r.Event, compared(r.Object, r.Symbol)}
					rows[k] = append(rows[k], r.Children)
				}
			}
			if len(rows) == 0 {
				t.Error("the report has no rows")
			}
			got := counts(t, name, chains)
			for k, percents := range rows {
				own := fmt.Sprintf("%.2f", 100*float64(got[k].Period)/totals[k.Event])
				if len(percents) == 1 && k.Function != "?" && own != percents[0] {
					t.Errorf("%v: %s %%, perf has %s %%", k, own, percents[0])
				}
			}
		})
	}
}
