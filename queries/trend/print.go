package trend

import (
	"strings"

	"stackmill/queries/result"
)

// Print prints a row for each of the newest n values of each series, or for all values if n is 0. The
// row of a value at which a change begins has the medians before and after the change, its p-value
// and its state.
func (r *Result) Print(p result.Printer, n int) error {
	var fields []result.Field
	for _, f := range []struct{ kind, names string }{
		{"VARCHAR", "function load_object module by ordered started started_from experiment experiment_id host target status"},
		{"DOUBLE", "value before after p"},
		{"VARCHAR", "state"},
	} {
		for name := range strings.FieldsSeq(f.names) {
			fields = append(fields, result.Field{Name: name, Kind: f.kind, Numeric: f.kind == "DOUBLE"})
		}
	}
	if err := p.Header(fields); err != nil {
		return err
	}
	for i := range r.Series {
		s := &r.Series[i]
		from := 0
		if n > 0 {
			from = max(0, len(s.Values)-n)
		}
		for k := from; k < len(s.Values); k++ {
			if err := p.Row(r.row(s, k)); err != nil {
				return err
			}
		}
	}
	return p.Close()
}

// row returns the columns of a value.
func (r *Result) row(s *Series, value int) []any {
	p := r.PointOf(s, value)
	text := func(t string) any {
		if t == "" {
			return nil
		}
		return t
	}
	var by any
	if s.By != nil {
		by = text(*s.By)
	}
	row := []any{s.Function, s.LoadObject, s.Module, by, text(p.Ordered), text(p.Started), text(p.StartedFrom), p.Experiment, p.ExperimentID, p.Host, p.Target, p.Status, s.Values[value]}
	for _, c := range s.Changes {
		if c.At == value {
			return append(row, c.Before, c.After, c.P, string(c.State))
		}
	}
	return append(row, nil, nil, nil, nil)
}
