package parquetfile

import (
	"fmt"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/schema"
)

// chunk is a column of a row group under construction.
type chunk struct {
	*scratch
	chunkMeta
	column *schema.Column
	rows   int
}

// write writes a column from its arrays.
func (c *chunk) write(out *sink, arrays []arrow.Array) (err error) {
	if err := c.levels(arrays); err != nil {
		return err
	}
	c.values = c.rows
	switch c.column.Type {
	case schema.Int64, schema.Time:
		c.wide.take(arrays, wideValues)
		err = writeNumbers(c, out, &c.wide)
	case schema.Int32:
		c.narrow.take(arrays, narrowValues)
		err = writeNumbers(c, out, &c.narrow)
	case schema.Label:
		err = c.writeLabels(out, arrays)
	case schema.String:
		err = c.writeTexts(out, arrays)
	case schema.Bool:
		err = c.writeBools(out, arrays)
	}
	return err
}

// levels stores which rows have a value, if the column may have NULLs.
func (c *chunk) levels(arrays []arrow.Array) error {
	c.nulls = 0
	for _, a := range arrays {
		c.nulls += a.NullN()
	}
	c.definitions = c.definitions[:0]
	if !c.column.Null {
		if c.nulls > 0 {
			return fmt.Errorf("%d missing values", c.nulls)
		}
		return nil
	}
	if c.nulls == 0 || c.nulls == c.rows {
		c.definitions = appendRun(c.definitions, boolInt(c.nulls == 0), c.rows, 1)
		return nil
	}
	c.indices = resize(c.indices, c.rows)[:0]
	for _, a := range arrays {
		for i := range a.Len() {
			c.indices = append(c.indices, boolInt(a.IsValid(i)))
		}
	}
	c.definitions = appendHybrid(c.definitions, c.indices, 1)
	return nil
}

// numberColumn holds the values of a numeric column in a row group.
type numberColumn[T number] struct {
	values     []T // without missing ones
	dictionary dictionary[T]
}

func wideValues(a arrow.Array) []int64 {
	d := a.Data()
	return arrow.Int64Traits.CastFromBytes(d.Buffers()[1].Bytes())[d.Offset():][:d.Len()]
}

func narrowValues(a arrow.Array) []int32 {
	d := a.Data()
	return arrow.Int32Traits.CastFromBytes(d.Buffers()[1].Bytes())[d.Offset():][:d.Len()]
}

// take collects the values of arrays.
func (n *numberColumn[T]) take(arrays []arrow.Array, of func(arrow.Array) []T) {
	all := 0
	for _, a := range arrays {
		all += a.Len() - a.NullN()
	}
	n.values = resize(n.values, all)[:0]
	for _, a := range arrays {
		values := of(a)
		switch a.NullN() {
		case 0:
			n.values = append(n.values, values...)
			continue
		case a.Len():
			continue
		}
		for i, v := range values {
			if a.IsValid(i) {
				n.values = append(n.values, v)
			}
		}
	}
}

// writeNumbers writes a column of numbers.
func writeNumbers[T number](c *chunk, out *sink, n *numberColumn[T]) error {
	if len(n.values) > 0 {
		least, most := n.values[0], n.values[0]
		for _, v := range n.values {
			least, most = min(least, v), max(most, v)
		}
		c.bounds(plain([]T{least}), plain([]T{most}))
	}
	c.indices = resize(c.indices, len(n.values))
	if limit := c.maxEntries(len(n.values), len(plain([]T{0}))); limit > 0 && n.dictionary.intern(c.indices, n.values, limit) {
		if c.effort == Thorough {
			sortNumbered(n.dictionary.values, c.indices)
		}
		return c.writeIndices(out, plain(n.dictionary.values), len(n.dictionary.values))
	}
	f := smallest(c, n, formsOf(c.column.Encoding))
	return c.page(out, f.encoding(), encode(c, n, f), c.rows, c.definitions)
}

// fewestValues is the least number of values for which a dictionary is tried.
const fewestValues = 128

// indexBytes is the assumed size of an index into a dictionary.
const indexBytes = 2

// maxEntries returns the maximum number of entries of a worthwhile dictionary for n values of a size:
// dictionary and indices together must be smaller than the values. It returns 0 if no dictionary
// should be tried.
func (c *chunk) maxEntries(n, size int) int {
	switch {
	case n < fewestValues:
		return 0
	case c.column.Encoding == schema.Dict:
		return n - n*indexBytes/size
	case c.column.Encoding == schema.DictOrDelta:
		return n / 4
	}
	return 0
}

// plain returns numbers in Parquet's plain encoding, which is how a little-endian machine stores
// them. Arrow and its Parquet library also require such a machine.
func plain[T number](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(values)*int(unsafe.Sizeof(values[0])))
}

// writeIndices writes a column as a dictionary and the indices of its values.
func (c *chunk) writeIndices(out *sink, dictionary []byte, entries int) error {
	if err := c.dictionaryPage(out, dictionary, entries); err != nil {
		return err
	}
	width := indexWidth(entries)
	c.encoded = appendHybrid(append(c.room(len(c.indices)*width/8), byte(width)), c.indices, width)
	return c.page(out, numberedEncoding, c.encoded, c.rows, c.definitions)
}

// writeBools writes a column of type Bool.
func (c *chunk) writeBools(out *sink, arrays []arrow.Array) error {
	c.indices = c.indices[:0]
	var has [2]bool
	for _, a := range arrays {
		values, ok := a.(*array.Boolean)
		if !ok {
			return fmt.Errorf("values of type %s in a column of booleans", a.DataType())
		}
		for i := range values.Len() {
			if values.IsValid(i) {
				v := boolInt(values.Value(i))
				has[v] = true
				c.indices = append(c.indices, v)
			}
		}
	}
	if len(c.indices) > 0 {
		c.bounds([]byte{byte(boolInt(!has[0]))}, []byte{byte(boolInt(has[1]))})
	}
	c.encoded = appendPacked(c.encoded[:0], c.indices, 0, 1, len(c.indices))
	return c.page(out, plainEncoding, c.encoded, c.rows, c.definitions)
}

func boolInt(v bool) int32 {
	if v {
		return 1
	}
	return 0
}

// longestBound is the maximum length of a smallest or largest value that is stored for a column.
const longestBound = 256

// bounds stores copies of the smallest and the largest value.
func (c *chunk) bounds(least, most []byte) {
	if len(least) <= longestBound {
		c.least = append([]byte{}, least...)
	}
	if len(most) <= longestBound {
		c.most = append([]byte{}, most...)
	}
}

// resize returns a slice of n undefined values, in the memory of s if it suffices. Allocating the
// right size at once avoids copies and unused memory.
func resize[T byte | number](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
