package decode

import "slices"

// RawStacks is a queue of stacks that reuses its memory. The stacks have neither Java nor OpenMP
// frames.
type RawStacks struct {
	list    []RawStack
	words   []uint64 // the words of all stacks since the slice last grew
	numbers []int32  // the numbers in Exact and ByFrame, in the same way
}

// Len returns the number of stacks.
func (l *RawStacks) Len() int { return len(l.list) }

// At returns a stack, which is valid until Reset.
func (l *RawStacks) At(i int) *RawStack { return &l.list[i] }

// Reset empties the list and makes room for n stacks.
func (l *RawStacks) Reset(n int) {
	l.list, l.words, l.numbers = slices.Grow(l.list[:0], n), l.words[:0], l.numbers[:0]
}

// Add adds a copy of a stack.
func (l *RawStacks) Add(raw *RawStack) {
	l.list = append(l.list, *raw)
	own := &l.list[len(l.list)-1]
	own.Words = appended(&l.words, raw.Words)
	own.Exact = appended(&l.numbers, raw.Exact)
	own.ByFrame = appended(&l.numbers, raw.ByFrame)
}

// appended appends values to all, and returns the copy. Earlier copies stay in place, even if all
// had to grow.
func appended[T any](all *[]T, values []T) []T {
	if len(values) == 0 {
		return nil
	}
	from := len(*all)
	*all = append(*all, values...)
	return (*all)[from:len(*all):len(*all)]
}
