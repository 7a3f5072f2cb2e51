package chunked

// Zeroed returns n zero values, in the memory of before if it suffices. It does not write to
// fresh memory.
func Zeroed[T any](before []T, n int) []T {
	if cap(before) < n {
		return make([]T, n)
	}
	list := before[:n]
	clear(list)
	return list
}
