package stored

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"stackmill/schema"
	"stackmill/tablefile"
)

// Facts are those of a batch, as its file has them.
type Facts struct {
	table *schema.Table
	rows  arrow.RecordBatch // all columns of the facts; row 0 has number 0
}

// ReadFacts reads the file of a table's facts.
func ReadFacts(ctx context.Context, f parquet.ReaderAtSeeker, t *schema.Table) (*Facts, error) {
	pq, err := file.NewParquetReader(f)
	if err != nil {
		return nil, err
	}
	r, err := pqarrow.NewFileReader(pq, pqarrow.ArrowReadProperties{BatchSize: schema.BatchRows}, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	if found, want := pq.MetaData().Schema, t.Facts.Columns; found.NumColumns() != len(want) {
		return nil, fmt.Errorf("table %s: the file has %d columns, not %d", t.Facts.Name, found.NumColumns(), len(want))
	}
	all, err := r.ReadTable(ctx)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", t.Facts.Name, err)
	}
	defer all.Release()
	columns, fields := make([]arrow.Array, all.NumCols()), t.Facts.Stored().Fields()
	for i := range columns {
		column := all.Column(i)
		if column.Name() != fields[i].Name || !arrow.TypeEqual(column.DataType(), fields[i].Type) {
			return nil, fmt.Errorf("table %s: column %d is %s of type %s", t.Facts.Name, i+1, column.Name(), column.DataType())
		}
		if columns[i], err = array.Concatenate(column.Data().Chunks(), memory.DefaultAllocator); err != nil {
			return nil, err
		}
	}
	facts := &Facts{t, array.NewRecordBatch(t.Facts.Stored(), columns, all.NumRows())}
	return facts, facts.check()
}

// check returns an error unless facts are numbered in their order.
func (f *Facts) check() error {
	for i, n := range f.rows.Column(1).(*array.Int32).Int32Values() {
		if int(n) != i {
			return fmt.Errorf("table %s: row %d has number %d", f.table.Facts.Name, i, n)
		}
	}
	return nil
}

// Join returns columns of the table for rows that have the own ones among them and the
// numbers of their facts. Texts of facts come as dictionaries. The caller releases them.
func (f *Facts) Join(own arrow.RecordBatch, columns []string) (arrow.RecordBatch, error) {
	named := schema.Events{RecordBatch: own}
	numbers := named.Int32s(schema.FactNumber)
	for _, n := range numbers {
		if n < 0 || int64(n) >= f.rows.NumRows() {
			return nil, fmt.Errorf("table %s has %d rows, there is none with number %d", f.table.Facts.Name, f.rows.NumRows(), n)
		}
	}
	fields, arrays := make([]arrow.Field, len(columns)), make([]arrow.Array, len(columns))
	for i, name := range columns {
		if f.table.Own.Has(name) {
			arrays[i] = named.Column(name)
			arrays[i].Retain()
		} else {
			arrays[i] = f.of(f.rows.Column(f.table.Facts.Index(name)), numbers)
		}
		fields[i] = arrow.Field{Name: name, Type: arrays[i].DataType(), Nullable: true}
	}
	defer func() {
		for _, a := range arrays {
			a.Release()
		}
	}()
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, own.NumRows()), nil
}

// of returns the values of a column that facts with these numbers have.
func (f *Facts) of(column arrow.Array, numbers []int32) arrow.Array {
	if _, ok := column.(*array.String); !ok {
		return tablefile.Gather(column, numbers)
	}
	b := array.NewInt32Builder(memory.DefaultAllocator)
	defer b.Release()
	b.Reserve(len(numbers))
	for _, n := range numbers {
		if column.IsNull(int(n)) {
			b.AppendNull()
		} else {
			b.UnsafeAppend(n)
		}
	}
	indices := b.NewArray()
	defer indices.Release()
	return array.NewDictionaryArray(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}, indices, column)
}
