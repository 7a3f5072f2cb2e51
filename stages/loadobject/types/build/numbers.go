package build

import (
	"cmp"
	"slices"

	"stackmill/stages/loadobject/types"
)

// Indexes of a reader's lists.
type (
	rawTypeNo     int32
	rawScopeNo    int32 // 0 is outside of functions
	rawVariableNo int32
)

// keyedNumber is an index into one of a reader's lists, with the key of the element at that index.
type keyedNumber[N ~int32] struct {
	key    uint64
	number N
}

// sortedKeys returns the indexes 0 to n-1 with their keys, sorted by key.
func sortedKeys[N ~int32](n int, key func(i int) uint64) []keyedNumber[N] {
	list := make([]keyedNumber[N], n)
	for i := range list {
		list[i] = keyedNumber[N]{key(i), N(i)}
	}
	slices.SortFunc(list, func(a, b keyedNumber[N]) int { return cmp.Compare(a.key, b.key) })
	return list
}

// findKey returns the index that goes with a key in a list sorted by key; None if the key is 0 or
// not in the list.
func findKey[N ~int32](list []keyedNumber[N], key uint64) N {
	i, ok := slices.BinarySearchFunc(list, key, func(x keyedNumber[N], key uint64) int { return cmp.Compare(x.key, key) })
	if key == 0 || !ok {
		return types.None
	}
	return list[i].number
}
