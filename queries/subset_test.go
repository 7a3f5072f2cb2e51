package queries

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/queries/storetest"
)

// A session of a part of an open store answers as the store opened for that part does, also
// when it is narrowed, and leaves the whole as it is.
func TestPart(t *testing.T) {
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
		narrowed, err := part.Filter(ctx, f, "function_metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer narrowed.Close()
		want, err := only.Filter(ctx, f, "function_metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer want.Close()
		same(selector+", narrowed", want, narrowed)
	}
	if d := cmp.Diff(before, rows(t, whole.DB, all)); d != "" {
		t.Errorf("the whole has changed:\n%s", d)
	}
	if _, err := whole.Subset(ctx, "wednesday"); !errors.Is(err, ErrNone) {
		t.Errorf("of no experiment: %v", err)
	}
}
