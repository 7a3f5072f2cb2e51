// Package schema declares every table of the store once: its columns, their
// Arrow types, Parquet encodings, units and meaning. Arrow schemas, the checks
// of the views and docs/tables.md all derive from these declarations.
//
// Start reading with Table and Column; Tables (tables.go) lists all tables, Declared (metrics.go)
// the metrics.
package schema

import (
	"fmt"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
)

// StoreVersion is the version of the store format, written into the footer of every Parquet file.
// It is raised when a table changes incompatibly.
const StoreVersion = "16"

// OlderVersions are the versions of the store format that compact can rewrite to StoreVersion.
var OlderVersions = []string{"14", "15"}

// IsOlder reports whether compact can rewrite this version of the store format.
func IsOlder(version string) bool { return slices.Contains(OlderVersions, version) }

// BatchRows is the maximum number of rows in a record batch.
const BatchRows = 1 << 16

// RowsAtOnce is the number of rows in a record batch that Rows makes. It is less than BatchRows, so
// that the next stage can begin early.
const RowsAtOnce = 1 << 14

// BatchText is the approximate maximum of bytes of text in a record batch.
const BatchText = 4 << 20

// Type is the type of a column. Unsigned and nested types are not used: other engines lack the
// former and read the latter badly.
type Type uint8

// The column types.
const (
	String Type = iota
	Int64
	Int32
	Bool
	Time  // microseconds UTC
	Label // a string that mostly repeats from row to row: an Arrow dictionary
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

// The encodings. Files are also compressed, so Plain is best for numbers that repeat in the same
// order, and for hashes that occur once.
const (
	Dict         Encoding = iota // dictionary, for values that repeat; Plain in row groups without repetitions
	Delta                        // differences, for integers that ascend
	Plain                        // values unchanged
	DictOrDelta                  // Dict, or Delta in row groups where most values differ
	PlainOrDelta                 // Plain or Delta, whichever is smaller in a row group
)

func (e Encoding) String() string {
	return [...]string{"dictionary", "delta", "plain", "dictionary or delta", "plain or delta"}[e]
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

// as returns a copy of the column with another encoding.
func (c Column) as(e Encoding) Column {
	c.Encoding = e
	return c
}

// as returns a copy of the column with another description.
func (c DerivedColumn) as(doc string) DerivedColumn {
	c.Doc = doc
	return c
}

// Table is one table of the store.
type Table struct {
	Name    string
	Row     string   // describes what a row is
	Key     []string // the columns that identify a row of the view; none if rows may be equal
	Columns []Column // the columns in the files
	// Committed are further columns of the table's view, with values from the commits, not from the
	// files.
	Committed []DerivedColumn
	// Computed lists the columns that the table's wide view (Wide) adds. Joined is SQL with the
	// joins that they need: each joins at most one row of another table to a row t of this one.
	Computed []DerivedColumn
	Joined   string
	// Summary says that an experiment keeps its rows of this table when it is reduced to a summary.
	Summary bool
	// Links is not nil for a table whose rows the experiments of a batch share: each row is stored
	// once. A row belongs to an experiment if that has a row in Links with the same `listed_in` and
	// `listing`, which are the first columns here. The wide view has a row for each such
	// experiment, with the other columns of Links in place of these two.
	Links *Table
}

// Wide returns the name of the view that adds columns to the table: what its numbers refer to, or
// the experiments of shared rows. It is empty if there is no such view.
func (t *Table) Wide() string {
	if t.Links == nil && t.Computed == nil {
		return ""
	}
	return t.Name + "_wide"
}

// Owner returns the columns that say which experiment a shared row belongs to. The wide view has
// them in place of `listed_in` and `listing`. There are none if rows are not shared.
func (t *Table) Owner() []Column {
	if t.Links == nil {
		return nil
	}
	return t.Links.Columns[:t.Links.Index(ListedIn)]
}

// Shown returns the columns of the table's wide view, without Computed. The caller must not change
// them.
func (t *Table) Shown() []Column {
	if t.Links == nil {
		return slices.Clip(t.Columns)
	}
	return slices.Concat(t.Owner(), t.Columns[t.Index(listing.Name)+1:])
}

// Types returns the types of the table's columns, including computed ones, by name.
func (t *Table) Types() map[string]Type {
	types := map[string]Type{}
	for _, c := range t.Columns {
		types[c.Name] = c.Type
	}
	for _, c := range slices.Concat(t.Committed, t.Computed) {
		types[c.Name] = c.Type
	}
	return types
}

// DerivedColumn is a column that SQL computes from other columns of the row and of rows joined to
// it.
type DerivedColumn struct {
	Name string
	Type Type
	SQL  string
	Doc  string // one sentence
}

// key returns the key of a table: experiment_id and the columns that identify a row in an
// experiment.
func key(columns ...string) []string { return append([]string{experimentID.Name}, columns...) }

// Arrow returns the schema of the table's record batches: always the same one.
func (t *Table) Arrow() *arrow.Schema {
	if known, ok := arrowSchemas.Load(t); ok {
		return known.(*arrow.Schema)
	}
	known, _ := arrowSchemas.LoadOrStore(t, t.arrow(Type.Arrow))
	return known.(*arrow.Schema)
}

// arrowSchemas caches the schemas of tables: even a small recording has a hundred batches.
var arrowSchemas sync.Map

// Stored returns the schema of the table's Parquet files. Labels are strings there, as the
// dictionary is only a matter of encoding.
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

// Index returns the position of a column. It panics on an undeclared name: that is a bug in the
// program, not in its input.
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

// ByName returns the table with this name, or nil.
func ByName(name string) *Table {
	for _, t := range Tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}
