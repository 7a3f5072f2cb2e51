package chunked

// Append adds a value to a list that stays in one piece. The memory of a full one
// doubles: that of long lists would otherwise grow by a quarter, and be copied four times
// as often.
func Append[T any](list []T, v T) []T { return append(withRoom(list), v) }

// Extend is Append of a zero value, which is filled in at its place in the list: to copy
// one that was just made has the processor wait until it is in memory.
func Extend[T any](list []T) (longer []T, last *T) {
	list = withRoom(list)
	longer = list[:len(list)+1]
	last = &longer[len(list)]
	*last = *new(T)
	return longer, last
}

// withRoom returns a list that has room for one more value.
func withRoom[T any](list []T) []T {
	n := len(list)
	if n < cap(list) {
		return list
	}
	larger := make([]T, n, max(2*n, 4))
	copy(larger, list)
	return larger
}
