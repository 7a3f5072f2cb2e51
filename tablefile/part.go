package tablefile

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"stackmill/schema"
	"stackmill/stages/arena"
)

// part is a part of a column that waits to be written: an array, which has no numbers
// itself if they are packed.
type part struct {
	arrow.Array
	packed *arena.Packed
}

// room is memory for the numbers of a column.
type room struct {
	wide   []int64
	narrow []int32
}

// arrays returns the arrays of a column with their numbers, to be released. They hold until
// the room is used again.
func (r *room) arrays(c *schema.Column, rows []waiting, i int) []arrow.Array {
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
			r.wide = arena.Unpack(slices.Grow(r.wide, n), *p.packed)
			arrays[j] = withNumbers(p.Data(), arrow.Int64Traits.CastToBytes(r.wide[len(r.wide)-k.rows:]))
		default:
			r.narrow = arena.Unpack(slices.Grow(r.narrow, n), *p.packed)
			arrays[j] = withNumbers(p.Data(), arrow.Int32Traits.CastToBytes(r.narrow[len(r.narrow)-k.rows:]))
		}
		n -= k.rows
	}
	return arrays
}

// withNumbers returns an array with other numbers, or nil for none.
func withNumbers(d arrow.ArrayData, numbers []byte) arrow.Array {
	var values *memory.Buffer
	if numbers != nil {
		values = memory.NewBufferBytes(numbers)
	}
	var labels *array.Data
	if d.DataType().ID() == arrow.DICTIONARY {
		labels = d.Dictionary().(*array.Data)
	}
	other := array.NewDataWithDictionary(d.DataType(), d.Len(), []*memory.Buffer{d.Buffers()[0], values}, d.NullN(), d.Offset(), labels)
	defer other.Release()
	return array.MakeFromData(other)
}

// joinedPart makes one part of arrays of a column. It packs numbers, and those of labels.
func joinedPart(c *schema.Column, arrays []arrow.Array) (part, error) {
	missing := func(a arrow.Array) bool { return a.NullN() > 0 }
	if c.Type != schema.Label && !slices.ContainsFunc(arrays, missing) { // nothing else to join
		if packed := pack(c.Type, arrays); packed != nil {
			n := 0
			for _, a := range arrays {
				n += a.Len()
			}
			d := array.NewData(c.Type.Arrow(), n, []*memory.Buffer{nil, nil}, nil, 0, 0)
			defer d.Release()
			return part{array.MakeFromData(d), packed}, nil
		}
	}
	joined, err := array.Concatenate(arrays, memory.DefaultAllocator)
	if err != nil {
		return part{}, err
	}
	packed := pack(c.Type, []arrow.Array{joined})
	if packed == nil {
		return part{Array: joined}, nil
	}
	defer joined.Release()
	return part{withNumbers(joined.Data(), nil), packed}, nil
}

// pack packs the numbers of a column's arrays, nil if it has none.
func pack(t schema.Type, arrays []arrow.Array) *arena.Packed {
	switch t {
	case schema.Int64, schema.Time:
		return packed(arrays, wideValues)
	case schema.Int32, schema.Label:
		return packed(arrays, narrowValues)
	}
	return nil
}

func packed[T number](arrays []arrow.Array, of func(arrow.Array) []T) *arena.Packed {
	lists := make([][]T, len(arrays))
	for i, a := range arrays {
		lists[i] = of(a)
	}
	p := arena.Pack(lists...)
	return &p
}
