package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"

	"stackmill/queries/compare"
)

// printCompared prints the rows with all numbers.
func printCompared(p printer, result *compare.Result, rows []compare.Row) error {
	var fields []field
	for _, c := range result.Columns() {
		fields = append(fields, field{name: c, kind: "VARCHAR"})
	}
	for _, c := range []string{"base", "test", "difference", "ratio", "low", "high", "noise", "p", "q"} {
		fields = append(fields, field{name: c, kind: "DOUBLE", numeric: true})
	}
	fields = append(fields, field{name: "base_runs", kind: "INTEGER", numeric: true}, field{name: "test_runs", kind: "INTEGER", numeric: true},
		field{name: "verdict", kind: "VARCHAR"}, field{name: "matched", kind: "VARCHAR"})
	if err := p.header(fields); err != nil {
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
		if err := p.row(append(values, int32(r.BaseN), int32(r.TestN), r.Verdict, r.Matched)); err != nil {
			return err
		}
	}
	return p.close()
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

func sideOf(s compare.Side) comparedSide {
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

func differingOf(result *compare.Result) []differing {
	list := []differing{}
	for _, d := range result.Environment {
		list = append(list, differing(d))
	}
	return list
}

// comparisonObject is a comparison, with some of its rows, as JSON has it.
func comparisonObject(result *compare.Result, rows []compare.Row) (any, error) {
	var text bytes.Buffer
	if err := printCompared(&jsonPrinter{w: bufio.NewWriter(&text), array: true}, result, rows); err != nil {
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
	}{result.By, result.Metric, result.Unit, result.Mode, result.Inclusive, result.Normalise, result.FDR, result.Level, result.Judged, append([]string{}, result.Where...), append([]string{}, result.Hidden...),
		sideOf(result.Base), sideOf(result.Test), differingOf(result), append([]string{}, result.Warnings...), len(result.Rows), text.Bytes()}, nil
}
