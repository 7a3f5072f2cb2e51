package compare

import (
	"bytes"
	"encoding/json"
	"math"

	"stackmill/queries/result"
)

// Print prints some of the rows, with all numbers.
func (c *Result) Print(p result.Printer, rows []Row) error {
	var fields []result.Field
	for _, name := range c.Columns() {
		fields = append(fields, result.Field{Name: name, Kind: "VARCHAR"})
	}
	for _, name := range []string{"base", "test", "difference", "ratio", "low", "high", "noise", "p", "q"} {
		fields = append(fields, result.Field{Name: name, Kind: "DOUBLE", Numeric: true})
	}
	fields = append(fields, result.Field{Name: "base_runs", Kind: "INTEGER", Numeric: true}, result.Field{Name: "test_runs", Kind: "INTEGER", Numeric: true},
		result.Field{Name: "verdict", Kind: "VARCHAR"}, result.Field{Name: "matched", Kind: "VARCHAR"})
	if err := p.Header(fields); err != nil {
		return err
	}
	for i := range rows {
		r := &rows[i]
		var values []any
		for _, n := range r.Names {
			values = append(values, n)
		}
		for _, v := range []float64{r.Base, r.Test, r.Difference, r.Ratio, r.Low, r.High, r.Noise, r.P, r.Q} {
			values = append(values, known(v))
		}
		if err := p.Row(append(values, int32(r.BaseN), int32(r.TestN), r.Verdict, r.Matched)); err != nil {
			return err
		}
	}
	return p.Close()
}

// known returns a number, whole if it is, or nil if it is none.
func known(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return int64(v)
	}
	return v
}

// comparedSide is one side of a comparison in JSON.
type comparedSide struct {
	Selectors   []string `json:"selectors"`
	Experiments []string `json:"experiments"`
}

func sideOf(s Side) comparedSide {
	out := comparedSide{Selectors: s.Selectors}
	for _, e := range s.Runs {
		out.Experiments = append(out.Experiments, e.Name)
	}
	return out
}

// differing is what the sides do not have in common, in JSON.
type differing struct {
	What   string   `json:"what"`
	Base   []string `json:"base"`
	Test   []string `json:"test"`
	Unfair bool     `json:"unfair"`
}

func differingOf(c *Result) []differing {
	list := []differing{}
	for _, d := range c.Environment {
		list = append(list, differing(d))
	}
	return list
}

// Object is the comparison, with some of its rows, as JSON has it.
func (c *Result) Object(rows []Row) (any, error) {
	var text bytes.Buffer
	if err := c.Print(result.JSON(&text), rows); err != nil {
		return nil, err
	}
	return struct {
		By        string          `json:"by"`
		Metric    string          `json:"metric"`
		Unit      string          `json:"unit"`
		Mode      string          `json:"mode"`
		Inclusive bool            `json:"inclusive"`
		Normalise string          `json:"normalise"`
		FDR       float64         `json:"fdr"`
		Level     float64         `json:"level"`
		Judged    int             `json:"judged"`
		Where     []string        `json:"where"`
		Hidden    []string        `json:"hidden"`
		Base      comparedSide    `json:"base"`
		Test      comparedSide    `json:"test"`
		Differing []differing     `json:"environment"`
		Warnings  []string        `json:"warnings"`
		Total     int             `json:"rows_in_all"`
		Rows      json.RawMessage `json:"rows"`
	}{c.By, c.Metric, c.Unit, c.Mode, c.Inclusive, c.Normalise, c.FDR, c.Level, c.Judged, append([]string{}, c.Where...), append([]string{}, c.Hidden...),
		sideOf(c.Base), sideOf(c.Test), differingOf(c), append([]string{}, c.Warnings...), len(c.Rows), text.Bytes()}, nil
}
