package queries

import (
	"context"
	"database/sql"
	"strings"
)

// Record is a row of a query by column.
type Record map[string]any

// Text returns the text in a column, or "".
func (r Record) Text(column string) string { s, _ := r[column].(string); return s }

// Number returns the integer in a column, or 0.
func (r Record) Number(column string) int64 {
	switch n := r[column].(type) {
	case int64:
		return n
	case int32:
		return int64(n)
	}
	return 0
}

// Records returns the rows of a query.
func (db *DB) Records(ctx context.Context, query string, args ...any) ([]Record, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return ScanRecords(rows)
}

// ScanRecords reads all rows and closes them.
func ScanRecords(rows *sql.Rows) ([]Record, error) {
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var out []Record
	values, targets := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		rec := make(Record, len(columns))
		for i, c := range columns {
			rec[c] = values[i]
		}
		out = append(out, rec)
	}
	return out, rows.Err()
}

// Texts returns the first column of a query.
func (db *DB) Texts(ctx context.Context, query string, args ...any) ([]string, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// Quote writes texts for SQL, separated by commas.
func Quote(texts ...string) string {
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = quote(t)
	}
	return strings.Join(quoted, ", ")
}
