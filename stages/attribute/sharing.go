package attribute

// shared is a row's values, and the modes that have them.
type shared struct {
	modes Mode
	a, b  int64
}

// sharing is what views have of a thing.
type sharing []shared

// join makes one of those with the same values. They stay in the order of their first
// modes.
func (s sharing) join() sharing {
	joined := s[:0]
next:
	for _, v := range s {
		for i := range joined {
			if joined[i].a == v.a && joined[i].b == v.b {
				joined[i].modes |= v.modes
				continue next
			}
		}
		joined = append(joined, v)
	}
	return joined
}
