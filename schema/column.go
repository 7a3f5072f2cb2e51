package schema

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Int64s wraps values as an Arrow array without copying; they must not change
// afterwards.
func Int64s(values []int64) arrow.Array {
	return fixed(arrow.PrimitiveTypes.Int64, arrow.Int64Traits.CastToBytes(values), len(values), nil)
}

// Int32s is Int64s for 32-bit values.
func Int32s(values []int32) arrow.Array {
	return fixed(arrow.PrimitiveTypes.Int32, arrow.Int32Traits.CastToBytes(values), len(values), nil)
}

// fixed wraps values of a fixed width; nulls are the rows without one.
func fixed(t arrow.DataType, data []byte, n int, nulls []int32) arrow.Array {
	d := array.NewData(t, n, []*memory.Buffer{validity(n, nulls), memory.NewBufferBytes(data)}, nil, len(nulls), 0)
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

// valid replaces invalid UTF-8 by U+FFFD. Decoders do that where names identify
// things; this is the last place before the store.
func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// Labels makes arrays of a Label column.
type Labels struct {
	dictionary arrow.Array
	full       []func() arrow.Array // BatchRows of each value, made when they are needed
}

// NewLabels prepares the values that the column can have. They are the same
// for all batches of a file: a dictionary that changes would be written in full.
func NewLabels(values ...string) *Labels {
	dictionary := texts(values)
	l := &Labels{dictionary: dictionary}
	for i := range values {
		l.full = append(l.full, sync.OnceValue(func() arrow.Array {
			return array.NewDictionaryArray(label, Int32s(slices.Repeat([]int32{int32(i)}, BatchRows)), dictionary)
		}))
	}
	return l
}

// Mixed returns a row for each number of a value. It keeps numbers.
func (l *Labels) Mixed(numbers []int32) arrow.Array {
	return array.NewDictionaryArray(label, Int32s(numbers), l.dictionary)
}

// Array returns n rows, at most BatchRows, of the value of that number.
func (l *Labels) Array(value, n int) arrow.Array { return array.NewSlice(l.full[value](), 0, int64(n)) }
