package chunked

// KeyedIndex is the number of something, and a key of it.
type KeyedIndex struct {
	Key uint64
	N   int32
}

// Sort returns a list in the order of the keys, as SortBy does.
func Sort(list []KeyedIndex) []KeyedIndex {
	return SortBy(list, func(k *KeyedIndex) uint64 { return k.Key })
}

// SortBy returns a list in the order of keys; what has the same key stays in its order.
// It looks at no key twice in comparing, so that a long list takes a tenth of the time that
// slices.SortFunc takes. The list's memory is used.
func SortBy[T any](list []T, key func(*T) uint64) []T {
	const bits, digits = 11, 1 << 11
	if len(list) == 0 {
		return list
	}
	var differ uint64
	first := key(&list[0])
	for i := range list {
		differ |= key(&list[i]) ^ first
	}
	var room []T
	for shift := 0; differ>>shift != 0; shift += bits {
		if differ>>shift%digits == 0 {
			continue
		}
		var next [digits]int32 // by digit: where the next one goes
		for i := range list {
			next[key(&list[i])>>shift%digits]++
		}
		at := int32(0)
		for d, n := range next {
			next[d] = at
			at += n
		}
		if room == nil {
			room = make([]T, len(list))
		}
		for i := range list {
			to := &next[key(&list[i])>>shift%digits]
			room[*to] = list[i]
			*to++
		}
		list, room = room, list
	}
	return list
}
