package decode

import (
	"slices"
	"testing"
)

// Stacks that differ in anything have numbers of their own, also if their hashes
// are equal; equal ones share the number and keep what they held.
func TestDistinct(t *testing.T) {
	var d Distinct
	words := []uint64{3, 2, 1}
	differ := []RawStack{
		{Words: words}, {Words: words[:2]}, {Words: words, Kernel: 1}, {Words: words, Exact: []int32{1}},
		{Words: words, ByFrame: []int32{1}}, {Words: words, Reason: ReasonContext}, {Words: words, Callers: CallersChained}, {},
	}
	for round := range 2 {
		for i := range differ {
			if n := d.Number(&differ[i]); n != int32(i) {
				t.Errorf("round %d: stack %d has number %d", round, i, n)
			}
		}
	}
	words[0] = 9 // the caller's memory
	if !slices.Equal(d.Stacks[0].Words, []uint64{3, 2, 1}) {
		t.Errorf("stack 0 has become %v", d.Stacks[0].Words)
	}

	// As if all had one hash.
	one := NewDistinct(nil)
	one.Stacks = d.Stacks
	for i := range one.Stacks {
		one.know(7, int32(i))
	}
	other := RawStack{Words: []uint64{8}}
	h := one.hash(&other)
	one.numbers[h] = one.numbers[7]
	if n := one.Number(&other); n != int32(len(differ)) {
		t.Errorf("a stack with the hash of another has number %d", n)
	}
	if n := one.Number(&other); n != int32(len(differ)) || len(one.more) != len(differ) {
		t.Errorf("its second number is %d, %d share their hash", n, len(one.more))
	}
}
