package parquetfile

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// textColumn holds the values of a column of text in a row group.
type textColumn struct {
	values []string // without missing ones, in the memory of the arrays
	known  map[string]int32
	names  []string // by number
}

// reset forgets all values.
func (t *textColumn) reset() {
	clear(t.values)
	clear(t.names)
	t.values, t.names = t.values[:0], t.names[:0]
	if t.known == nil {
		t.known = map[string]int32{}
	}
	clear(t.known)
}

// intern returns the index of a text in the dictionary, which it adds if it is new.
func (t *textColumn) intern(text string) int32 {
	n, ok := t.known[text]
	if !ok {
		n = int32(len(t.names))
		t.known[text] = n
		t.names = append(t.names, text)
	}
	return n
}

// writeLabels writes a column of type Label: the labels that occur, in order of occurrence.
func (c *chunk) writeLabels(out *sink, arrays []arrow.Array) error {
	t := &c.texts
	t.reset()
	defer t.reset()
	c.narrow.take(arrays, labelNumbers)
	c.indices = resize(c.indices, len(c.narrow.values))
	at := 0
	for _, a := range arrays {
		labels := a.(*array.Dictionary)
		names, ok := labels.Dictionary().(*array.String)
		if !ok {
			return fmt.Errorf("values of type %s in a column of strings", a.DataType())
		}
		numbers := make([]int32, names.Len()) // from 1
		end := at + a.Len() - a.NullN()
		own := c.indices[at:end]
		for i, v := range c.narrow.values[at:end] {
			n := numbers[v]
			if n == 0 {
				n = t.intern(names.Value(int(v))) + 1
				numbers[v] = n
			}
			own[i] = n - 1
		}
		at = end
	}
	if len(c.indices) >= fewestValues {
		return c.writeNames(out)
	}
	for _, n := range c.indices {
		t.values = append(t.values, t.names[n])
	}
	return c.writePlainTexts(out, arrays)
}

func labelNumbers(a arrow.Array) []int32 { return narrowValues(a.(*array.Dictionary).Indices()) }

// writeNames writes a column of texts with a sorted dictionary, which takes a quarter less space,
// because neighbors have common prefixes.
func (c *chunk) writeNames(out *sink) error {
	sortNumbered(c.texts.names, c.indices)
	c.textBounds(c.texts.names)
	c.encoded2 = appendTexts(c.encoded2[:0], c.texts.names)
	return c.writeIndices(out, c.encoded2, len(c.texts.names))
}

// writeSame writes a column of type Label with the same value in all rows.
func (c *chunk) writeSame(out *sink, text string) error {
	c.texts.reset()
	defer c.texts.reset()
	c.values, c.definitions = c.rows, c.definitions[:0]
	c.indices = resize(c.indices, c.rows)
	for i := range c.indices {
		c.indices[i] = c.texts.intern(text)
	}
	return c.writeNames(out)
}

// writeTexts writes a column of type String.
func (c *chunk) writeTexts(out *sink, arrays []arrow.Array) error {
	t := &c.texts
	t.reset()
	defer t.reset()
	t.values = slices.Grow(t.values, c.rows)
	for _, a := range arrays {
		values, ok := a.(*array.String)
		if !ok {
			return fmt.Errorf("values of type %s in a column of strings", a.DataType())
		}
		for i := range values.Len() {
			if values.IsValid(i) {
				t.values = append(t.values, values.Value(i))
			}
		}
	}
	if c.numbered() {
		return c.writeNames(out)
	}
	return c.writePlainTexts(out, arrays)
}

// averageText is the assumed size of a text, for maxEntries: a dictionary then has at most half as
// many entries as there are values.
const averageText = 2 * indexBytes

// numbered builds a dictionary and the values' indices in it. It returns false if the column may
// not have a dictionary, or if that would be too large.
func (c *chunk) numbered() bool {
	t, size, limit := &c.texts, 0, c.maxEntries(len(c.texts.values), averageText)
	if limit == 0 {
		return false
	}
	c.indices = resize(c.indices, len(t.values))
	for i, v := range t.values {
		if i > 0 && v == t.values[i-1] {
			c.indices[i] = c.indices[i-1]
			continue
		}
		before := len(t.names)
		c.indices[i] = t.intern(v)
		if len(t.names) > before {
			if size += len(v); size > pageBytes || len(t.names) > limit {
				return false
			}
		}
	}
	return true
}

// writePlainTexts writes the values without a dictionary, in pages of bounded size.
func (c *chunk) writePlainTexts(out *sink, arrays []arrow.Array) error {
	values := c.texts.values
	c.textBounds(values)
	for row, first := 0, true; row < c.rows || first; first = false {
		c.encoded, c.indices = c.encoded[:0], c.indices[:0]
		from := row
		for ; row < c.rows && len(c.encoded) < pageBytes; row++ {
			if c.hasValue(arrays, row) {
				c.encoded = appendTexts(c.encoded, values[:1])
				c.indices, values = append(c.indices, 1), values[1:]
			} else {
				c.indices = append(c.indices, 0)
			}
		}
		if c.column.Null {
			c.definitions = appendHybrid(c.definitions[:0], c.indices, 1)
		}
		if err := c.page(out, plainEncoding, c.encoded, row-from, c.definitions); err != nil {
			return err
		}
	}
	return nil
}

// hasValue reports whether a row has a value.
func (c *chunk) hasValue(arrays []arrow.Array, row int) bool {
	if c.nulls == 0 {
		return true
	}
	for _, a := range arrays {
		if row < a.Len() {
			return a.IsValid(row)
		}
		row -= a.Len()
	}
	return false
}

// appendTexts appends texts in Parquet's plain encoding: each after its length.
func appendTexts(out []byte, texts []string) []byte {
	for _, t := range texts {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(t)))
		out = append(out, t...)
	}
	return out
}

// textBounds stores the first and the last of texts in byte order.
func (c *chunk) textBounds(texts []string) {
	if len(texts) == 0 {
		return
	}
	least, most := texts[0], texts[0]
	for _, t := range texts {
		least, most = min(least, t), max(most, t)
	}
	c.bounds([]byte(least), []byte(most))
}
