package queries

import (
	"context"
	"database/sql"
	"strings"

	"stackmill/queries/result"
)

// Record is a row of a query: the values by column name.
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
	return recordsOf(ctx, db, query, args...)
}

// querier is a session, or one of its connections.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func recordsOf(ctx context.Context, from querier, query string, args ...any) ([]Record, error) {
	rows, err := from.QueryContext(ctx, query, args...)
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
	values, targets := result.Targets(len(columns))
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
	return strings.Join(mapped(texts, quote), ", ")
}

// mapped applies f to each item.
func mapped[T, U any](list []T, f func(T) U) []U {
	out := make([]U, len(list))
	for i, item := range list {
		out[i] = f(item)
	}
	return out
}

func columnList(names []string) string { return strings.Join(mapped(names, identifier), ", ") }
