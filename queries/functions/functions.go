// Package functions sums the values of functions over experiments: for tables of functions, and for one function
// with its callers and callees.
//
// Start reading with One.
package functions

import (
	"context"
	"encoding/json"

	"stackmill/queries"
	"stackmill/queries/result"
)

// Measure is what values are about: one metric in one mode.
type Measure struct {
	Metric string `json:"metric"`
	Unit   string `json:"unit"`
	Mode   string `json:"mode"`
	Inline bool   `json:"inline"` // inlined functions are functions of their own
}

// inMode returns the SQL condition for rows of a value table that are of the measure's mode.
func (m *Measure) inMode(table string) string {
	if m.Inline {
		return table + ".in_" + m.Mode + "_inlined"
	}
	return table + ".in_" + m.Mode
}

// shown returns the SQL condition for rows of a value table that are of the measure's mode and metric.
func (m *Measure) shown(table string) string {
	return m.inMode(table) + " AND " + table + ".metric = " + queries.Quote(m.Metric)
}

// Value is a sum of a metric. JSON has it as a text if some readers would round it.
type Value int64

// MarshalJSON implements json.Marshaler.
func (v Value) MarshalJSON() ([]byte, error) { return json.Marshal(result.Exact(int64(v), "")) }

// Name identifies a function for people: several functions may have the same name in other modules.
type Name struct {
	Function   string `json:"function"`
	LoadObject string `json:"load_object"`
	Module     string `json:"module"`
	Kind       string `json:"kind"`
}

// isTotal is the SQL condition for the row <Total>.
const isTotal = `"function" = '<Total>' AND kind = 'artificial'`

// names has the columns of Name for rows that are grouped by function.
const names = `min("function") AS "function", min(load_object) AS load_object, min(module) AS module, min(kind) AS kind`

// nameOf returns the name in a record with the columns of names.
func nameOf(r queries.Record) Name {
	return Name{r.Text("function"), r.Text("load_object"), r.Text("module"), r.Text("kind")}
}

// Total returns the metric's value of <Total>, summed over the experiments.
func Total(ctx context.Context, db *queries.DB, m *Measure) (total Value, err error) {
	err = db.QueryRowContext(ctx, "SELECT COALESCE(sum(inclusive), 0)::BIGINT FROM function_sums s WHERE "+m.shown("s")+" AND "+isTotal).Scan((*int64)(&total))
	return total, err
}

// Coverage says how many of the experiments have a metric.
type Coverage struct {
	Experiments int      `json:"experiments"` // number of experiments that have the metric
	Lacking     int      `json:"lacking"`     // number of experiments that do not
	Without     []string `json:"without"`     // names of the first of these
}

// namedLacking is the largest number of experiments without a metric that an answer names.
const namedLacking = 20

// Cover returns how many experiments of db have a metric.
func Cover(ctx context.Context, db *queries.DB, metric string) (c Coverage, err error) {
	known, err := db.Metrics(ctx)
	if err != nil {
		return c, err
	}
	has := map[string]bool{}
	for _, m := range known {
		if m.Name == metric {
			for _, id := range m.Experiments {
				has[id] = true
			}
		}
	}
	c.Without = []string{}
	for _, e := range db.Experiments() {
		switch {
		case has[e.ExperimentID]:
			c.Experiments++
		case len(c.Without) < namedLacking:
			c.Without = append(c.Without, e.Name)
		}
	}
	c.Lacking = db.Count - c.Experiments
	return c, nil
}
