package queries

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/queries/storetest"
)

// A subset of an open store, filtered or not, answers like the store opened with Options.Only, and
// leaves the whole store as it is.
func TestSubset(t *testing.T) {
	ctx := context.Background()
	store := storetest.New(t, storetest.Two)
	whole := open(t, store)
	const all = "FROM function_metrics ORDER BY ALL"
	before := rows(t, whole.DB, all)
	same := func(what string, want, got *DB) {
		for _, query := range []string{all, "FROM experiments ORDER BY ALL", "FROM samples ORDER BY ALL", "FROM labels ORDER BY ALL"} {
			if d := cmp.Diff(rows(t, want.DB, query), rows(t, got.DB, query)); d != "" {
				t.Errorf("%s: %s (-opened +part):\n%s", what, query, d)
			}
		}
	}
	for _, selector := range []string{"monday*/*", "00000000000000aa", "*", "tuesday/test.1.er"} {
		part, err := whole.Subset(ctx, selector)
		if err != nil {
			t.Fatal(err)
		}
		defer part.Close()
		only, err := OpenWith(ctx, store, Options{Only: []string{selector}})
		if err != nil {
			t.Fatal(err)
		}
		defer only.Close()
		if part.Count != only.Count || part.Single != only.Single {
			t.Errorf("%s: %d experiments (%s), want %d (%s)", selector, part.Count, part.Single, only.Count, only.Single)
		}
		if same(selector, only, part); part.Count > 1 {
			continue
		}
		f := Filter{Where: []string{"cpu >= 0"}}
		filtered, err := part.Filter(ctx, f, "function_metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer filtered.Close()
		want, err := only.Filter(ctx, f, "function_metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer want.Close()
		same(selector+", filtered", want, filtered)
	}
	if d := cmp.Diff(before, rows(t, whole.DB, all)); d != "" {
		t.Errorf("the whole has changed:\n%s", d)
	}
	if _, err := whole.Subset(ctx, "wednesday"); !errors.Is(err, ErrNone) {
		t.Errorf("of no experiment: %v", err)
	}
}
