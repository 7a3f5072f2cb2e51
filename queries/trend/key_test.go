package trend

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/queries"
	"stackmill/queries/storetest"
	"stackmill/schema/storedir"
)

// labeled opens a store of nights whose experiments have labels, which depend on the number of the
// night.
func labeled(t *testing.T, of []map[string]int, labels func(n int) map[string]string) *queries.DB {
	t.Helper()
	dir := storetest.New(t, storetest.Nights(of))
	c, err := storedir.ReadContents(dir)
	if err != nil {
		t.Fatal(err)
	}
	for n := range of {
		if set := labels(n); set != nil {
			if err := c.Label(storedir.Labels{Experiments: []string{fmt.Sprintf("%016x", n+1)}, Set: set}, "test"); err != nil {
				t.Fatal(err)
			}
		}
	}
	db, err := queries.OpenWith(t.Context(), dir, queries.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// TestOrderAndBy orders experiments by a label: the last one is the oldest, two have the same value,
// and one has none. Series by another label have only the values of their own experiments, and
// changes of their own.
func TestOrderAndBy(t *testing.T) {
	of := nights()
	db := labeled(t, of, func(n int) map[string]string {
		if n == 3 {
			return nil
		}
		machine := "even"
		if n%2 == 1 {
			machine = "odd"
		}
		return map[string]string{"revision": fmt.Sprint(100 - n - n%2), "machine": machine}
	})
	r := Defaults()
	r.Order, r.Function = "label=revision", "slow"
	got, err := Run(t.Context(), db, r)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range got.Points {
		names = append(names, p.Ordered+" "+p.Experiment)
	}
	if len(names) != 39 || names[0] != "60 night-39.er" || names[38] != "100 night-00.er" || names[36] != "98 night-01.er" || names[37] != "98 night-02.er" {
		t.Errorf("%q", names)
	}
	if want := []string{"1 of 40 experiments have no label revision: they are left out"}; !slices.Equal(got.Warnings, want) {
		t.Errorf("%q", got.Warnings)
	}
	if s := got.Series[0]; s.Points != nil || len(s.Changes) != 1 || got.PointOf(&s, s.Changes[0].At).Experiment != "night-19.er" {
		t.Errorf("%+v", s)
	}

	r = Defaults()
	r.By, r.Function = "label=machine", "slow"
	if got, err = Run(t.Context(), db, r); err != nil {
		t.Fatal(err)
	}
	var found []string
	for i := range got.Series {
		s := &got.Series[i]
		text := fmt.Sprintf("%s: %d", *s.By, len(s.Values))
		for _, c := range s.Changes {
			text += " " + got.PointOf(s, c.At).Experiment
		}
		for k, v := range s.Values {
			if p := got.PointOf(s, k); fmt.Sprintf("night-%02d.er", int(nightOf(p))) != p.Experiment || v != float64(of[nightOf(p)]["slow"])*1e6 {
				t.Errorf("%s: %v of %s", *s.By, v, p.Experiment)
			}
		}
		found = append(found, text)
	}
	if diff := cmp.Diff([]string{": 1", "even: 20 night-20.er", "odd: 19 night-21.er"}, found); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func nightOf(p *Point) (n int) {
	_, _ = fmt.Sscanf(p.Experiment, "night-%d.er", &n)
	return n
}

// TestByColumn checks that series by program do not mix programs, so there is no warning about that.
func TestByColumn(t *testing.T) {
	text := storetest.Nights(nights())
	for n := range 40 {
		if n%4 == 0 {
			text = strings.Replace(text, fmt.Sprintf("night-%02d.er gprofng box app ", n), fmt.Sprintf("night-%02d.er gprofng box another ", n), 1)
		}
	}
	whole, err := run(t, text, nil)
	if err != nil || len(whole.Warnings) != 1 {
		t.Fatalf("%v, %q", err, whole.Warnings)
	}
	r, err := run(t, text, func(r *Request) { r.By = "target" })
	if err != nil || len(r.Warnings) > 0 || len(r.Series) != 2 || *r.Series[0].By != "another" || len(r.Series[0].Values) != 10 || len(r.Series[1].Values) != 30 || r.Matched != 1 {
		t.Errorf("%v, %q, %+v", err, r.Warnings, r.Series)
	}
}
