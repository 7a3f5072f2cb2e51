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
	for _, name := range numberColumns {
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
		for _, v := range row.numbers() {
			values = append(values, known(v))
		}
		if err := p.Row(append(values, int32(row.BaseN), int32(row.TestN), row.Verdict, row.Matched)); err != nil {
			return err
		}
	}
	return p.Close()
}

// known returns a number, as an integer if it is one; nil for NaN and infinity.
func known(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return int64(v)
	}
	return v
}

// sideJSON is one side of a comparison in JSON.
type sideJSON struct {
	Selectors   []string `json:"selectors"`
	Experiments []string `json:"experiments"`
}

func sideOf(s Side) sideJSON {
	out := sideJSON{Selectors: s.Selectors}
	for _, e := range s.Runs {
		out.Experiments = append(out.Experiments, e.Name)
	}
	return out
}

// Head is the description of a comparison in JSON.
type Head struct {
	Metric      string       `json:"metric"`
	Unit        string       `json:"unit"`
	Mode        string       `json:"mode"`
	Normalize   string       `json:"normalise"`
	Where       []string     `json:"where"`
	Hidden      []string     `json:"hidden"`
	Base        sideJSON     `json:"base"`
	Test        sideJSON     `json:"test"`
	Environment []Difference `json:"environment"`
	Warnings    []string     `json:"warnings"`
}

// Head returns the comparison's description.
func (r *Result) Head() Head {
	return Head{r.Metric, r.Unit, r.Mode, r.Normalize, append([]string{}, r.Where...), append([]string{}, r.Hidden...),
		sideOf(r.Base), sideOf(r.Test), append([]Difference{}, r.Environment...), append([]string{}, r.Warnings...)}
}

// Object returns the comparison with some of its rows, for JSON.
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
