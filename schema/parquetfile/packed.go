package parquetfile

import "encoding/binary"

// shortestRun is the least number of equal values that are stored as a run. zstd compresses shorter
// ones.
const shortestRun = 64

// groupOfValues is the size of a group of packed values.
const groupOfValues = 8

// appendHybrid appends nonnegative numbers, in width bits each, in Parquet's hybrid encoding of
// runs and bit-packed values.
func appendHybrid(out []byte, values []int32, width int) []byte {
	packed := 0 // the first value that is not stored yet
	for i := 0; ; {
		from, end := longRun(values, i)
		if from == end {
			return appendGroups(out, values[packed:], width)
		}
		if start := from + (packed-from)&(groupOfValues-1); end-start >= shortestRun {
			out = appendGroups(out, values[packed:start], width)
			out = appendRun(out, values[start], end-start, width)
			packed = end
		}
		i = end
	}
}

// longRun returns the first run of at least shortestRun equal values at or after i; if there is
// none, from equals end. It tests windows of half that length, because each such run fills one of
// them.
func longRun(values []int32, i int) (from, end int) {
	const window = shortestRun / 2
	for at := i; at+window <= len(values); at += window {
		v, inside := values[at], values[at+1:at+window]
		if inside[len(inside)-1] != v || !uniform(inside, v) {
			continue
		}
		from, end = at, at+window
		for from > i && values[from-1] == v {
			from--
		}
		for end < len(values) && values[end] == v {
			end++
		}
		if end-from >= shortestRun {
			return from, end
		}
	}
	return len(values), len(values)
}

// uniform reports whether all values are v.
func uniform(values []int32, v int32) bool {
	for _, w := range values {
		if w != v {
			return false
		}
	}
	return true
}

// appendRun appends a run of n equal values.
func appendRun(out []byte, value int32, n, width int) []byte {
	out = binary.AppendUvarint(out, uint64(n)<<1)
	for ; width > 0; width, value = width-8, value>>8 {
		out = append(out, byte(value))
	}
	return out
}

// appendGroups appends packed values, padded to whole groups.
func appendGroups(out []byte, values []int32, width int) []byte {
	if len(values) == 0 {
		return out
	}
	groups := (len(values) + groupOfValues - 1) / groupOfValues
	out = binary.AppendUvarint(out, uint64(groups)<<1|1)
	return appendPacked(out, values, 0, width, groups*groupOfValues)
}

// appendPacked appends the values' differences from least, in width bits each. It appends zeros up
// to n differences.
func appendPacked[T number](out []byte, values []T, least T, width, n int) []byte {
	end := len(out) + (n*width+7)/8
	switch width {
	case 0:
		return out
	case 8:
		for _, v := range values {
			out = append(out, byte(v-least))
		}
	case 16:
		for _, v := range values {
			out = binary.LittleEndian.AppendUint16(out, uint16(v-least))
		}
	default:
		out = appendBits(out, values, least, width)
	}
	return append(out, make([]byte, end-len(out))...)
}

// appendBits is appendPacked without padding, for any width.
func appendBits[T number](out []byte, values []T, least T, width int) []byte {
	var word uint64 // bits that are not stored yet
	used := 0
	for _, value := range values {
		v := unsigned(value - least)
		word |= v << used
		if used += width; used >= 64 {
			out = binary.LittleEndian.AppendUint64(out, word)
			used -= 64
			word = v >> (width - used)
		}
	}
	for ; used > 0; used, word = used-8, word>>8 {
		out = append(out, byte(word))
	}
	return out
}
