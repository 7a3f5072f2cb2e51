// Package chunked keeps lists that grow long in pieces of memory: a single one would be
// copied whenever it grows. It packs lists of numbers that wait for long, and makes tables for
// looking up.
package chunked

// A piece of a list holds that many values; the first may hold as few as perFirst.
const (
	listBits      = 9
	chunkLen      = 1 << listBits
	firstChunkLen = 1 << 4
)

// List is a list that grows in pieces: what is in it is not copied, and stays where it
// is from the second piece on. The zero value is ready. It is not safe for concurrent use.
type List[T any] struct {
	chunks [][]T // all full but the last; the first may be smaller than the others
	n      int
}

// ListOf returns a list of values.
func ListOf[T any](values ...T) (l List[T]) {
	for _, v := range values {
		l.Add(v)
	}
	return l
}

// Len is how many values there are.
func (l *List[T]) Len() int { return l.n }

// At returns a value's place, which is valid until the next Add.
func (l *List[T]) At(i int) *T { return &l.chunks[i>>listBits][i&(chunkLen-1)] }

// Add adds a value.
func (l *List[T]) Add(v T) {
	if l.n&(chunkLen-1) == 0 {
		l.addChunk()
	}
	last := &l.chunks[len(l.chunks)-1]
	if n := len(*last); n == cap(*last) { // the first: append would copy it more often
		more := make([]T, n, min(max(2*n, firstChunkLen), chunkLen))
		copy(more, *last)
		*last = more
	}
	*last = append(*last, v)
	l.n++
}

// addChunk begins a piece. A short list stays small.
func (l *List[T]) addChunk() {
	var piece []T
	if l.n > 0 {
		piece = make([]T, 0, chunkLen)
	}
	l.chunks = append(l.chunks, piece)
}
