package functions

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"stackmill/queries"
)

// Request asks for one function.
type Request struct {
	Measure
	Function   string // its name, or the first LongName characters of it; empty: the function with the highest exclusive value
	LoadObject string // of several functions with this name, only those of this load object; empty: any
	Module     string // and of this module; empty: any
	Limit      int    // at most this many callers, and as many callees; 0: all
}

// Function is one function in the sum of all experiments that have the metric.
type Function struct {
	Measure
	Coverage
	Total Value `json:"total"` // what the filter leaves: the value of <Total>
	Whole Value `json:"whole"` // the value of <Total> without the filter
	Name
	Found     int        `json:"found"` // number of functions with the requested name that have values; 0: all values below are 0
	Others    []Name     `json:"others"`
	Exclusive Value      `json:"exclusive"`
	Inclusive Value      `json:"inclusive"`
	Size      *int64     `json:"size"` // of its code, in bytes; nil if unknown
	File      string     `json:"file"` // empty if unknown
	Line      int64      `json:"line"` // of its declaration; 0 if unknown
	Callers   []Neighbor `json:"callers"`
	Callees   []Neighbor `json:"callees"`
	Rest      Rest       `json:"rest"`
	Values    Values     `json:"values"`
	Base      *OfBase    `json:"base,omitempty"`
	key       int64      // function_key
	ids       []any      // its function_id in all builds
	in        string     // id of the newest experiment that has it
}

// Neighbor is a caller or callee of a function. The caller or callee <Total> stands for the start of stacks.
type Neighbor struct {
	Name
	Attributed Value `json:"attributed"` // the part of the function's inclusive value that came from it or went to it
}

// Rest has the callers and callees that Request.Limit leaves out.
type Rest struct {
	Callers Remainder `json:"callers"`
	Callees Remainder `json:"callees"`
}

// Remainder is a number of rows that are left out, and the sum of their values.
type Remainder struct {
	Count      int   `json:"count"`
	Attributed Value `json:"attributed"`
}

// Values are the function's values over time: by experiment, or by night if there are many experiments.
type Values struct {
	By     string  `json:"by"` // experiment or night
	Points []Point `json:"points"`
	Left   int     `json:"left"` // number of older points that are left out
}

// Point has the mean values of the experiments of one night, or those of one experiment.
type Point struct {
	Label       string  `json:"label"`   // the experiment's name, or the night's date; empty if the experiments have no start
	Started     *string `json:"started"` // of the experiment, or of the first one of the night, in UTC
	Experiments int     `json:"experiments"`
	Exclusive   float64 `json:"exclusive"`
	Inclusive   float64 `json:"inclusive"`
	Total       float64 `json:"total"`
}

// OfBase has the same function's values in another selection of experiments.
type OfBase struct {
	Coverage
	Total     Value `json:"total"`
	Exclusive Value `json:"exclusive"`
	Inclusive Value `json:"inclusive"`
}

// LongName is the number of characters from which on the beginning of a name stands for the name: proxies refuse
// addresses with names of 10,000 characters.
const LongName = 1000

// Reads lists the tables and views that One reads.
func Reads() []string {
	return []string{"function_sums", "function_rollup", "call_values", "functions", "locations", "experiments", "metrics", "default_metrics"}
}

// mostPoints is the largest number of points in Values.
const mostPoints = 60

// One returns one function with its callers and callees. The request's metric must be known.
func One(ctx context.Context, db *queries.DB, r *Request) (*Function, error) {
	f := &Function{Measure: r.Measure, Name: Name{Function: r.Function, LoadObject: r.LoadObject, Module: r.Module}, Others: []Name{}, Callers: []Neighbor{}, Callees: []Neighbor{}}
	var err error
	if f.Coverage, err = Cover(ctx, db, r.Metric); err != nil {
		return nil, err
	}
	if f.Total, err = Total(ctx, db, &r.Measure); err != nil {
		return nil, err
	}
	if err := f.find(ctx, db, r); err != nil {
		return nil, err
	}
	if err := f.readValues(ctx, db); err != nil || f.Found == 0 {
		return f, err
	}
	if err := f.describe(ctx, db); err != nil {
		return nil, err
	}
	return f, f.readCalls(ctx, db, r.Limit)
}

