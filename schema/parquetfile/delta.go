package parquetfile

import (
	"encoding/binary"
	"math/bits"
)

// deltaShape is the shape of DELTA_BINARY_PACKED: a block has a smallest difference, a
// part of it a width.
type deltaShape struct{ block, parts int }

// tightShape is the one in which differences take the fewest bits; evenShape is for the
// same smallest difference and width, in whole bytes, all along: equal differences are
// equal bytes there, so that zstd finds those that come again.
var (
	tightShape = deltaShape{128, 4}
	evenShape  = deltaShape{largestBlock, 8}
)

const largestBlock = 2048

// appendTight appends values as the differences between them, in tightShape.
// Differences wrap at the width of the type.
func appendTight[T number](out []byte, values []T) []byte {
	return appendDeltas(out, values, tightShape, func(differences []T) T {
		least := differences[0]
		for _, d := range differences {
			least = min(least, d)
		}
		return least
	}, bits.Len64)
}

// appendEven is appendTight in evenShape.
func appendEven[T number](out []byte, values []T) []byte {
	var least, most T
	for i := 1; i < len(values); i++ {
		d := values[i] - values[i-1]
		if i == 1 {
			least, most = d, d
		}
		least, most = min(least, d), max(most, d)
	}
	width := (bits.Len64(unsigned(most-least)) + 7) &^ 7
	return appendDeltas(out, values, evenShape, func([]T) T { return least }, func(uint64) int { return width })
}

// appendDeltas appends values in a shape: least returns the smallest difference of a
// block, width the width of a part in which the differences from that have these bits.
func appendDeltas[T number](out []byte, values []T, shape deltaShape, least func([]T) T, width func(uint64) int) []byte {
	out = binary.AppendUvarint(out, uint64(shape.block))
	out = binary.AppendUvarint(out, uint64(shape.parts))
	out = binary.AppendUvarint(out, uint64(len(values)))
	if len(values) == 0 {
		return append(out, 0)
	}
	out = binary.AppendVarint(out, int64(values[0]))
	var block [largestBlock]T
	for last, values := values[0], values[1:]; len(values) > 0; {
		n := min(shape.block, len(values))
		for i, v := range values[:n] {
			block[i], last = v-last, v
		}
		out, values = appendBlock(out, block[:n], shape, least(block[:n]), width), values[n:]
	}
	return out
}

// appendBlock appends the differences of one block.
func appendBlock[T number](out []byte, differences []T, shape deltaShape, least T, widthOf func(uint64) int) []byte {
	out = binary.AppendVarint(out, int64(least))
	widths := len(out)
	out = append(out, make([]byte, shape.parts)...)
	for part, size := 0, shape.block/shape.parts; len(differences) > 0; part++ {
		n := min(size, len(differences))
		var all uint64
		for _, d := range differences[:n] {
			all |= unsigned(d - least)
		}
		width := widthOf(all)
		out[widths+part] = byte(width)
		out = appendPacked(out, differences[:n], least, width, size)
		differences = differences[n:]
	}
	return out
}

// unsigned returns the bits of a number of its own width.
func unsigned[T number](v T) uint64 {
	if n, ok := any(v).(int32); ok {
		return uint64(uint32(n))
	}
	return uint64(v)
}
