// Package schema declares every table of the store once: its columns, their
// Arrow types, Parquet encodings, units and meaning. Arrow schemas, the checks
// of the views and docs/tables.md all derive from these declarations.
package schema

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
)

// StoreVersion is the version of the store format. It stands in the footer of
// every Parquet file and changes when a table changes incompatibly.
const StoreVersion = "6"

// RowGroupRows is the number of rows of a full Parquet row group.
const RowGroupRows = 1 << 20

// BatchRows is the largest number of rows of a record batch between stages.
const BatchRows = 1 << 16

// Type is the type of a column. There are no unsigned and no nested types:
// other engines lack the first and read the second badly.
type Type uint8

// The column types.
const (
	String Type = iota
	Int64
	Int32
	Bool
	Time  // microseconds UTC
	Label // a string that is mostly the same from row to row: an Arrow dictionary
)

var label = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}

// Arrow returns the Arrow type of a column type.
func (t Type) Arrow() arrow.DataType {
	switch t {
	case Int64:
		return arrow.PrimitiveTypes.Int64
	case Int32:
		return arrow.PrimitiveTypes.Int32
	case Bool:
		return arrow.FixedWidthTypes.Boolean
	case Time:
		return arrow.FixedWidthTypes.Timestamp_us
	case Label:
		return label
	default:
		return arrow.BinaryTypes.String
	}
}

// SQL returns the name of the type in DuckDB's dialect.
func (t Type) SQL() string {
	return [...]string{"VARCHAR", "BIGINT", "INTEGER", "BOOLEAN", "TIMESTAMP WITH TIME ZONE", "VARCHAR"}[t]
}

// Encoding is the Parquet encoding of a column.
type Encoding uint8

// The encodings: Dict for ids and names, Delta for times, counters and values.
const (
	Dict Encoding = iota
	Delta
	Plain
)

func (e Encoding) String() string {
	return [...]string{"dictionary", "delta", "plain"}[e]
}

// Column is one column of a table.
type Column struct {
	Name     string
	Type     Type
	Encoding Encoding
	Unit     string // ns, bytes, count, or empty
	Null     bool   // whether the value may be missing
	Doc      string // one sentence
}

// Table is one table of the store.
type Table struct {
	Name    string
	Row     string   // what a row is
	Key     []string // the columns that tell rows apart; none where rows may be equal
	Columns []Column
	// Computed are columns of the table's view that are not in its files.
	Computed []Computed
}

// Computed is a column that SQL computes from others of the same row.
type Computed struct {
	Name string
	Type Type
	SQL  string
	Doc  string // one sentence
}

// key returns the columns that tell the rows of a store apart, given those that
// tell the rows of one experiment apart.
func key(columns ...string) []string { return append([]string{experimentID.Name}, columns...) }

// Arrow returns the schema of the table's record batches.
func (t *Table) Arrow() *arrow.Schema {
	return t.arrow(Type.Arrow)
}

// Stored returns the schema of the table's Parquet files: dictionaries are a
// matter of encoding there.
func (t *Table) Stored() *arrow.Schema {
	return t.arrow(func(c Type) arrow.DataType {
		if c == Label {
			c = String
		}
		return c.Arrow()
	})
}

func (t *Table) arrow(typeOf func(Type) arrow.DataType) *arrow.Schema {
	fields := make([]arrow.Field, len(t.Columns))
	for i, c := range t.Columns {
		fields[i] = arrow.Field{Name: c.Name, Type: typeOf(c.Type), Nullable: c.Null}
	}
	return arrow.NewSchema(fields, nil)
}

// Index returns the position of the named column. It panics on a name that the
// table does not declare: that is a mistake in the program, not in its input.
func (t *Table) Index(name string) int {
	if i := t.find(name); i >= 0 {
		return i
	}
	panic(fmt.Sprintf("schema: table %s has no column %s", t.Name, name))
}

// Has reports whether the table has a column of a name.
func (t *Table) Has(name string) bool { return t.find(name) >= 0 }

func (t *Table) find(name string) int {
	return slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
}

// Parquet returns the properties with which the table's files are written.
func (t *Table) Parquet() *parquet.WriterProperties {
	opts := []parquet.WriterProperty{
		parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithCompressionLevel(1),
		parquet.WithDataPageVersion(parquet.DataPageV2),
		parquet.WithMaxRowGroupLength(RowGroupRows),
		parquet.WithCreatedBy("stackmill"),
		parquet.WithStats(true),
	}
	for _, c := range t.Columns {
		if c.Type == Label && c.Name != experimentID.Name {
			opts = append(opts, parquet.WithStatsFor(c.Name, false)) // all values are in every row group
		}
		switch c.Encoding {
		case Dict:
			opts = append(opts, parquet.WithDictionaryFor(c.Name, true))
		case Delta:
			opts = append(opts, parquet.WithDictionaryFor(c.Name, false),
				parquet.WithEncodingFor(c.Name, parquet.Encodings.DeltaBinaryPacked))
		case Plain:
			opts = append(opts, parquet.WithDictionaryFor(c.Name, false),
				parquet.WithEncodingFor(c.Name, parquet.Encodings.Plain))
		}
	}
	return parquet.NewWriterProperties(opts...)
}

// ByName returns the table of a name, or nil.
func ByName(name string) *Table {
	for _, t := range Tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}
