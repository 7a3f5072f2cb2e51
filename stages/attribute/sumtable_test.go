package attribute

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// A table has the same sums with few metrics (dense) and with many (sparse).
func TestSumTable(t *testing.T) {
	const things, few = 50, 3
	rnd := rand.New(rand.NewPCG(1, 2))
	dense, sparse := NewSumTable(few), NewSumTable(1000)
	for range 300 {
		thing, m, v := rnd.Int32N(things), rnd.IntN(few), rnd.Int64N(100)
		dense.At(thing, m).Add(v)
		sparse.At(thing, m+500).Add(v)
	}
	if len(sparse.dense) > 0 || len(dense.cells) > 0 {
		t.Error("the wrong form")
	}
	for n := range int32(things + 10) {
		var want, got []string
		for m, s := range dense.Each(n) {
			want = append(want, fmt.Sprint(m, s))
		}
		for m, s := range sparse.Each(n) {
			got = append(got, fmt.Sprint(m-500, s))
		}
		if !slices.Equal(got, want) {
			t.Errorf("thing %d has %v, want %v", n, got, want)
		}
		wide, narrow := sparse.row(n), dense.row(n)
		for m := range few {
			if len(want) > 0 && wide[500+m] != narrow[m] {
				t.Errorf("thing %d has %v of metric %d, want %v", n, wide[500+m], m, narrow[m])
			}
		}
		for m := range few {
			if a, b := dense.get(n, m).Value, sparse.get(n, m+500).Value; a != b || narrow != nil && a != narrow[m].Value {
				t.Errorf("thing %d has %d and %d of metric %d", n, a, b, m)
			}
		}
		if len(want) == 0 && wide != nil {
			t.Errorf("thing %d has sums", n)
		}
	}
}
