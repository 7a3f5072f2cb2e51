package parquetfile

import (
	"cmp"
	"math/bits"
	"slices"
)

// number is a type of numeric columns.
type number interface{ ~int32 | ~int64 }

// dictionary is the list of distinct values of a column, in order of first occurrence.
type dictionary[T number] struct{ values []T }

// intern sets numbers[i] to the index of values[i] in the dictionary. It returns false if there are
// more than limit distinct values.
func (d *dictionary[T]) intern(numbers []int32, values []T, limit int) bool {
	d.values = d.values[:0]
	known := map[T]int32{}
	for i, v := range values {
		if i > 0 && v == values[i-1] {
			numbers[i] = numbers[i-1]
			continue
		}
		n, ok := known[v]
		if !ok {
			if n = int32(len(d.values)); int(n) == limit {
				return false
			}
			d.values = append(d.values, v)
			known[v] = n
		}
		numbers[i] = n
	}
	return true
}

// sortNumbered sorts the values of a dictionary, so that they compress better, and updates numbers,
// the indices into it. No value can be added afterwards.
func sortNumbered[T cmp.Ordered](values []T, numbers []int32) {
	if slices.IsSorted(values) {
		return
	}
	before := slices.Clone(values)
	slices.Sort(values)
	now := make([]int32, len(before)) // the new number by the old one
	for n, v := range before {
		at, _ := slices.BinarySearch(values, v)
		now[n] = int32(at)
	}
	for i, n := range numbers {
		numbers[i] = now[n]
	}
}

// indexWidth returns the bit width of indices below n: the least width up to 4 bits, else whole
// bytes, because zstd compresses those better if numbers repeat.
func indexWidth(n int) int {
	width := max(1, bits.Len(uint(n-1)))
	if width > 4 {
		width = (width + 7) &^ 7
	}
	return width
}
