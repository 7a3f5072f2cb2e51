package parquetfile

import (
	"encoding/binary"
	"math/bits"
)

// deltaShape is a choice of the parameters of DELTA_BINARY_PACKED: values per block, which has a
// minimum difference, and parts (miniblocks) per block, each with a bit width.
type deltaShape struct{ block, parts int }

// tightShape needs the fewest bits. With evenShape, all blocks have the same minimum and the same
// width in whole bytes, so that equal differences are equal bytes, which zstd finds.
var (
	tightShape = deltaShape{128, 4}
	evenShape  = deltaShape{largestBlock, 8}
)

const largestBlock = 2048

// appendTight appends values as differences in tightShape. Differences may overflow: they wrap.
func appendTight[T number](out []byte, values []T) []byte {
	return appendDeltas(out, values, tightShape, func(differences []T) T {
		least := differences[0]
		for _, d := range differences {
			least = min(least, d)
		}
		return least
	}, bits.Len64)
}

// appendEven appends values as differences in evenShape.
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

// appendDeltas appends values in a shape. least returns the minimum for the differences of a block.
// width returns the bit width of a part, given the bits of its largest difference from that
// minimum.
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

// unsigned returns v as an unsigned number of the same width.
func unsigned[T number](v T) uint64 {
	if n, ok := any(v).(int32); ok {
		return uint64(uint32(n))
	}
	return uint64(v)
}
