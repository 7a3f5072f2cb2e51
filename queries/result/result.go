// Package result writes the rows of a query as CSV, JSON, newline-delimited JSON or Arrow.
//
// Start reading with Print; each format has a file.
package result

import (
	"database/sql"
	"fmt"
	"strings"
)

// Field is a column of a result.
type Field struct {
	Name    string
	Kind    string // DuckDB's name of the type
	Numeric bool
}

// Printer prints a result row by row.
type Printer interface {
	Header(fields []Field) error
	Row(values []any) error
	Close() error
}

// Print prints all rows with p, and closes both.
func Print(p Printer, rows *sql.Rows) error {
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return err
	}
	if err := p.Header(fieldsOf(types)); err != nil {
		return err
	}
	values, targets := Targets(len(types))
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		if err := p.Row(values); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return p.Close()
}

// Targets returns a slice for the values of a row, and the pointers to them for Scan.
func Targets(n int) (values, targets []any) {
	values, targets = make([]any, n), make([]any, n)
	for i := range values {
		targets[i] = &values[i]
	}
	return values, targets
}

// fieldsOf describes the columns of a result. It numbers columns of the same name, because in a
// JSON object one would hide the other.
func fieldsOf(types []*sql.ColumnType) []Field {
	fields := make([]Field, len(types))
	seen := map[string]int{}
	for i, t := range types {
		name := t.Name()
		if n := seen[name]; n > 0 {
			name = fmt.Sprintf("%s_%d", name, n)
		}
		seen[t.Name()]++
		kind, _, _ := strings.Cut(t.DatabaseTypeName(), "(")
		fields[i] = Field{Name: name, Kind: kind, Numeric: numericKinds[kind]}
	}
	return fields
}

var numericKinds = map[string]bool{
	"TINYINT": true, "SMALLINT": true, "INTEGER": true, "BIGINT": true, "HUGEINT": true, "UTINYINT": true, "USMALLINT": true,
	"UINTEGER": true, "UBIGINT": true, "UHUGEINT": true, "FLOAT": true, "DOUBLE": true, "DECIMAL": true,
}
