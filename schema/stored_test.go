package schema

import "testing"

// What is stored of an exclusive value stands for it.
func TestExclusive(t *testing.T) {
	for _, v := range [][3]int64{{0, 0, 0}, {0, 7, 0}, {3, 7, 3}, {7, 7, asWhole}} {
		if got := StoredExclusive(v[0], v[1]); got != v[2] || ExclusiveOf(got, v[1]) != v[0] {
			t.Errorf("%d of %d is stored as %d, which stands for %d; want %d", v[0], v[1], got, ExclusiveOf(got, v[1]), v[2])
		}
	}
	if got := TreeValues.WholeOf("exclusive"); got != "attributed" {
		t.Errorf("exclusive values of call nodes are those of %q", got)
	}
}
