package attribute

import "slices"

// tally holds exclusive and inclusive values by number of a thing and column.
type tally[N ~int32] struct {
	width                int
	Exclusive, Inclusive []int64
	Seen                 []bool  // whether a stack with a value passes
	open                 []int32 // by thing: how often it is between the root and here
}

func newTally[N ~int32](things, width int) tally[N] {
	n := things * width
	return tally[N]{width, make([]int64, n), make([]int64, n), make([]bool, n), make([]int32, things)}
}

// enter counts the thing for all stacks that pass here, from a column on. What is
// above here already has them in its inclusive value.
func (t *tally[N]) enter(n N, column int, all []Sum) {
	if t.open[n]++; t.open[n] > 1 {
		return
	}
	at := int(n)*t.width + column
	for i, s := range all {
		t.Inclusive[at+i] += s.Value
		t.Seen[at+i] = t.Seen[at+i] || s.Samples > 0
	}
}

func (t *tally[N]) leave(n N) { t.open[n]-- }

// exclude counts values of stacks that end here, from a column on.
func (t *tally[N]) exclude(n N, column int, own []Sum) {
	at := int(n)*t.width + column
	for i, s := range own {
		t.Exclusive[at+i] += s.Value
	}
}

// seen reports whether a stack with a value passes the thing.
func (t *tally[N]) seen(n int) bool {
	return slices.Contains(t.Seen[n*t.width:][:t.width], true)
}