// find looks for the function: of several with the same name, it is the one with the highest inclusive value.
func (f *Function) find(ctx context.Context, db *queries.DB, r *Request) error {
	condition, order := "NOT ("+isTotal+")", "exclusive DESC, inclusive DESC"
	if r.Function != "" {
		condition, order = `"function" = `+queries.Quote(r.Function), "inclusive DESC, exclusive DESC"
		if utf8.RuneCountInString(r.Function) >= LongName {
			condition = `starts_with("function", ` + queries.Quote(r.Function) + ")"
		}
	}
	for column, value := range map[string]string{"load_object": r.LoadObject, "module": r.Module} {
		if value != "" { // its end is enough, as the names in call trees are short paths
			condition += fmt.Sprintf(" AND (%[1]s = %[2]s OR ends_with(%[1]s, '/' || %[2]s))", column, queries.Quote(value))
		}
	}
	shown := f.shown("s")
	limit := ""
	if r.Function == "" {
		limit = " LIMIT 1"
	}
	found, err := db.Records(ctx, `SELECT function_key, `+names+`, sum(exclusive)::BIGINT AS exclusive, sum(inclusive)::BIGINT AS inclusive
FROM function_sums s WHERE `+shown+` AND function_key IN (SELECT function_key FROM function_sums s WHERE `+shown+` AND `+condition+`)
GROUP BY function_key ORDER BY `+order+`, load_object, module, function_key`+limit)
	if err != nil || len(found) == 0 {
		return err
	}
	first := found[0]
	f.Found, f.key, f.Name = len(found), first.Number("function_key"), nameOf(first)
	f.Exclusive, f.Inclusive = Value(first.Number("exclusive")), Value(first.Number("inclusive"))
	for _, other := range found[1:] {
		f.Others = append(f.Others, nameOf(other))
	}
	return nil
}

// readValues reads the values of each experiment, and makes points of them.
func (f *Function) readValues(ctx context.Context, db *queries.DB) error {
	records, err := db.Records(ctx, `SELECT e.experiment_id, e.experiment, e.started::TIMESTAMP AS started, sum(v.total)::BIGINT AS total,
  sum(v.exclusive)::BIGINT AS exclusive, sum(v.inclusive)::BIGINT AS inclusive, list(DISTINCT v.function_id) FILTER (v.function_id IS NOT NULL) AS ids
FROM experiments e JOIN metrics m ON m.experiment_id = e.experiment_id AND m.metric = `+queries.Quote(f.Metric)+`
LEFT JOIN (
  SELECT experiment_id, function_id, 0 AS total, exclusive, inclusive FROM function_rollup s WHERE `+f.shown("s")+` AND function_key = `+strconv.FormatInt(f.key, 10)+fmt.Sprintf(" AND %t", f.Found > 0)+`
  UNION ALL
  SELECT experiment_id, NULL, inclusive, 0, 0 FROM function_rollup s WHERE `+f.shown("s")+` AND `+isTotal+`
) v ON v.experiment_id = e.experiment_id
GROUP BY ALL ORDER BY started NULLS FIRST, e.experiment`)
	if err != nil {
		return err
	}
	known := map[int64]bool{}
	for _, r := range records {
		ids, _ := r["ids"].([]any)
		for _, id := range ids {
			if n, ok := id.(int64); ok && !known[n] {
				known[n] = true
				f.ids = append(f.ids, n)
			}
		}
		if len(ids) > 0 {
			f.in = r.Text("experiment_id")
		}
	}
	f.Values = pointsOf(records)
	return nil
}

// pointsOf returns a point for each experiment, or for each night if there are more than mostPoints experiments.
func pointsOf(records []queries.Record) Values {
	v := Values{By: "experiment", Points: []Point{}}
	if len(records) > mostPoints {
		v.By = "night"
	}
	for _, r := range records {
		p := Point{Label: r.Text("experiment"), Experiments: 1, Exclusive: float64(r.Number("exclusive")), Inclusive: float64(r.Number("inclusive")), Total: float64(r.Number("total"))}
		if at, ok := r["started"].(time.Time); ok {
			text := at.UTC().Format(time.RFC3339)
			p.Started = &text
		}
		if v.By == "night" {
			if p.Label = ""; p.Started != nil {
				p.Label, _, _ = strings.Cut(*p.Started, "T")
			}
			if n := len(v.Points); n > 0 && v.Points[n-1].Label == p.Label {
				v.Points[n-1].add(p)
				continue
			}
		}
		v.Points = append(v.Points, p)
	}
	if n := len(v.Points) - mostPoints; n > 0 {
		v.Points, v.Left = v.Points[n:], n
	}
	for i := range v.Points {
		p := &v.Points[i]
		n := float64(p.Experiments)
		p.Exclusive, p.Inclusive, p.Total = p.Exclusive/n, p.Inclusive/n, p.Total/n
	}
	return v
}

