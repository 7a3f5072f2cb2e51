package chunked

// Append appends a value to a contiguous list. When the list is full, its memory doubles: Go would
// grow a long list by a quarter, and so copy it four times as often.
func Append[T any](list []T, v T) []T { return append(withRoom(list), v) }

// Extend appends a zero value and returns a pointer to it, so that the caller fills it in place.
// Copying a value just after it was written would stall the processor.
func Extend[T any](list []T) (longer []T, last *T) {
	list = withRoom(list)
	longer = list[:len(list)+1]
	last = &longer[len(list)]
	*last = *new(T)
	return longer, last
}

// withRoom returns a list with room for one more value.
func withRoom[T any](list []T) []T {
	n := len(list)
	if n < cap(list) {
		return list
	}
	larger := make([]T, n, max(2*n, 4))
	copy(larger, list)
	return larger
}
