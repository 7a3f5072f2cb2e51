package queries

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/queries/storetest"
)

// Different paths have different identifiers, however functions repeat on them.
func TestPathsApart(t *testing.T) {
	db := open(t, storetest.New(t, storetest.Two))
	for _, test := range []struct{ name, query, want string }{
		{"all paths of two functions", `WITH paths AS (SELECT n, unnest(range(12)) AS place FROM range(4096) r(n))
			SELECT count(DISTINCT id) FROM (SELECT n, sum(path_part(11 + (n >> place & 1), place)) & 9223372036854775807 AS id FROM paths GROUP BY n)`, "4096"},
		// The parts of these sequences have equal sums of powers.
		{"Thue-Morse sequences and their complements", `WITH paths AS (SELECT n // 2 + 1 AS length, n % 2 AS first, unnest(range(1 << (n // 2 + 1))) AS place FROM range(24) r(n))
			SELECT count(DISTINCT id) FROM (SELECT sum(path_part((bit_count(place) + first) % 2, place)) & 9223372036854775807 AS id FROM paths GROUP BY length, first)`, "24"},
		{"deep recursion", "SELECT count(DISTINCT id) FROM (SELECT sum(path_part(11, n)) OVER (ORDER BY n) & 9223372036854775807 AS id FROM range(4096) r(n))", "4096"},
	} {
		if diff := cmp.Diff([]string{test.want}, rows(t, db.DB, test.query)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", test.name, diff)
		}
	}
}

// The same path has the same identifier in every experiment.
func TestPathsOfExperiments(t *testing.T) {
	db := open(t, storetest.New(t, storetest.Two))
	for query, want := range map[string][]string{
		"SELECT count(DISTINCT experiment_id), count(DISTINCT node_id), count(DISTINCT parent_id) FROM call_tree WHERE function = 'main'":  {"2 1 1"},
		"SELECT count(DISTINCT node_id) FROM call_tree WHERE depth = 0":                                                                    {"1"},
		"SELECT count(DISTINCT parent_id) FROM call_tree WHERE depth = 2 AND parent_id IN (SELECT node_id FROM call_tree WHERE depth = 1)": {"1"},
		"SELECT count(*), count(DISTINCT machine_stack_id) FROM node_stacks WHERE node = 1":                                                {"2 1"},
		"SELECT path_part(4611686018427387905, 3), path_part(9223372036854775807, 2147483647)":                                             {"7184801638890555863 8744176586926829896"},
	} {
		if diff := cmp.Diff(want, rows(t, db.DB, query)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", query, diff)
		}
	}
}

// The macros' answers for the store of two experiments are those worked out by hand.
func TestMacrosForPeople(t *testing.T) {
	db := open(t, storetest.New(t, storetest.Two))
	for query, want := range map[string][]string{
		"SELECT experiment, metric, rank, function, exclusive // 1e6, exclusive_percent, inclusive_percent FROM top(2) WHERE unit = 'ns'": {
			"monday/test.1.er totalcpu 1 g 40 50 50", "monday/test.1.er totalcpu 2 f 20 25 62.5"},
		"SELECT function, exclusive // 1e6 FROM top(of_metric := 'totalcpu', in_mode := 'machine') WHERE exclusive > 0": {"g 40", "f._omp_fn.0 20", "<Unknown> 10"},
		"SELECT DISTINCT metric FROM top() WHERE experiment = 'tuesday/test.1.er'":                                      {"heapallocbytes"},
		"SELECT function, caller, attributed // 1e6, percent FROM callers_of('g', 'totalcpu')":                          {"g f 30 75", "g main 10 25"},
		"SELECT count(DISTINCT function) FROM callers_of('[fg]', 'totalcpu')":                                           {"2"},
		"SELECT position // 1e6, level, label, value // 1e6, self // 1e6 FROM flame('totalcpu')": {
			"0 0 <Total> 80 10", "10 1 main 70 0", "10 2 f 50 20", "30 3 g 30 30", "60 2 g 10 10", "70 2 <Unknown> 10 10"},
		"SELECT count(*) FROM flame() p JOIN flame() c USING (experiment_id) WHERE p.level = 0 AND c.position + c.value > p.value": {"0"},
		"SELECT count(*) FROM passes(1) WHERE node = 1":      {"2"},
		"SELECT experiment FROM chosen('test.1') ORDER BY 1": {"monday/test.1.er", "tuesday/test.1.er"},
		"SELECT experiment FROM chosen('00000000000000aa')":  {"monday/test.1.er"},
		"SELECT experiment FROM chosen('t*')":                {"tuesday/test.1.er"},
	} {
		if diff := cmp.Diff(want, rows(t, db.DB, query)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", query, diff)
		}
	}
}
