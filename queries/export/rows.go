package export

import (
	"bufio"
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"io"
	"slices"
	"strings"
)

// RowFormats returns the formats in which the rows of a query can be exported.
func RowFormats() (names []string) {
	for _, f := range formats {
		if f.acceptsNames {
			names = append(names, f.name)
		}
	}
	return names
}

// WriteRows exports the rows of a query in one of RowFormats. The rows must have the columns `experiment_id`, `stack`
// (names of functions from root to leaf, separated by semicolons) and `value`. They may have `metric`, `unit` and
// `mode`, which must be the same in all rows: values of different ones cannot be summed. leftOut has warnings about
// missing experiments.
func WriteRows(ctx context.Context, rows *sql.Rows, as string, leftOut []string, w io.Writer) error {
	f := formats[slices.IndexFunc(formats, func(f format) bool { return f.name == as })]
	r := &stackRows{rows: rows, functions: map[string]int32{}}
	if err := r.open(); err != nil {
		return err
	}
	if !r.hasRow {
		return fmt.Errorf("the query returned no rows: there is nothing to export")
	}
	m := metric{name: r.first[0].String, unit: r.first[1].String}
	if m.name == "" {
		m.name = "value"
	}
	if m.unit == "" {
		m.unit = "count"
	}
	return f.write(ctx, &selection{metrics: []metric{m}, multiple: true, title: "query", leftOut: leftOut, rows: r}, w)
}

// constantColumns are the columns that must have the same value in all rows.
var constantColumns = []string{"metric", "unit", "mode"}

// stackRows reads rows with stacks.
type stackRows struct {
	rows           *sql.Rows
	hasRow         bool
	experiment     sql.NullString
	stack          sql.NullString
	value          sql.NullInt64
	current, first [3]sql.NullString // values of constantColumns, in the current and in the first row
	targets        []any
	functions      map[string]int32 // location number by name of the function
	e              experiment
}

// open finds the columns and reads the first row.
func (r *stackRows) open() error {
	columns, err := r.rows.Columns()
	if err != nil {
		return err
	}
	found := map[string]any{"experiment_id": &r.experiment, "stack": &r.stack, "value": &r.value}
	for i, c := range constantColumns {
		found[c] = &r.current[i]
	}
	for _, c := range []string{"experiment_id", "stack", "value"} {
		if !slices.Contains(columns, c) {
			return fmt.Errorf("the query has no column %s (it needs experiment_id, stack and value)", c)
		}
	}
	for _, c := range columns {
		to := found[c]
		if to == nil {
			to = new(any)
		}
		r.targets = append(r.targets, to)
	}
	err = r.next()
	r.first = r.current
	return err
}

// next reads the next row, if any.
func (r *stackRows) next() error {
	if r.hasRow = r.rows.Next(); !r.hasRow {
		return r.rows.Err()
	}
	if err := r.rows.Scan(r.targets...); err != nil {
		return fmt.Errorf("%w (stack must be text and value an integer)", err)
	}
	return nil
}

// each calls do for the current row and for all after it.
func (r *stackRows) each(do func() error) error {
	for r.hasRow {
		for i, c := range constantColumns {
			if r.current[i] != r.first[i] {
				return fmt.Errorf("rows of %s %s and %s cannot be in one profile (add a condition on %s)", c, r.first[i].String, r.current[i].String, c)
			}
		}
		if err := do(); err != nil {
			return err
		}
		if err := r.next(); err != nil {
			return err
		}
	}
	return nil
}

// send sends each row to a sink as a sample.
func (r *stackRows) send(to sink) error {
	s := &sample{values: make([]int64, 1)}
	begun := false
	return r.each(func() error {
		if !begun || r.e.id != r.experiment.String {
			begun = true
			r.e.id, r.e.name = r.experiment.String, r.experiment.String
			if err := to.begin(&r.e); err != nil {
				return err
			}
		}
		s.path, s.values[0] = s.path[:0], r.value.Int64
		if r.stack.String != "" {
			for name := range strings.SplitSeq(r.stack.String, ";") {
				s.path = append(s.path, r.location(name))
			}
		}
		if r.value.Int64 == 0 {
			return nil
		}
		return to.sample(s)
	})
}

// location returns the location number for a function's name, and adds a location if it is new.
func (r *stackRows) location(name string) int32 {
	n, ok := r.functions[name]
	if !ok {
		n = int32(len(r.e.locations))
		r.functions[strings.Clone(name)] = n
		r.e.locations = append(r.e.locations, location{levels: []level{{function: &function{name: strings.Clone(name)}}}})
	}
	return n
}

// fold writes the rows as folded stacks.
func (r *stackRows) fold(w io.Writer) error {
	out := bufio.NewWriter(w)
	err := r.each(func() error {
		names := strings.Split(cmp.Or(r.stack.String, noStack), ";")
		for i, name := range names {
			names[i] = foldedName(name)
		}
		return foldedLine(out, strings.Join(names, ";"), r.value.Int64)
	})
	if err != nil {
		return err
	}
	return out.Flush()
}
