package schema

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Int64s wraps values as an Arrow array without copying; they must not change afterwards.
func Int64s(values []int64) arrow.Array {
	return fixed(arrow.PrimitiveTypes.Int64, arrow.Int64Traits.CastToBytes(values), len(values), nil, 0)
}

// Int32s is Int64s for 32-bit values.
func Int32s(values []int32) arrow.Array {
	return fixed(arrow.PrimitiveTypes.Int32, arrow.Int32Traits.CastToBytes(values), len(values), nil, 0)
}

// fixed wraps n values of a fixed width as an Arrow array. If `missing` of them are NULL, valid has
// a validity bit for each value.
func fixed(t arrow.DataType, data []byte, n int, valid []byte, missing int) arrow.Array {
	var bits *memory.Buffer
	if valid != nil {
		bits = memory.NewBufferBytes(valid)
	}
	d := array.NewData(t, n, []*memory.Buffer{bits, memory.NewBufferBytes(data)}, nil, missing, 0)
	defer d.Release()
	return array.MakeFromData(d)
}

func texts(values []string) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for _, v := range values {
		b.Append(valid(v))
	}
	return b.NewArray()
}

// valid replaces invalid UTF-8 by U+FFFD. In names that identify something, decoders have done so
// already.
func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// Labels makes arrays of a Label column.
type Labels struct{ dictionary arrow.Array }

// NewLabels declares the values of the column. Use the same Labels for all batches of a file: each
// new dictionary would be written in full.
func NewLabels(values ...string) *Labels { return &Labels{texts(values)} }

// Mixed returns the labels with the given indexes. The array uses the slice itself.
func (l *Labels) Mixed(numbers []int32) arrow.Array {
	return dictionaryArray(Int32s(numbers), l.dictionary)
}

// Sparse returns the labels with the given indexes, NULL for -1.
func (l *Labels) Sparse(numbers []int32) arrow.Array {
	missing, valid := 0, make([]byte, bitutil.BytesForBits(int64(len(numbers))))
	places := make([]int32, len(numbers))
	for i, n := range numbers {
		if n < 0 {
			missing++
			continue
		}
		bitutil.SetBit(valid, i)
		places[i] = n
	}
	if missing == 0 {
		return dictionaryArray(Int32s(numbers), l.dictionary)
	}
	return dictionaryArray(fixed(arrow.PrimitiveTypes.Int32, arrow.Int32Traits.CastToBytes(places), len(places), valid, missing), l.dictionary)
}

// Array returns n rows, at most BatchRows, of one label.
func (l *Labels) Array(value, n int) arrow.Array {
	return dictionaryArray(Int32s(repeated(int32(value))[:n]), l.dictionary)
}

// dictionaryArray returns a column of labels. It calls Dictionary, so that Arrow creates that array
// now: the writers of several tables may share the column.
func dictionaryArray(numbers, labels arrow.Array) arrow.Array {
	column := array.NewDictionaryArray(label, numbers, labels)
	column.Dictionary()
	return column
}

// repeated returns BatchRows copies of a number, shared by all arrays.
func repeated(n int32) []int32 {
	list, known := repeats.Load(n)
	if !known {
		list, _ = repeats.LoadOrStore(n, slices.Repeat([]int32{n}, BatchRows))
	}
	return list.([]int32)
}

var repeats sync.Map
