package chunked

// KeyedIndex is an index with a sort key.
type KeyedIndex struct {
	Key uint64
	N   int32
}

// Sort sorts by key, like SortBy.
func Sort(list []KeyedIndex) []KeyedIndex {
	return SortBy(list, func(k *KeyedIndex) uint64 { return k.Key })
}

// SortBy returns a list sorted by key, in a stable order. It sorts by radix: it reads each key only a
// few times, so that a long list takes a tenth of the time of slices.SortFunc. It reuses the list's
// memory.
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
		var next [digits]int32 // the next index, by digit
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
