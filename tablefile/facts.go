package tablefile

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/cespare/xxhash/v2"

	"stackmill/schema"
)

// Splitter splits rows of a table with facts into what its two files have. It knows the
// facts of one batch.
type Splitter struct {
	table *schema.Table
	first *schema.Labels      // the experiment that stands for the batch
	known map[[2]uint64]int32 // numbers of facts by two hashes of their values
	key   []byte
}

// NewSplitter returns the splitter of a batch's rows of a table with facts.
func NewSplitter(t *schema.Table) *Splitter {
	return &Splitter{table: t, known: map[[2]uint64]int32{}}
}

// hashBegins are what two hashes of the same values begin with.
var hashBegins = [2]uint64{0, 0x9e3779b97f4a7c15}

// Split returns the rows' own columns with the numbers of their facts, and the facts that
// are new, nil if there are none. The caller releases both.
func (s *Splitter) Split(rows arrow.RecordBatch) (own, facts arrow.RecordBatch, err error) {
	if n := int(rows.NumCols()); n != len(s.table.Columns) || rows.NumRows() == 0 {
		return nil, nil, fmt.Errorf("%d rows of %d columns, the table has %d", rows.NumRows(), n, len(s.table.Columns))
	}
	if s.first == nil {
		ids := rows.Column(0).(*array.Dictionary)
		s.first = schema.NewLabels(ids.Dictionary().(*array.String).Value(ids.GetValueIndex(0)))
	}
	var common []arrow.Array
	for _, c := range s.table.Facts.Columns[2:] {
		common = append(common, rows.Column(s.table.Index(c.Name)))
	}
	numbers, fresh := make([]int32, rows.NumRows()), []int32{} // the rows whose facts are new
	base := int32(len(s.known))
	for row := range numbers {
		key, err := s.hash(common, row)
		if err != nil {
			return nil, nil, err
		}
		n, known := s.known[key]
		if !known {
			n = int32(len(s.known))
			s.known[key] = n
			fresh = append(fresh, int32(row))
		}
		numbers[row] = n
	}
	var columns []arrow.Array
	for _, c := range s.table.Own.Columns[:len(s.table.Own.Columns)-2] {
		column := rows.Column(s.table.Index(c.Name))
		column.Retain()
		columns = append(columns, column)
	}
	own = s.record(s.table.Own, append(columns, s.first.Array(0, len(numbers)), schema.Int32s(numbers)), len(numbers))
	if len(fresh) == 0 {
		return own, nil, nil
	}
	counted := make([]int32, len(fresh))
	for i := range counted {
		counted[i] = base + int32(i)
	}
	columns = []arrow.Array{s.first.Array(0, len(fresh)), schema.Int32s(counted)}
	for _, column := range common {
		columns = append(columns, picked(column, fresh))
	}
	return own, s.record(s.table.Facts, columns, len(fresh)), nil
}

// record makes a batch of columns, which it takes over.
func (s *Splitter) record(t *schema.Table, columns []arrow.Array, n int) arrow.RecordBatch {
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	return array.NewRecordBatch(t.Arrow(), columns, int64(n))
}

// hash returns two hashes of a row's values.
func (s *Splitter) hash(columns []arrow.Array, row int) (key [2]uint64, err error) {
	s.key = binary.LittleEndian.AppendUint64(s.key[:0], 0)
	for _, c := range columns {
		if c.IsNull(row) {
			s.key = append(s.key, 0)
			continue
		}
		s.key = append(s.key, 1)
		switch c := c.(type) {
		case *array.Int64:
			s.key = binary.LittleEndian.AppendUint64(s.key, uint64(c.Value(row)))
		case *array.Int32:
			s.key = binary.LittleEndian.AppendUint32(s.key, uint32(c.Value(row)))
		case *array.String:
			s.key = binary.AppendUvarint(s.key, uint64(len(c.Value(row))))
			s.key = append(s.key, c.Value(row)...)
		default:
			return key, fmt.Errorf("facts of type %s", c.DataType())
		}
	}
	for i, begin := range hashBegins {
		binary.LittleEndian.PutUint64(s.key, begin)
		key[i] = xxhash.Sum64(s.key)
	}
	return key, nil
}

// picked returns some of an array's values.
func picked(a arrow.Array, rows []int32) arrow.Array {
	if n := len(rows); n > 0 && int(rows[n-1]-rows[0]) == n-1 {
		return array.NewSlice(a, int64(rows[0]), int64(rows[n-1])+1) // they ascend
	}
	return Gather(a, rows)
}

// Gather returns an array's values of rows.
func Gather(a arrow.Array, rows []int32) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, a.DataType())
	defer b.Release()
	b.Reserve(len(rows))
	for _, row := range rows {
		if a.IsNull(int(row)) {
			b.AppendNull()
			continue
		}
		switch b := b.(type) {
		case *array.Int64Builder:
			b.Append(a.(*array.Int64).Value(int(row)))
		case *array.Int32Builder:
			b.Append(a.(*array.Int32).Value(int(row)))
		case *array.StringBuilder:
			b.Append(a.(*array.String).Value(int(row)))
		}
	}
	return b.NewArray()
}
