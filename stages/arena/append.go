package arena

// Append adds a value to a list that stays in one piece. The memory of a full one
// doubles: that of long lists would otherwise grow by a quarter, and be copied four times
// as often.
func Append[T any](list []T, v T) []T {
	if n := len(list); n == cap(list) {
		larger := make([]T, n, max(2*n, 4))
		copy(larger, list)
		list = larger
	}
	return append(list, v)
}
