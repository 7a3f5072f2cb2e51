package report

import (
	"fmt"
	"strings"
	"testing"

	"stackmill/queries"
	"stackmill/queries/storetest"
)

func TestFunctionsOf(t *testing.T) {
	known := []string{"f", "fact", "geo::work(double)", "geo::work(int)", "operator[]"}
	for pattern, want := range map[string]string{
		"f": "[f]", "ac": "[fact]", "geo::work(": "[geo::work(double) geo::work(int)]", "^geo.*int": "[geo::work(int)]", "operator[": "[operator[]]", "[": "[operator[]]", "none": "[]",
	} {
		if got := fmt.Sprint(NamesOf(known, pattern)); got != want {
			t.Errorf("%q: got %s, want %s", pattern, got, want)
		}
	}
}

// If a filter leaves nothing of the default metric, another one is shown, and this is reported.
func TestEmptiedMetrics(t *testing.T) {
	// The second experiment has a metric without values.
	db, err := queries.Open(t.Context(), storetest.New(t, strings.Replace(storetest.Two, "  heapallocbytes Bytes~Allocated bytes heap\n", "  totalcpu CPU ns clock\n  heapallocbytes Bytes~Allocated bytes heap\n", 1)))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for where, want := range map[string]string{
		"":              "[totalcpu] [totalcpu] []",
		"time_ns >= 0":  "[heapallocbytes] [totalcpu] [totalcpu]",
		"kind = 'heap'": "[heapallocbytes] [totalcpu] [totalcpu]",
		"time_ns < 0":   "[totalcpu] [totalcpu] []",
	} {
		session := db
		if where != "" {
			if session, err = db.Filter(t.Context(), queries.Filter{Where: []string{where}}); err != nil {
				t.Fatal(err)
			}
			defer session.Close()
		}
		q := &Question{Request: &Request{}, db: session, metrics: map[string][]string{}}
		if err := q.chooseMetrics(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(q.metrics["00000000000000bb"], q.metrics["00000000000000aa"], q.Emptied); got != want {
			t.Errorf("%q: got %s, want %s", where, got, want)
		}
	}
}
