// Package arena keeps many small slices, and lists that grow long, in few pieces of
// memory. Slices of stacks are made by the million: each by itself costs the garbage
// collector a look.
package arena

// The pieces hold that many values: they double, since many arenas stay small.
const (
	firstPiece = 1 << 5
	perPiece   = 1 << 14
)

// Arena makes slices that live as long as any slice of the same piece does. The zero
// value is ready. It is not safe for concurrent use.
type Arena[T any] struct {
	free []T
	next int // the size of the next piece
}

// Make returns a slice of n zero values, without room for more.
func (a *Arena[T]) Make(n int) []T {
	if n > perPiece/8 {
		return make([]T, n)
	}
	if n > len(a.free) {
		a.next = min(max(2*a.next, 2*n, firstPiece), perPiece)
		a.free = make([]T, a.next)
	}
	s := a.free[:n:n]
	a.free = a.free[n:]
	return s
}

// Copy returns a copy of s, nil if s is.
func (a *Arena[T]) Copy(s []T) []T {
	if s == nil {
		return nil
	}
	c := a.Make(len(s))
	copy(c, s)
	return c
}
