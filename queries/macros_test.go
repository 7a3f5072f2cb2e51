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
