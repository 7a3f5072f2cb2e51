package attribute

// tally holds exclusive and inclusive values by number of a thing and metric.
type tally struct {
	metrics              int
	Exclusive, Inclusive []int64
	Seen                 []bool  // whether a stack with a value passes
	open                 []int32 // by thing: how often it is between the root and here
}

func newTally(things, metrics int) tally {
	n := things * metrics
	return tally{metrics, make([]int64, n), make([]int64, n), make([]bool, n), make([]int32, things)}
}

// enter counts the thing for all stacks that pass here: own ones end here. What
// is above here already has them in its inclusive value.
func (t *tally) enter(n int32, all []Sum) {
	if t.open[n]++; t.open[n] > 1 {
		return
	}
	at := int(n) * t.metrics
	for m, s := range all {
		t.Inclusive[at+m] += s.Value
		t.Seen[at+m] = t.Seen[at+m] || s.Samples > 0
	}
}

func (t *tally) leave(n int32) { t.open[n]-- }

func (t *tally) exclude(n int32, own []Sum) {
	at := int(n) * t.metrics
	for m, s := range own {
		t.Exclusive[at+m] += s.Value
	}
}
