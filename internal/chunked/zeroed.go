package chunked

// Zeroed returns a list of n zero values, in the memory of another one if that suffices. Fresh
// memory is not written to.
func Zeroed[T any](before []T, n int) []T {
	if cap(before) < n {
		return make([]T, n)
	}
	list := before[:n]
	clear(list)
	return list
}
