package parquetfile

import (
	"cmp"
	"math/bits"
	"slices"

	"stackmill/internal/chunked"
)

// number is a type of numeric columns.
type number interface{ ~int32 | ~int64 }

// dictionary interns values, numbered in order of occurrence.
type dictionary[T number] struct {
	values []T
	slots  []int32 // hash table of numbers from 1; 0 is a free slot
	shift  int     // from a hash to a slot
}

// firstSlots is the first size of the hash table; a power of 2.
const firstSlots = 1 << 10

// intern fills in the number of each value; false if there are more distinct values than the
// limit.
func (d *dictionary[T]) intern(numbers []int32, values []T, limit int) bool {
	d.values, d.slots = d.values[:0], zeroed(d.slots, firstSlots)
	d.shift = 64 - bits.TrailingZeros(firstSlots)
	for i, v := range values {
		if i > 0 && v == values[i-1] {
			numbers[i] = numbers[i-1]
			continue
		}
		at := d.slot(v)
		n := d.slots[at] - 1
		if n < 0 {
			if n = int32(len(d.values)); int(n) == limit {
				return false
			}
			d.values = append(d.values, v)
			d.slots[at] = n + 1
			if 2*len(d.values) > len(d.slots) {
				d.grow()
			}
		}
		numbers[i] = n
	}
	return true
}

// sortNumbered sorts the values of a dictionary, which then take fewer bytes, and renumbers. No value
// can be added afterwards.
func sortNumbered[T cmp.Ordered](values []T, numbers []int32) {
	if slices.IsSorted(values) {
		return
	}
	before := slices.Clone(values)
	slices.Sort(values)
	now := make([]int32, len(before)) // by the number before
	for n, v := range before {
		at, _ := slices.BinarySearch(values, v)
		now[n] = int32(at)
	}
	for i, n := range numbers {
		numbers[i] = now[n]
	}
}

// slot returns the slot of a value, or a free one for it.
func (d *dictionary[T]) slot(v T) int {
	mask := len(d.slots) - 1
	for at := int(uint64(v) * 0x9e3779b97f4a7c15 >> d.shift); ; at = (at + 1) & mask {
		if n := d.slots[at]; n == 0 || d.values[n-1] == v {
			return at
		}
	}
}

func (d *dictionary[T]) grow() {
	d.slots = zeroed(d.slots, 4*len(d.slots))
	d.shift -= 2
	for i, v := range d.values {
		d.slots[d.slot(v)] = int32(i) + 1
	}
}

// zeroed returns n zeros, in the memory of s if it suffices.
func zeroed(s []int32, n int) []int32 {
	if cap(s) < n {
		return chunked.MakeTable[int32](n)
	}
	s = s[:n]
	clear(s)
	return s
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
