package chunked

// Zeroed returns n zero values. It reuses the memory of before if that is large enough, and does
// not write to newly allocated memory.
func Zeroed[T any](before []T, n int) []T {
	if cap(before) < n {
		return make([]T, n)
	}
	list := before[:n]
	clear(list)
	return list
}
