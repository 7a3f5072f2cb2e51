package chunked

// MakeTable returns a table of n zero values, to be looked up in any order. All of its memory is
// written: a page that is read first and written later is made twice, and what other processors
// know of it has to be forgotten in between.
func MakeTable[T any](n int) []T {
	places := make([]T, n)
	clear(places)
	return places
}
