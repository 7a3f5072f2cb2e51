package build

import (
	"cmp"
	"slices"
	"sort"

	"stackmill/stages/loadobject/types"
)

// The numbers of what the entries say, before it becomes a table: indexes in the lists
// of a reader.
type (
	rawTypeNo     int32
	rawScopeNo    int32 // 0 for what is outside of functions
	rawVariableNo int32
)

// keyed is the number of what the entry of a key describes.
type keyed[N ~int32] struct {
	key    uint64
	number N
}

func sortKeys[N ~int32](list []keyed[N]) {
	slices.SortFunc(list, func(a, b keyed[N]) int { return cmp.Compare(a.key, b.key) })
}

// findKey returns the number of a key, None if a sorted list does not have it.
func findKey[N ~int32](list []keyed[N], key uint64) N {
	if key == 0 {
		return types.None
	}
	i := sort.Search(len(list), func(i int) bool { return list[i].key >= key })
	if i == len(list) || list[i].key != key {
		return types.None
	}
	return list[i].number
}
