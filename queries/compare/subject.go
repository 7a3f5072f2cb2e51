package compare

import (
	"fmt"

	"stackmill/queries"
)

// Subjects are what rows can be.
var Subjects = []string{"function"}

// subject is one kind of rows.
type subject struct {
	names []string // of the columns that name a row
	// values is SQL of rows with the identity, which <Total> lacks, the names, and the
	// values of runs: two lists, of the runs' numbers and of what each has.
	values func(c *comparison) string
}

var subjects = map[string]*subject{
	"function": {names: []string{"function", "load_object", "module", "kind"}, values: functionValues},
}

// item is what is compared, in all runs.
type item struct {
	names   []string
	values  []float64 // by run; 0 in those that do not have it
	matched string    // how the base's was found to be the test's
}

func functionValues(c *comparison) string {
	return fmt.Sprintf(`SELECT CASE WHEN "function" = '<Total>' AND kind = 'artificial' THEN NULL ELSE function_key END AS identity, "function", load_object, module, kind, list(n) AS ns, list(%s) AS vs
		FROM function_rollup JOIN runs USING (experiment_id)
		WHERE metric = %s AND modes & %d <> 0 GROUP BY ALL`, c.column(), queries.Quote(c.Metric), modeBits[c.Mode])
}

// column is the column with the values that are compared.
func (c *comparison) column() string {
	if c.Inclusive {
		return "inclusive"
	}
	return "exclusive"
}

// read reads all values, and finds <Total>, which is the first item then.
func (c *comparison) read() error {
	s := subjects[c.By]
	rows, err := c.db.QueryContext(c.ctx, "WITH "+c.runTable()+" "+s.values(c))
	if err != nil {
		return err
	}
	defer rows.Close()
	total := &item{names: make([]string, len(s.names)), values: make([]float64, len(c.runs))}
	total.names[0] = "<Total>"
	c.items = append(c.items, total)
	known := map[any]*item{}
	var identity, ns, vs any
	names := make([]string, len(s.names))
	targets := []any{&identity}
	for i := range names {
		targets = append(targets, &names[i])
	}
	targets = append(targets, &ns, &vs)
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		it := known[identity]
		switch {
		case identity == nil:
			it = total
		case it == nil:
			it = &item{values: make([]float64, len(c.runs))}
			known[identity] = it
			c.items = append(c.items, it)
		}
		it.names = append(it.names[:0], names...)
		add(it.values, ns, vs)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	c.normalise(total.values)
	return nil
}

// add adds the values of a row to those of the runs.
func add(values []float64, ns, vs any) {
	value := vs.([]any)
	for i, n := range ns.([]any) {
		if v, ok := value[i].(int64); ok {
			values[n.(int32)] += float64(v)
		}
	}
}

// normalise makes the runs' values comparable as the request wants it.
func (c *comparison) normalise(totals []float64) {
	for n := range c.runs {
		switch c.runs[n].unit = 1; c.Normalise {
		case "total":
			c.runs[n].unit = totals[n]
		case "run":
			c.runs[n].unit = c.runs[n].seconds
		}
	}
	for _, it := range c.items {
		for n, v := range it.values {
			if v != 0 {
				it.values[n] = v / c.runs[n].unit
			}
		}
	}
}

// Columns are the names of the columns that name a row.
func (r *Result) Columns() []string { return subjects[r.By].names }
