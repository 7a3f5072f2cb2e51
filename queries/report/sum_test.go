package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"stackmill/queries"
	"stackmill/queries/storetest"
)

// TestSpread checks that the spread is computed over all experiments, and that experiments without a
// row count as 0.
func TestSpread(t *testing.T) {
	db, err := queries.Open(t.Context(), storetest.New(t, storetest.Two))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	random := rand.New(rand.NewPCG(1, 2))
	var rows, want []string
	for key := range 200 {
		n := 1 + random.IntN(9)
		all := make([]float64, n)
		present := 1 + random.IntN(n)
		for i := range present {
			all[i] = float64(random.IntN(20))
			rows = append(rows, fmt.Sprintf("(%d, %d, %v)", key, n, all[i]))
		}
		slices.Sort(all)
		sum := 0.0
		for _, v := range all {
			sum += v
		}
		imbalance := "NULL"
		if sum > 0 {
			imbalance = fmt.Sprintf("%.6f", math.Round(1e6*(all[n-1]*float64(n)/sum-1))/1e6)
		}
		want = append(want, fmt.Sprintf("%d: %v %v %v %s", key, all[0], (all[(n-1)/2]+all[n/2])/2, all[n-1], imbalance))
	}
	found, err := db.Records(t.Context(), "SELECT e.key, "+strings.Join(SpreadColumns("v", "v"), ", ")+
		" FROM (VALUES "+strings.Join(rows, ", ")+") e(key, n, v) JOIN (SELECT DISTINCT key AS k, n FROM (VALUES "+strings.Join(rows, ", ")+") x(key, n, v)) n ON n.k = e.key GROUP BY e.key ORDER BY e.key")
	if err != nil {
		t.Fatal(err)
	}
	for i, rec := range found {
		imbalance := "NULL"
		if f, ok := rec["v_imbalance"].(float64); ok {
			imbalance = fmt.Sprintf("%.6f", f)
		}
		if got := fmt.Sprintf("%d: %d %v %d %s", rec.Number("key"), rec.Number("v_min"), rec["v_median"], rec.Number("v_max"), imbalance); got != want[i] {
			t.Errorf("got %s, want %s", got, want[i])
		}
	}
	if len(found) != len(want) {
		t.Errorf("%d rows, want %d", len(found), len(want))
	}
}

// TestAdditions checks that every report either adds up experiments or is known to list things of one
// experiment, and that the keys of a report are columns of its view.
func TestAdditions(t *testing.T) {
	apart := []string{"stack-nodes", "conservation", "heap-blocks", "heap-calls", "io-calls", "event-formats", "event-fields", "header", "sample-points"}
	known := []string{"code_function_id"}
	for _, r := range Reports {
		if r.CanAdd() == slices.Contains(apart, r.Name) {
			t.Errorf("%s: can it be added up?", r.Name)
		}
		for _, key := range additions[r.Name].keys {
			if !r.has(key) && !slices.Contains(known, key) && !(r.Name == "load-objects" || r.Name == "modules") {
				t.Errorf("%s: the view has no column %s", r.Name, key)
			}
		}
	}
	for name := range additions {
		if _, err := Find(name); err != nil {
			t.Error(err)
		}
	}
}
