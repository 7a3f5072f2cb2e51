package chunked

import (
	"math"
	"slices"
)

// PackedInts is a compact list of integers. It stores each as the difference to the minimum, in as
// many bytes as the largest difference needs.
type PackedInts struct {
	n         int
	min       int64
	distances any // differences to min, as unsigned integers of 1, 2, 4 or 8 bytes; nil if all are 0
}

// Len returns the number of integers.
func (p *PackedInts) Len() int { return p.n }

// Pack packs the integers of several lists into one.
func Pack[T ~int32 | ~int64](lists ...[]T) PackedInts {
	n, least, most := 0, T(0), T(0)
	for _, list := range lists {
		if n == 0 && len(list) > 0 {
			least, most = list[0], list[0]
		}
		for _, v := range list {
			if v < least {
				least = v
			} else if v > most {
				most = v
			}
		}
		n += len(list)
	}
	p := PackedInts{n: n, min: int64(least)}
	switch d := uint64(most) - uint64(least); {
	case d == 0:
	case d <= math.MaxUint8:
		p.distances = distances[uint8](lists, least, n)
	case d <= math.MaxUint16:
		p.distances = distances[uint16](lists, least, n)
	case d <= math.MaxUint32:
		p.distances = distances[uint32](lists, least, n)
	default:
		p.distances = distances[uint64](lists, least, n)
	}
	return p
}

func distances[D uint8 | uint16 | uint32 | uint64, T ~int32 | ~int64](lists [][]T, least T, n int) []D {
	to := make([]D, n)
	at := 0
	for _, list := range lists {
		part := to[at:][:len(list)]
		for i, v := range list {
			part[i] = D(uint64(v) - uint64(least))
		}
		at += len(list)
	}
	return to
}

// Unpack appends the packed integers to a list of their original type.
func Unpack[T ~int32 | ~int64](list []T, p PackedInts) []T {
	n := len(list)
	list = slices.Grow(list, p.n)[:n+p.n]
	switch to := list[n:]; d := p.distances.(type) {
	case []uint8:
		add(to, p.min, d)
	case []uint16:
		add(to, p.min, d)
	case []uint32:
		add(to, p.min, d)
	case []uint64:
		add(to, p.min, d)
	default:
		for i := range to {
			to[i] = T(p.min)
		}
	}
	return list
}

func add[D uint8 | uint16 | uint32 | uint64, T ~int32 | ~int64](to []T, least int64, distances []D) {
	to = to[:len(distances)]
	for i, d := range distances {
		to[i] = T(uint64(least) + uint64(d))
	}
}
