package trend

import (
	"math"
	"strconv"

	"stackmill/queries/rank"
)

// Object returns the result for JSON: points in the order of time, and for each series a value per
// point.
func (r *Result) Object() any {
	type change struct {
		At     int     `json:"at"`
		Before any     `json:"before"`
		After  any     `json:"after"`
		P      float64 `json:"p"`
	}
	type series struct {
		Function   string   `json:"function"`
		Key        string   `json:"function_key"`
		LoadObject string   `json:"load_object"`
		Module     string   `json:"module"`
		Values     []any    `json:"values"`
		Changes    []change `json:"changes"`
	}
	all := []series{}
	for _, s := range r.Series {
		o := series{s.Function, strconv.FormatInt(s.Key, 10), s.LoadObject, s.Module, []any{}, []change{}}
		for _, v := range s.Values {
			o.Values = append(o.Values, number(v))
		}
		for _, c := range s.Changes {
			o.Changes = append(o.Changes, change{c.At, number(c.Before), number(c.After), c.P})
		}
		all = append(all, o)
	}
	return struct {
		Metric    string   `json:"metric"`
		Unit      string   `json:"unit"`
		Mode      string   `json:"mode"`
		Inclusive bool     `json:"inclusive"`
		Normalize string   `json:"normalise"`
		Chance    float64  `json:"chance"`
		Points    []Point  `json:"points"`
		Matched   int      `json:"matched"`
		Series    []series `json:"series"`
		Warnings  []string `json:"warnings"`
	}{r.Metric, r.Unit, r.Mode, r.Inclusive, r.Normalize, rank.Chance, append([]Point{}, r.Points...), r.Matched, all, append([]string{}, r.Warnings...)}
}

// number returns a value as an integer if it is one.
func number(v float64) any {
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return int64(v)
	}
	return v
}
