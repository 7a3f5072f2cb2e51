package decode

import "slices"

// RawStacks is a list of stacks on their way, whose memory is used again. They have
// neither Java nor OpenMP frames.
type RawStacks struct {
	list    []RawStack
	words   []uint64 // of all that were added since it was larger than before
	numbers []int32  // likewise
}

// Len is how many there are.
func (l *RawStacks) Len() int { return len(l.list) }

// At returns a stack, which is valid until Reset.
func (l *RawStacks) At(i int) *RawStack { return &l.list[i] }

// Reset empties the list, which gets room for n stacks.
func (l *RawStacks) Reset(n int) {
	l.list, l.words, l.numbers = slices.Grow(l.list[:0], n), l.words[:0], l.numbers[:0]
}

// Add adds a copy of a stack.
func (l *RawStacks) Add(raw *RawStack) {
	l.list = append(l.list, *raw)
	own := &l.list[len(l.list)-1]
	own.Words = added(&l.words, raw.Words)
	own.Exact = added(&l.numbers, raw.Exact)
	own.ByFrame = added(&l.numbers, raw.ByFrame)
}

// added adds values to those of all stacks, and returns them there. What was added
// before stays where it is, also if there was no room for more.
func added[T any](all *[]T, values []T) []T {
	if len(values) == 0 {
		return nil
	}
	from := len(*all)
	*all = append(*all, values...)
	return (*all)[from:len(*all):len(*all)]
}
