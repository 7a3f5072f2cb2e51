package queries

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestValueOrder checks that values of labels are in the order that a person expects.
func TestValueOrder(t *testing.T) {
	for _, want := range []string{
		"1 2 10 10 300", "night-1 night-9 night-10 night-10b", "1.9 1.10 1.10.2 2.0", "-10 -2 0 1 1e3", "0.5 0.25x", "a b c",
		"2026-11-09 20261110 2026-11-10_0200 2026-11-11T00:30+01:00 2026-11-11", "r9 r010 r11", "0007 8 09",
	} {
		values := strings.Fields(want)
		got := slices.Clone(values)
		slices.Reverse(got)
		slices.SortFunc(got, ValueOrder(values))
		if diff := cmp.Diff(values, got); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	}
}
