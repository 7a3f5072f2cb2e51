package compare

import (
	"bytes"
	"encoding/json"
	"math"

	"stackmill/queries/result"
)

// Print prints some of the rows, with all their numbers.
func (r *Result) Print(p result.Printer, rows []Row) error {
	if err := p.Header(r.fields()); err != nil {
		return err
	}
	for i := range rows {
		if err := p.Row(rows[i].cells()); err != nil {
			return err
		}
	}
	return p.Close()
}

// fields returns the columns of a row.
func (r *Result) fields() (fields []result.Field) {
	for _, name := range r.Columns() {
		fields = append(fields, result.Field{Name: name, Kind: "VARCHAR"})
	}
	for _, name := range []string{"base", "test", "difference", "ratio", "low", "high", "noise", "p", "q"} {
		fields = append(fields, result.Field{Name: name, Kind: "DOUBLE", Numeric: true})
	}
	return append(fields, result.Field{Name: "base_runs", Kind: "BIGINT", Numeric: true}, result.Field{Name: "test_runs", Kind: "BIGINT", Numeric: true},
		result.Field{Name: "verdict", Kind: "VARCHAR"}, result.Field{Name: "matched", Kind: "VARCHAR"})
}

// cells returns the row's values in the order of fields; nil for unknown numbers.
func (r *Row) cells() (values []any) {
	for _, n := range r.Names {
		values = append(values, n)
	}
	for _, v := range []float64{r.Base, r.Test, r.Difference, r.Ratio, r.Low, r.High, r.Noise, r.P, r.Q} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			values = append(values, nil)
		} else {
			values = append(values, v)
		}
	}
	return append(values, int64(r.BaseN), int64(r.TestN), r.Verdict, r.Matched)
}

// sideJSON is one side of a comparison in JSON.
type sideJSON struct {
	Selectors   []string `json:"selectors"`
	Experiments []string `json:"experiments"`

	Runs []RunValue `json:"runs,omitempty"`
}

func sideOf(s Side, totals []RunValue) sideJSON {
	out := sideJSON{Selectors: s.Selectors, Runs: totals}
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
		sideOf(r.Base, r.runTotals[0]), sideOf(r.Test, r.runTotals[1]), append([]Difference{}, r.Environment...), append([]string{}, r.Warnings...)}
}

// designJSON returns the design; nil if all runs are compared with all.
func (r *Result) designJSON() *Design {
	if r.Design.Blocks == 0 {
		return nil
	}
	return &r.Design
}

// Object returns the comparison with some of its rows, for JSON.
func (r *Result) Object(rows []Row) (any, error) {
	var text bytes.Buffer
	if err := r.Print(result.JSON(&text), rows); err != nil {
		return nil, err
	}
	return struct {
		By       string  `json:"by"`
		Headline string  `json:"headline"`
		Design   *Design `json:"design,omitempty"`
		Head
		Inclusive  bool            `json:"inclusive"`
		FDR        float64         `json:"fdr"`
		Level      float64         `json:"level"`
		MinChange  float64         `json:"min_change"`
		MinShare   float64         `json:"min_share"`
		Conditions []Condition     `json:"conditions"`
		Judged     int             `json:"judged"`
		Small      Rest            `json:"small"`
		Total      int             `json:"rows_in_all"`
		Rows       json.RawMessage `json:"rows"`
	}{r.By, r.Headline(), r.designJSON(), r.Head(), r.Inclusive, r.FDR, r.Level, r.MinChange, r.MinShare, append([]Condition{}, r.Conditions...), r.Judged, r.Small(), len(r.Rows), text.Bytes()}, nil
}
