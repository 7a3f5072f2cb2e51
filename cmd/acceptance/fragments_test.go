package acceptance

import (
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"stackmill/cmd/acceptance/golden"
	"stackmill/queries/report"
)

// goldenFragments reads the blocks that gprofng prints for fragments of stacks: lines of relation,
// value and name, by the fragment's functions, separated by commas.
func goldenFragments(text string) map[string][]string {
	blocks := map[string][]string{}
	for _, block := range strings.Split(text, "Callers and callees sorted")[1:] {
		var lines, piece []string
		relation := ""
		for _, line := range strings.Split(block, "\n") {
			fields := strings.Fields(line)
			title, ok := strings.CutPrefix(line, "============== ")
			switch {
			case ok:
				relation = map[string]string{"Callers": "caller", "Stack Fragment": "self", "Callees": "callee"}[title]
			case relation == "" || len(fields) == 0:
			case len(fields) == 1:
				piece = append(piece, fields[0])
			default:
				name := strings.Join(fields[2:], " ")
				if relation == "self" {
					piece = append(piece, name)
				}
				if !isZero(fields[0]) {
					lines = append(lines, strings.Join([]string{relation, fields[0], name}, " "))
				}
			}
		}
		slices.Sort(lines)
		blocks[strings.Join(piece, ",")] = lines
	}
	return blocks
}

// Callers and callees of fragments of stacks equal gprofng's.
func TestFragments(t *testing.T) {
	blocks := goldenFragments(goldenText(t, "recur", "fragments.txt"))
	if len(blocks) < 4 {
		t.Fatalf("%d pieces", len(blocks))
	}
	for piece, want := range blocks {
		r, err := report.Find("callers-callees")
		if err != nil {
			t.Fatal(err)
		}
		request := &report.Request{Report: r, Mode: "user", Alias: "gprofng", Function: piece}
		request.Report = request.OfFragment()
		q, err := report.Ask(t.Context(), shared, request)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := q.Drawing(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, rec := range rows {
			if name, _, _ := strings.Cut(rec.Text("other"), " -- "); rec.Text("experiment") == experiment("recur") && rec.Text("metric") == "totalcpu" && rec.Number("attributed") != 0 {
				got = append(got, strings.Join([]string{rec.Text("relation"), golden.Print("ns", rec.Number("attributed")), name}, " "))
			}
		}
		slices.Sort(got)
		for i := range want { // gprofng names the program's start by its address
			if strings.Contains(want[i], "<static>") {
				want[i] = strings.Join(strings.Fields(want[i])[:2], " ")
			}
		}
		for i := range got {
			if strings.Contains(got[i], "<static>") {
				got[i] = strings.Join(strings.Fields(got[i])[:2], " ")
			}
		}
		if d := diff.Diff(want, got); d != "" {
			t.Errorf("%s: gprofng (-) and the report (+) differ:\n%s", piece, d)
		}
	}
}

// A fragment of one function has the function's callers and callees, in every recording.
func TestFragmentOfOneFunction(t *testing.T) {
	for _, name := range []string{"main", "fact", "is_even", "malloc", "worker_a", "shared_work", "catcher()", "geo::work(int)", "<Truncated-stack>"} {
		if n := number(t, shared.DB, `WITH named AS MATERIALIZED (SELECT experiment_id, function_id FROM functions_wide WHERE list_contains([name, gprofng_name, perf_name], $1)),
			single AS (SELECT experiment_id FROM named GROUP BY ALL HAVING count(*) = 1),
			whole AS (SELECT * FROM callers_callees SEMI JOIN named USING (experiment_id, function_id) SEMI JOIN single USING (experiment_id)),
			piece AS (SELECT * FROM fragment_callers_callees([$1]) SEMI JOIN single USING (experiment_id))
			SELECT (SELECT count(*) FROM whole w FULL JOIN piece p USING (experiment_id, mode, metric, relation, other_id)
				WHERE COALESCE(w.attributed, 0) <> COALESCE(p.attributed, 0))
				+ CASE WHEN (SELECT count(*) FROM piece) = 0 THEN 1 ELSE 0 END`, name); n != 0 && name != "<Truncated-stack>" {
			t.Errorf("%s: %d callers or callees differ", name, n)
		}
	}
}
