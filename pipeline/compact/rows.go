package compact

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"stackmill/schema"
)

// rows are rows of a table in memory, column by column.
type rows struct {
	n       int
	columns []column
}

// column holds the values of one column of rows.
type column struct {
	wide   []int64
	narrow []int32 // 32-bit values: numbers of texts, or 0 and 1 for Booleans
	valid  []bool  // which values are not NULL; nil if none is NULL
}

// append adds a range of other rows.
func (r *rows) append(from *rows, start, end int) {
	if r.columns == nil {
		r.columns = make([]column, len(from.columns))
	}
	for i := range from.columns {
		to, from := &r.columns[i], &from.columns[i]
		if from.wide != nil {
			to.wide = append(to.wide, from.wide[start:end]...)
		} else {
			to.narrow = append(to.narrow, from.narrow[start:end]...)
		}
		if from.valid == nil && to.valid == nil {
			continue
		}
		for len(to.valid) < r.n {
			to.valid = append(to.valid, true)
		}
		for n := start; n < end; n++ {
			to.valid = append(to.valid, from.valid == nil || from.valid[n])
		}
	}
	r.n += end - start
}

// clear removes the rows and keeps their memory.
func (r *rows) clear() {
	for i := range r.columns {
		c := &r.columns[i]
		c.wide, c.narrow, c.valid = c.wide[:0], c.narrow[:0], c.valid[:0]
	}
	r.n = 0
}

// texts numbers the distinct texts of a column.
type texts struct {
	list   []string
	number map[string]int32
}

func (t *texts) of(text string) int32 {
	n, ok := t.number[text]
	if !ok {
		if t.number == nil {
			t.number = map[string]int32{}
		}
		text = string([]byte(text)) // a copy, which does not keep a page in memory
		n = int32(len(t.list))
		t.list = append(t.list, text)
		t.number[text] = n
	}
	return n
}

// record returns rows as a batch of their table; known has the texts of its columns.
func (r *rows) record(t *schema.Table, known []texts) arrow.RecordBatch {
	arrays := make([]arrow.Array, len(t.Columns))
	for i := range t.Columns {
		arrays[i] = r.columns[i].array(&t.Columns[i], &known[i], r.n)
	}
	batch := array.NewRecordBatch(t.Arrow(), arrays, int64(r.n))
	for _, a := range arrays {
		a.Release()
	}
	return batch
}

// array returns a copy of the column's values.
func (c *column) array(declared *schema.Column, known *texts, n int) arrow.Array {
	var valid []bool
	if len(c.valid) > 0 {
		valid = c.valid
	}
	numbers := func() arrow.Array {
		b := array.NewInt32Builder(memory.DefaultAllocator)
		defer b.Release()
		b.AppendValues(c.narrow, valid)
		return b.NewArray()
	}
	switch declared.Type {
	case schema.Int64:
		b := array.NewInt64Builder(memory.DefaultAllocator)
		defer b.Release()
		b.AppendValues(c.wide, valid)
		return b.NewArray()
	case schema.Int32:
		return numbers()
	case schema.Label:
		indices := numbers()
		defer indices.Release()
		dictionary := newTexts(known.list)
		defer dictionary.Release()
		return array.NewDictionaryArray(declared.Type.Arrow().(*arrow.DictionaryType), indices, dictionary)
	}
	b := array.NewBuilder(memory.DefaultAllocator, declared.Type.Arrow())
	defer b.Release()
	b.Reserve(n)
	for i := range n {
		switch b := b.(type) {
		case *array.StringBuilder:
			if valid == nil || valid[i] {
				b.Append(known.list[c.narrow[i]])
				continue
			}
		case *array.BooleanBuilder:
			if valid == nil || valid[i] {
				b.Append(c.narrow[i] != 0)
				continue
			}
		case *array.TimestampBuilder:
			if valid == nil || valid[i] {
				b.Append(arrow.Timestamp(c.wide[i]))
				continue
			}
		}
		b.AppendNull()
	}
	return b.NewArray()
}

func newTexts(list []string) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(list, nil)
	return b.NewArray()
}
