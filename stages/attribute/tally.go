package attribute

import "slices"

// tally holds exclusive and inclusive values by number of a thing and column.
type tally[N ~int32] struct {
	things, width        int
	Exclusive, Inclusive []int64
	Seen                 []bool // whether a stack with a value passes
}

func newTally[N ~int32](things, width int) tally[N] {
	n := things * width
	return tally[N]{things, width, make([]int64, n), make([]int64, n), make([]bool, n)}
}

// walk counts what a walk over a tree passes.
type walk[N ~int32] struct {
	*tally[N]
	open []int32 // by thing: how often it is between the root and here
}

func (t *tally[N]) walk() walk[N] { return walk[N]{t, make([]int32, t.things)} }

// enter counts the thing for all stacks that pass here, from a column on. What is
// above here already has them in its inclusive value.
func (w walk[N]) enter(n N, column int, all []Sum) {
	if w.open[n]++; w.open[n] > 1 {
		return
	}
	at := int(n)*w.width + column
	for i, s := range all {
		w.Inclusive[at+i] += s.Value
		w.Seen[at+i] = w.Seen[at+i] || s.Samples > 0
	}
}

func (w walk[N]) leave(n N) { w.open[n]-- }

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
