package parquetfile

import (
	"cmp"
	"math/bits"
	"slices"
)

// number is a type of numeric columns.
type number interface{ ~int32 | ~int64 }

// dictionary interns values, numbered in order of occurrence.
type dictionary[T number] struct{ values []T }

// intern fills in the number of each value; false if there are more distinct values than the
// limit.
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

// sortNumbered sorts the values of a dictionary, which then take fewer bytes, and renumbers them.
// No value can be added afterwards.
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

// indexWidth returns the bit width of numbers below n: the fewest bits if several numbers share a
// byte, otherwise whole bytes, which zstd compresses better if numbers repeat.
func indexWidth(n int) int {
	width := max(1, bits.Len(uint(n-1)))
	if width > 4 {
		width = (width + 7) &^ 7
	}
	return width
}
