package attribute

// layout is the layout of a row: n columns, for metrics or for views of one. Where values may
// be negative, as many columns follow that count the ends of stacks with samples, whose values
// can cancel each other.
type layout struct {
	n      int
	signed bool
}

// width returns the number of values in a row.
func (c layout) width() int {
	if c.signed {
		return 2 * c.n
	}
	return c.n
}

// put adds what an end of stacks has to a column.
func (c layout) put(row []int64, column int, s Sum) {
	row[column] += s.Value
	if c.signed && s.Samples > 0 {
		row[c.n+column]++
	}
}

// has reports whether a column has a value, or stacks with samples.
func (c layout) has(row []int64, column int) bool {
	if c.signed {
		column += c.n
	}
	return row[column] != 0
}

// grid holds a row of values for each node, or other thing, by its number.
type grid struct {
	layout
	values []int64
}

func newGrid(rows int, c layout) grid { return grid{c, make([]int64, rows*c.width())} }

// row returns the values of a thing.
func (g grid) row(n int) []int64 { return g.values[n*g.width():][:g.width()] }

// tally holds the values of functions, lines, instructions or the like, by their
// numbers.
type tally[N ~int32] struct {
	layout
	Exclusive grid
	last      []int32 // by thing: the last node below the outermost one of the thing, of those passed
	passed    grid    // the inclusive values
}

func newTally[N ~int32](things int, c layout) tally[N] {
	return tally[N]{c, newGrid(things, c), make([]int32, things), newGrid(things, c)}
}

// len is how many things there are.
func (t *tally[N]) len() int { return len(t.last) }

// inclusive returns the inclusive values of a thing.
func (t *tally[N]) inclusive(thing int) []int64 { return t.passed.row(thing) }

// pass counts the values of all stacks that pass a node of a thing, unless one above it
// is of the same thing and has them in its inclusive values. Nodes come in pre-order;
// last is the last one below.
func (t *tally[N]) pass(thing N, node, last int32, values []int64) {
	if node > t.last[thing] {
		t.last[thing] = last
		add(t.passed.row(int(thing)), values)
	}
}

// end counts the values of stacks that end at a thing.
func (t *tally[N]) end(thing N, values []int64) { add(t.Exclusive.row(int(thing)), values) }

// of returns the values of a thing in a column; not ok if no stack with a value has it.
func (t *tally[N]) of(thing, column int) (exclusive, inclusive int64, ok bool) {
	row := t.inclusive(thing)
	return t.Exclusive.row(thing)[column], row[column], t.has(row, column)
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
