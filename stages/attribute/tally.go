package attribute

// tally holds the values of one metric in one view by the number of a thing: a
// function, a line, an instruction. No value is negative, so what has an inclusive
// value is what a stack with a sample passes.
type tally[N ~int32] struct {
	Exclusive, Inclusive []int64
	within               []int32 // the last node below the outermost one of the thing, of those passed
}

func newTally[N ~int32](things int) tally[N] {
	return tally[N]{make([]int64, things), make([]int64, things), make([]int32, things)}
}

// pass counts the value of all stacks that pass a node of a thing, unless one above it
// is of the same thing and has them in its inclusive value. Nodes come in pre-order;
// last is the last one below.
func (t *tally[N]) pass(thing N, node, last int32, value int64) {
	if node > t.within[thing] {
		t.within[thing] = last
		t.Inclusive[thing] += value
	}
}

// total adds each node's value to those of the nodes above, which stand before it.
func total[N ~int32](parents []N, values []int64) {
	for n := len(parents) - 1; n > 0; n-- {
		if v := values[n]; v != 0 {
			values[parents[n]] += v
		}
	}
}
