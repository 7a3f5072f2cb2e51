package attribute

// rowLayout is the layout of a row of values: n columns, for metrics or for the views of one
// metric. If there are negative values, a sum of 0 does not mean "no samples": n more columns then
// count the sums with samples that were added.
type rowLayout struct {
	n      int
	signed bool
}

// width returns the number of values in a row.
func (c rowLayout) width() int {
	if c.signed {
		return 2 * c.n
	}
	return c.n
}

// addSum adds a sum to a column.
func (c rowLayout) addSum(row []int64, column int, s Sum) {
	row[column] += s.Value
	if c.signed && s.Samples > 0 {
		row[c.n+column]++
	}
}

// hasValue reports whether a column is not 0 or, with negative values, has samples.
func (c rowLayout) hasValue(row []int64, column int) bool {
	if c.signed {
		column += c.n
	}
	return row[column] != 0
}

// grid holds a row of values for each numbered thing, such as a node.
type grid struct {
	rowLayout
	values []int64
}

func newGrid(rows int, c rowLayout) grid { return grid{c, make([]int64, rows*c.width())} }

func (g grid) row(n int) []int64 { return g.values[n*g.width():][:g.width()] }

// tally holds the exclusive and inclusive values of functions, lines, instructions or other
// numbered things.
type tally[N ~int32] struct {
	rowLayout
	Exclusive grid
	last      []int32 // by thing: the last node of the subtree of the thing's outermost node on the current path
	passed    grid    // the inclusive values
}

func newTally[N ~int32](things int, c rowLayout) tally[N] {
	return tally[N]{c, newGrid(things, c), make([]int32, things), newGrid(things, c)}
}

func (t *tally[N]) inclusive(thing int) []int64 { return t.passed.row(thing) }

// addPassing adds the values of all stacks through a node to the inclusive values of the node's
// thing (such as its function), unless a node of the same thing closer to the root has added them
// (S32). Call it in pre-order of nodes; last is the last node of the node's subtree.
func (t *tally[N]) addPassing(thing N, node, last int32, values []int64) {
	if node > t.last[thing] {
		t.last[thing] = last
		addRow(t.passed.row(int(thing)), values)
	}
}

// addEnding adds the values of stacks whose leaf is a thing to its exclusive values.
func (t *tally[N]) addEnding(thing N, values []int64) { addRow(t.Exclusive.row(int(thing)), values) }

// values returns the values of a thing in a column; ok is false if no stack with samples has it.
func (t *tally[N]) values(thing, column int) (exclusive, inclusive int64, ok bool) {
	row := t.inclusive(thing)
	return t.Exclusive.row(thing)[column], row[column], t.hasValue(row, column)
}

func addRow(to, values []int64) {
	to = to[:len(values)]
	for i, v := range values {
		to[i] += v
	}
}

func isZero(values []int64) bool {
	for _, v := range values {
		if v != 0 {
			return false
		}
	}
	return true
}

// sumUpward turns exclusive values into inclusive ones: it adds the values of each node to its
// parent's. Parents precede their children.
func sumUpward[N ~int32](parents []N, g grid) {
	for n := len(parents) - 1; n > 0; n-- {
		addRow(g.row(int(parents[n])), g.row(n))
	}
}
