package parquetfile

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"stackmill/internal/chunked"
	"stackmill/schema"
)

// columnPart is a part of a column that waits to be written: an array, without its numbers if
// they are packed.
type columnPart struct {
	arrow.Array
	packed *chunked.PackedInts
}

// numberBuffers is memory for the numbers of a column.
type numberBuffers struct {
	wide   []int64
	narrow []int32
}

// arrays returns the arrays of a column with their numbers, which the caller releases. They are
// valid until the buffers are used again.
func (r *numberBuffers) arrays(c *schema.Column, rows []pendingRows, i int) []arrow.Array {
	arrays, n := make([]arrow.Array, len(rows)), 0
	for _, k := range rows {
		n += k.rows
	}
	r.wide, r.narrow = r.wide[:0], r.narrow[:0]
	for j, k := range rows {
		p := k.columns[i]
		switch {
		case p.packed == nil:
			p.Retain()
			arrays[j] = p.Array
		case c.Type == schema.Int64 || c.Type == schema.Time:
			r.wide = chunked.Unpack(slices.Grow(r.wide, n), *p.packed)
			arrays[j] = withNumbers(p.Data(), arrow.Int64Traits.CastToBytes(r.wide[len(r.wide)-k.rows:]))
		default:
			r.narrow = chunked.Unpack(slices.Grow(r.narrow, n), *p.packed)
			arrays[j] = withNumbers(p.Data(), arrow.Int32Traits.CastToBytes(r.narrow[len(r.narrow)-k.rows:]))
		}
		n -= k.rows
	}
	return arrays
}

// withNumbers adds the numbers to an array without them.
func withNumbers(d arrow.ArrayData, numbers []byte) arrow.Array {
	var labels *array.Data
	if d.DataType().ID() == arrow.DICTIONARY {
		labels = d.Dictionary().(*array.Data)
	}
	buffers := []*memory.Buffer{d.Buffers()[0], memory.NewBufferBytes(numbers)}
	whole := array.NewDataWithDictionary(d.DataType(), d.Len(), buffers, d.NullN(), d.Offset(), labels)
	defer whole.Release()
	return array.MakeFromData(whole)
}

// joinPart joins arrays of a column. It packs numbers and the indices of labels.
func joinPart(c *schema.Column, arrays []arrow.Array) (columnPart, error) {
	var packed chunked.PackedInts
	var labels *array.Data
	switch c.Type {
	case schema.Int64, schema.Time:
		packed = chunked.Pack(lists(arrays, wideValues)...)
	case schema.Int32:
		packed = chunked.Pack(lists(arrays, narrowValues)...)
	case schema.Label:
		numbers, names := joinLabels(arrays)
		defer names.Release()
		packed, labels = chunked.Pack(numbers...), names.Data().(*array.Data)
	default:
		joined, err := array.Concatenate(arrays, memory.DefaultAllocator)
		return columnPart{Array: joined}, err
	}
	bits, missing := joinValidity(arrays, packed.Len())
	d := array.NewDataWithDictionary(c.Type.Arrow(), packed.Len(), []*memory.Buffer{bits, nil}, missing, 0, labels)
	defer d.Release()
	return columnPart{array.MakeFromData(d), &packed}, nil
}

func lists[T number](arrays []arrow.Array, of func(arrow.Array) []T) [][]T {
	list := make([][]T, len(arrays))
	for i, a := range arrays {
		list[i] = of(a)
	}
	return list
}

// joinValidity returns the validity bits of arrays, nil if all n rows have a value, and how many
// have none.
func joinValidity(arrays []arrow.Array, n int) (bits *memory.Buffer, missing int) {
	for _, a := range arrays {
		missing += a.NullN()
	}
	if missing == 0 {
		return nil, 0
	}
	to := make([]byte, bitutil.BytesForBits(int64(n)))
	at := 0
	for _, a := range arrays {
		if from := a.NullBitmapBytes(); a.NullN() == 0 {
			bitutil.SetBitsTo(to, int64(at), int64(a.Len()), true)
		} else {
			bitutil.CopyBitmap(from, a.Data().Offset(), a.Len(), to, at)
		}
		at += a.Len()
	}
	return memory.NewBufferBytes(to), missing
}

// joinLabels returns, by array, the indices of labels in a common list, which the caller
// releases.
func joinLabels(arrays []arrow.Array) (numbers [][]int32, names arrow.Array) {
	list := array.NewStringBuilder(memory.DefaultAllocator)
	defer list.Release()
	known := map[string]int32{}
	numbers = lists(arrays, narrowValues)
	for i, a := range arrays {
		own := a.(*array.Dictionary).Dictionary().(*array.String)
		same := true // as in the list
		now := make([]int32, own.Len())
		for n := range now {
			name := own.Value(n)
			number, ok := known[name]
			if !ok {
				number = int32(list.Len())
				known[name] = number
				list.Append(name)
			}
			now[n], same = number, same && number == int32(n)
		}
		if same {
			continue
		}
		renumbered := make([]int32, len(numbers[i]))
		for row, n := range numbers[i] {
			if uint(n) < uint(len(now)) { // a missing value may have any index
				renumbered[row] = now[n]
			}
		}
		numbers[i] = renumbered
	}
	return numbers, list.NewArray()
}
