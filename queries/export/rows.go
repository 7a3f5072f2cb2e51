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

// RowFormats are the names of what rows of any query can be written as.
func RowFormats() (names []string) {
	for _, f := range formats {
		if f.names {
			names = append(names, f.name)
		}
	}
	return names
}

// WriteRows writes rows with stacks as one of RowFormats: they have the columns
// `experiment_id`, `stack` (functions' names from the root to the leaf with semicolons
// between them) and `value`. Columns `metric`, `unit` and `mode` say what the values are,
// and are the same in all rows, since values of different ones are not summed. leftOut are remarks
// about what the rows lack.
func WriteRows(ctx context.Context, rows *sql.Rows, as string, leftOut []string, w io.Writer) error {
	f := formats[slices.IndexFunc(formats, func(f format) bool { return f.name == as })]
	r := &stackRows{rows: rows, functions: map[string]int32{}}
	if err := r.open(); err != nil {
		return err
	}
	if !r.more {
		return fmt.Errorf("the query has no rows: there is nothing to export")
	}
	m := metric{name: r.only[0].String, unit: r.only[1].String}
	if m.name == "" {
		m.name = "value"
	}
	if m.unit == "" {
		m.unit = "count"
	}
	return f.write(ctx, &selection{metrics: []metric{m}, many: true, title: "query", leftOut: leftOut, rows: r}, w)
}

// sameColumns must be the same in all rows.
var sameColumns = []string{"metric", "unit", "mode"}

// stackRows are the rows of a query that has stacks.
type stackRows struct {
	rows       *sql.Rows
	more       bool
	experiment sql.NullString
	stack      sql.NullString
	value      sql.NullInt64
	same, only [3]sql.NullString // of sameColumns: of this row, and of the first
	targets    []any
	functions  map[string]int32 // the locations that stand for functions
	e          experiment
}

// open finds the columns and reads the first row.
func (r *stackRows) open() error {
	columns, err := r.rows.Columns()
	if err != nil {
		return err
	}
	found := map[string]any{"experiment_id": &r.experiment, "stack": &r.stack, "value": &r.value}
	for i, c := range sameColumns {
		found[c] = &r.same[i]
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
	r.only = r.same
	return err
}

// next reads the next row, if there is one.
func (r *stackRows) next() error {
	if r.more = r.rows.Next(); !r.more {
		return r.rows.Err()
	}
	if err := r.rows.Scan(r.targets...); err != nil {
		return fmt.Errorf("%w (stack is a text, value a whole number)", err)
	}
	return nil
}

// each calls a function for each row that is left.
func (r *stackRows) each(do func() error) error {
	for r.more {
		for i, c := range sameColumns {
			if r.same[i] != r.only[i] {
				return fmt.Errorf("rows of %s %s and of %s are not one profile (add a condition on %s)", c, r.only[i].String, r.same[i].String, c)
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

// send gives the rows to a sink, each as a sample.
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

// location returns what stands for a function.
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
