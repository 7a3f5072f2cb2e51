package main

import (
	"context"
	"database/sql"
)

// run prints the report.
func (r *reporter) run(ctx context.Context) error {
	s, err := r.choose(ctx)
	if err != nil {
		return err
	}
	if r.format != "table" && r.format != "markdown" {
		rows, err := r.db.QueryContext(ctx, r.query(s, false))
		if err != nil {
			return err
		}
		return printRows(r.newPrinter(r.format), rows)
	}
	rows, err := r.read(ctx, r.query(s, true))
	if err != nil {
		return err
	}
	if r.format == "table" {
		if err := r.caption(s); err != nil {
			return err
		}
		if r.print != nil && len(rows) > 0 {
			return r.print(r, ctx, s, rows)
		}
	}
	if len(rows) == 0 && r.format == "table" {
		text := "There is nothing to show."
		if r.ofData {
			text = "There are no data objects: no sample is an access to memory (perf record -d of page faults, watchpoints or memory events has some)."
		}
		switch r.name {
		case "conservation":
			text = "Every sum holds."
		case "source":
			text = "No lines are known there (stackmill report lines shows those that have values)."
		case "disasm":
			text = "The instructions are not known: the machine code was not found, or the function has no value."
		}
		return r.printf("%s\n", text)
	}
	fields, cells := r.layout(s, r.withTotals(rows))
	return r.printTable(fields, cells, r.format == "markdown")
}

// withTotals puts <Total> before each experiment's and metric's rows where the
// view has none (S19).
func (r *reporter) withTotals(rows []record) []record {
	if !r.totals {
		return rows
	}
	var out []record
	for _, group := range groups(rows) {
		first := group[0]
		n := first["total"]
		out = append(out, record{
			"experiment": first["experiment"], "metric": first["metric"], "unit": first["unit"], "total": n,
			"exclusive": n, "inclusive": n, "value": n, r.nameColumn(): "<Total>",
		})
		out = append(out, group...)
	}
	return out
}

// nameColumn is the first column that holds no value.
func (r *reporter) nameColumn() string {
	for _, c := range r.columns {
		if c.as != metric {
			return c.column
		}
	}
	return ""
}

// record is a row of a report's query by column.
type record map[string]any

func (r record) text(column string) string { s, _ := r[column].(string); return s }

func (r record) number(column string) int64 {
	switch n := r[column].(type) {
	case int64:
		return n
	case int32:
		return int64(n)
	}
	return 0
}

func (r *reporter) read(ctx context.Context, query string) ([]record, error) {
	rows, err := r.db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return records(rows)
}

func records(rows *sql.Rows) ([]record, error) {
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var out []record
	for rows.Next() {
		values, targets := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		rec := record{}
		for i, c := range columns {
			rec[c] = values[i]
		}
		out = append(out, rec)
	}
	return out, rows.Err()
}
