package compare

import (
	"bytes"
	"encoding/json"
	"math"

	"stackmill/queries/result"
)

// Print prints some of the rows, with all numbers.
func (r *Result) Print(p result.Printer, rows []Row) error {
	var fields []result.Field
	for _, name := range r.Columns() {
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
		row := &rows[i]
		var values []any
		for _, n := range row.Names {
			values = append(values, n)
		}
		for _, v := range []float64{row.Base, row.Test, row.Difference, row.Ratio, row.Low, row.High, row.Noise, row.P, row.Q} {
			values = append(values, known(v))
		}
		if err := p.Row(append(values, int32(row.BaseN), int32(row.TestN), row.Verdict, row.Matched)); err != nil {
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

// Head is what a comparison is about, as JSON has it.
type Head struct {
	Metric    string       `json:"metric"`
	Unit      string       `json:"unit"`
	Mode      string       `json:"mode"`
	Normalise string       `json:"normalise"`
	Where     []string     `json:"where"`
	Hidden    []string     `json:"hidden"`
	Base      comparedSide `json:"base"`
	Test      comparedSide `json:"test"`
	Differing []differing  `json:"environment"`
	Warnings  []string     `json:"warnings"`
}

// Head is what the comparison is about.
func (r *Result) Head() Head {
	return Head{r.Metric, r.Unit, r.Mode, r.Normalise, append([]string{}, r.Where...), append([]string{}, r.Hidden...),
		sideOf(r.Base), sideOf(r.Test), differingOf(r), append([]string{}, r.Warnings...)}
}

// Object is the comparison, with some of its rows, as JSON has it.
func (r *Result) Object(rows []Row) (any, error) {
	var text bytes.Buffer
	if err := r.Print(result.JSON(&text), rows); err != nil {
		return nil, err
	}
	return struct {
		By string `json:"by"`
		Head
		Inclusive bool            `json:"inclusive"`
		FDR       float64         `json:"fdr"`
		Level     float64         `json:"level"`
		Judged    int             `json:"judged"`
		Total     int             `json:"rows_in_all"`
		Rows      json.RawMessage `json:"rows"`
	}{r.By, r.Head(), r.Inclusive, r.FDR, r.Level, r.Judged, len(r.Rows), text.Bytes()}, nil
}
