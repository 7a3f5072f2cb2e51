package queries

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stackmill/queries/storetest"
)

// Each session has the metrics of its own experiments, and of its own samples.
func TestMetrics(t *testing.T) {
	db := open(t, storetest.New(t, strings.Replace(storetest.Two, "  heapallocbytes Bytes~Allocated bytes heap\n", "  totalcpu CPU ns clock\n  heapallocbytes Bytes~Allocated bytes heap\n", 1)))
	format := func(db *DB) string {
		t.Helper()
		all, err := db.Metrics(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if again, err := db.Metrics(t.Context()); err != nil || fmt.Sprint(again) != fmt.Sprint(all) {
			t.Errorf("asked again: %v, %v", again, err)
		}
		return fmt.Sprintf("%s %s %d of %d", all[0].Name, all[0].Unit, all[0].DefaultOf, len(all[0].Experiments))
	}
	if got := format(db); got != "totalcpu ns 2 of 2" {
		t.Errorf("all: %s", got)
	}
	ids, err := db.Texts(t.Context(), "SELECT experiment_id FROM metrics WHERE metric = 'totalcpu' ORDER BY experiment_id")
	if err != nil {
		t.Fatal(err)
	}
	if all, _ := db.Metrics(t.Context()); !slices.Equal(all[0].Experiments, ids) {
		t.Errorf("%q have totalcpu, not %q", all[0].Experiments, ids)
	}
	part, err := db.Subset(t.Context(), "monday/test.1.er")
	if err != nil {
		t.Fatal(err)
	}
	defer part.Close()
	if got := format(part); got != "totalcpu ns 1 of 1" {
		t.Errorf("a part: %s", got)
	}
	if got := format(filtered(t, db, Filter{Where: []string{"kind = 'heap'"}})); got != "totalcpu ns 1 of 2" {
		t.Errorf("some samples: %s", got)
	}
}
