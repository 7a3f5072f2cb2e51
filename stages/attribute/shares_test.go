package attribute

import (
	"slices"
	"testing"

	"stackmill/stages/program"
)

// Functions are sorted by their largest share of any metric, exclusive before inclusive: the
// leaf with the largest value comes before its callers.
func TestRanked(t *testing.T) {
	p, c := valuesOf("ab", "ac", "c") // a: inclusive 3; b: exclusive 1; c: exclusive 6
	shares := make(functionShares, len(p.Functions))
	shares.add(c.values)
	got := shares.ranked()
	want := []program.FunctionNo{2, 1, 0}
	if !slices.Equal(got[:3], want) {
		t.Errorf("ranked %v, want %v first", got, want)
	}
}