// add adds the sums of another point.
func (p *Point) add(other Point) {
	p.Experiments += other.Experiments
	p.Exclusive, p.Inclusive, p.Total = p.Exclusive+other.Exclusive, p.Inclusive+other.Inclusive, p.Total+other.Total
}

// describe reads the size and position of the function in the newest experiment that has it.
func (f *Function) describe(ctx context.Context, db *queries.DB) error {
	records, err := db.Records(ctx, `SELECT f.size, f.start_line, (
  SELECT file FROM locations l WHERE l.experiment_id = f.experiment_id AND l.function_no = f.function_no AND l.file <> '' GROUP BY file ORDER BY count(*) DESC, file LIMIT 1) AS file
FROM functions f WHERE f.experiment_id = `+queries.Quote(f.in)+` AND f.function_id IN (`+numbers(f.ids)+`) ORDER BY f.size DESC LIMIT 1`)
	if err != nil || len(records) == 0 {
		return err
	}
	r := records[0]
	if size := r.Number("size"); size > 0 {
		f.Size = &size
	}
	f.File, f.Line = r.Text("file"), r.Number("start_line")
	return nil
}

// readCalls reads the callers and callees. They have the values of the view callers_callees, summed over experiments
// by the keys of functions. Those without a value are left out: a recursive function's stacks count for another one.
func (f *Function) readCalls(ctx context.Context, db *queries.DB, limit int) error {
	records, err := db.Records(ctx, `WITH calls AS MATERIALIZED (
  SELECT s.relation, g.function_id, sum(s.attributed)::BIGINT AS attributed
  FROM call_values s
  JOIN functions f ON f.experiment_id = s.experiment_id AND f.function_no = s.function_no AND f.function_id IN (`+numbers(f.ids)+`)
  JOIN functions g ON g.experiment_id = s.experiment_id AND g.function_no = s.other_no
  WHERE `+f.shown("s")+` AND s.relation <> 'self'
  GROUP BY ALL
), keys AS (
  SELECT s.function_id, min(function_key) AS function_key, `+names+`
  FROM function_rollup s SEMI JOIN calls USING (function_id) WHERE `+f.shown("s")+` GROUP BY s.function_id
)
SELECT relation, function_key, `+names+`, sum(attributed)::BIGINT AS attributed
FROM calls LEFT JOIN keys USING (function_id) GROUP BY ALL HAVING sum(attributed) <> 0`)
	if err != nil {
		return err
	}
	for _, r := range records {
		n := Neighbor{nameOf(r), Value(r.Number("attributed"))}
		if r.Text("relation") == "caller" {
			f.Callers = append(f.Callers, n)
		} else {
			f.Callees = append(f.Callees, n)
		}
	}
	f.Callers, f.Rest.Callers = highest(f.Callers, limit)
	f.Callees, f.Rest.Callees = highest(f.Callees, limit)
	return nil
}

// highest returns the neighbors with the highest values, and what is left out.
func highest(of []Neighbor, limit int) ([]Neighbor, Remainder) {
	slices.SortFunc(of, func(a, b Neighbor) int {
		return cmp.Or(cmp.Compare(b.Attributed, a.Attributed), cmp.Compare(a.Function, b.Function), cmp.Compare(a.LoadObject, b.LoadObject), cmp.Compare(a.Module, b.Module))
	})
	var rest Remainder
	if limit > 0 && len(of) > limit {
		for _, n := range of[limit:] {
			rest.Attributed += n.Attributed
		}
		rest.Count, of = len(of)-limit, of[:limit]
	}
	return of, rest
}

// Against adds the function's values in the experiments of base.
func (f *Function) Against(ctx context.Context, base *queries.DB) error {
	f.Base = &OfBase{}
	var err error
	if f.Base.Coverage, err = Cover(ctx, base, f.Metric); err != nil {
		return err
	}
	if f.Base.Total, err = Total(ctx, base, &f.Measure); err != nil || f.Found == 0 {
		return err
	}
	const sums = "SELECT COALESCE(sum(exclusive), 0)::BIGINT, COALESCE(sum(inclusive), 0)::BIGINT FROM function_sums s WHERE function_key = ? AND "
	return base.QueryRowContext(ctx, sums+f.shown("s"), f.key).Scan((*int64)(&f.Base.Exclusive), (*int64)(&f.Base.Inclusive))
}

// numbers writes integers for SQL, separated by commas; NULL if there are none.
func numbers(ids []any) string {
	if len(ids) == 0 {
		return "NULL"
	}
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = fmt.Sprint(id)
	}
	return strings.Join(texts, ", ")
}
