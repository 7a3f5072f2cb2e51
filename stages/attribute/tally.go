package attribute

// grid holds as many values as it is wide for each node, or other thing, by its number.
type grid struct {
	width  int
	values []int64
}

func newGrid(rows, width int) grid { return grid{width, make([]int64, rows*width)} }

// row returns the values of a thing.
func (g grid) row(n int) []int64 { return g.values[n*g.width:][:g.width] }

// tally holds the values of functions, lines, instructions or the like, by their
// numbers. Its columns are metrics, or views of one. No value is negative, so what has
// an inclusive value is what a stack with a sample passes.
type tally[N ~int32] struct {
	Exclusive grid
	passed    grid // the last node below the outermost one of the thing, of those passed; the inclusive values
}

func newTally[N ~int32](things, width int) tally[N] {
	return tally[N]{newGrid(things, width), newGrid(things, width+1)}
}

// len is how many things there are.
func (t *tally[N]) len() int {
	if t.passed.width == 0 {
		return 0
	}
	return len(t.passed.values) / t.passed.width
}

// inclusive returns the inclusive values of a thing.
func (t *tally[N]) inclusive(thing int) []int64 { return t.passed.row(thing)[1:] }

// pass counts the values of all stacks that pass a node of a thing, unless one above it
// is of the same thing and has them in its inclusive values. Nodes come in pre-order;
// last is the last one below.
func (t *tally[N]) pass(thing N, node, last int32, values []int64) {
	if row := t.passed.row(int(thing)); int64(node) > row[0] {
		row[0] = int64(last)
		add(row[1:], values)
	}
}

// end counts the values of stacks that end at a thing.
func (t *tally[N]) end(thing N, values []int64) { add(t.Exclusive.row(int(thing)), values) }

// of returns the values of a thing in a column; not ok if no stack with a value has it.
func (t *tally[N]) of(thing, column int) (exclusive, inclusive int64, ok bool) {
	inclusive = t.inclusive(thing)[column]
	return t.Exclusive.row(thing)[column], inclusive, inclusive > 0
}

// add adds values to others.
func add(to, values []int64) {
	to = to[:len(values)]
	for i, v := range values {
		to[i] += v
	}
}

// empty reports whether no value is there.
func empty(values []int64) bool {
	for _, v := range values {
		if v != 0 {
			return false
		}
	}
	return true
}

// total adds the values of each node to those of the nodes above, which stand before it.
func total[N ~int32](parents []N, g grid) {
	for n := len(parents) - 1; n > 0; n-- {
		add(g.row(int(parents[n])), g.row(n))
	}
}
