// Package chunked has lists that grow in chunks, because a contiguous list is copied whenever it
// grows. It also has packed lists of integers, a radix sort, and tables for random access.
//
// Start reading with List; the other files have variants of it.
package chunked

// Chunks have room for chunkLen values. The first one starts with firstChunkLen and grows.
const (
	listBits      = 9
	chunkLen      = 1 << listBits
	firstChunkLen = 1 << 4
)

// List is a list that grows in chunks: from the second chunk on, values stay in place and are never
// copied. The zero value is ready to use. It is not safe for concurrent use.
type List[T any] struct {
	chunks [][]T // all full but the last; the first may be shorter than the others
	n      int
}

// ListOf returns a list of values.
func ListOf[T any](values ...T) (l List[T]) {
	for _, v := range values {
		l.Add(v)
	}
	return l
}

// Len returns the number of values.
func (l *List[T]) Len() int { return l.n }

// At returns a pointer to a value, valid until the next Add.
func (l *List[T]) At(i int) *T { return &l.chunks[i>>listBits][i&(chunkLen-1)] }

// Add adds a value.
func (l *List[T]) Add(v T) {
	if l.n&(chunkLen-1) == 0 {
		l.addChunk()
	}
	last := &l.chunks[len(l.chunks)-1]
	if n := len(*last); n == cap(*last) { // only the first chunk grows; append would copy it more often
		more := make([]T, n, min(max(2*n, firstChunkLen), chunkLen))
		copy(more, *last)
		*last = more
	}
	*last = append(*last, v)
	l.n++
}

// addChunk adds a chunk. The first chunk starts small, because many lists are short.
func (l *List[T]) addChunk() {
	var piece []T
	if l.n > 0 {
		piece = make([]T, 0, chunkLen)
	}
	l.chunks = append(l.chunks, piece)
}
