package attribute

import (
	"slices"
	"testing"

	"stackmill/stages/program"
)

// Functions come by their largest share of any metric, exclusive before inclusive:
// of a caller and callees the leaf with the most comes first.
func TestRanked(t *testing.T) {
	p, c := valuesOf("ab", "ac", "c") // a: inclusive 3; b: exclusive 1; c: exclusive 6
	shares := make(shares, len(p.Functions))
	shares.add(c.values)
	got := shares.ranked()
	want := []program.FunctionNo{2, 1, 0}
	if !slices.Equal(got[:3], want) {
		t.Errorf("ranked %v, want %v first", got, want)
	}
}
