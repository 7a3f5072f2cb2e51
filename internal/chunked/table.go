package chunked

// MakeTable returns n zero values for random access. It writes all of the memory first: a page that
// is read before it is written costs two page faults, and a TLB shootdown on other processors.
func MakeTable[T any](n int) []T {
	places := make([]T, n)
	clear(places)
	return places
}
