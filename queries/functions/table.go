package functions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackmill/queries"
	"stackmill/queries/flametree"
	"stackmill/queries/report"
)

// Groups are what the rows of a table can be.
var Groups = []string{"function", "module", "load-object", "package"}

// Extras are columns that a table has on request: the bytes of a function's code, and its values by experiment or
// night.
var Extras = []string{"size", "history"}

// TableRequest asks for a part of a table.
type TableRequest struct {
	Metrics []Measure // at least one, all in the same mode; the first one is sorted by unless Sort says otherwise
	Group   string    // one of Groups
	Runs    bool      // columns for each run
	Search  string    // only rows whose name, module or load object contain it or, if it is /.../, match it
	Sort    string    // see sorter; -COLUMN reverses
	Offset  int
	Limit   int
	Extras  []string // some of Extras

	// Layout returns the call trees of the experiments or of those of the base, for rows of packages.
	Layout func(base bool, m *Measure) (*flametree.Layout[int64], error)
}

// Table has rows with the sums over the experiments, from TableRequest.Offset on.
type Table struct {
	Mode    string        `json:"mode"`
	Inline  bool          `json:"inline"`
	Group   string        `json:"group"`
	Metrics []TableMetric `json:"metrics"`
	Runs    []Run         `json:"runs"`   // what the rows' run values are; empty unless requested
	Spread  bool          `json:"spread"` // Runs are quantiles over all runs
	Nights  []string      `json:"nights"` // what the rows' history is by, oldest first; empty unless requested
	All     int           `json:"all"`    // number of rows without the search
	Count   int           `json:"count"`  // number of rows that the search leaves
	Found   []Value       `json:"found"`  // by metric: the sum of these rows' exclusive values
	Offset  int           `json:"offset"`
	Rows    []Row         `json:"rows"`
}

// TableMetric is a metric of a table, with what its values are shares of.
type TableMetric struct {
	Metric string `json:"metric"`
	Unit   string `json:"unit"`
	Coverage
	Total Value   `json:"total"` // what the filter leaves: the value of <Total>
	Whole Value   `json:"whole"` // the value of <Total> without the filter
	Base  *OfBase `json:"base,omitempty"`
}

// Run is a column of values: one experiment or, if there are more than mostRuns, a quantile over all of them.
type Run struct {
	Label   string  `json:"label"` // the experiment's name; lowest, median or highest
	Started *string `json:"started"`
	Total   float64 `json:"total"` // the value of <Total> in the experiment, or the quantile of these values
	id      string
}

// mostRuns is the largest number of experiments that have columns of their own.
const mostRuns = 12

// Row is a row of a table. Lists of values have one for each metric; a function without a value has 0.
type Row struct {
	Name
	Exclusive []Value    `json:"exclusive"`
	Inclusive []Value    `json:"inclusive"`
	Base      *BaseSums  `json:"base,omitempty"`
	Runs      *RunValues `json:"runs,omitempty"`
	Size      int64      `json:"size"`    // bytes of code, the most of all builds; 0 unless requested and known
	History   []float64  `json:"history"` // by Table.Nights: the mean exclusive value of the runs; nil unless requested
	key       string     // identifies the row in all builds
}

// BaseSums has the row's values in the base experiments, by metric.
type BaseSums struct {
	Exclusive []Value `json:"exclusive"`
	Inclusive []Value `json:"inclusive"`
}

// RunValues has the row's values by Table.Runs, of the first metric.
type RunValues struct {
	Exclusive []float64 `json:"exclusive"`
	Inclusive []float64 `json:"inclusive"`
}

// TableReads lists the tables and views that Read reads.
func TableReads(group string) []string {
	reads := []string{"function_sums", "function_rollup", "functions", "experiments", "metrics", "default_metrics"}
	switch group {
	case "module":
		reads = append(reads, "module_metrics", "modules", "load_objects")
	case "load-object":
		reads = append(reads, "load_object_metrics", "load_objects")
	}
	return reads
}

// Read returns a part of a table. base may be nil.
func Read(ctx context.Context, db, base *queries.DB, r *TableRequest) (*Table, error) {
	first := r.Metrics[0]
	t := &Table{Mode: first.Mode, Inline: first.Inline, Group: r.Group, Runs: []Run{}, Nights: []string{}, Rows: []Row{}, Found: make([]Value, len(r.Metrics))}
	matches, err := matcher(r.Search)
	if err != nil {
		return nil, err
	}
	for i := range r.Metrics {
		m, err := describeMetric(ctx, db, base, &r.Metrics[i])
		if err != nil {
			return nil, err
		}
		t.Metrics = append(t.Metrics, m)
	}
	if r.Runs && r.Group == "package" {
		return nil, errors.New("runs: packages have no values by run (choose functions, modules or load objects)")
	}
	if r.Runs {
		if err := t.chooseRuns(ctx, db, &first); err != nil {
			return nil, err
		}
	}
	rows, err := t.readRows(ctx, db, r, t.Runs, false)
	if err != nil {
		return nil, err
	}
	if base != nil {
		of, err := t.readRows(ctx, base, r, nil, true)
		if err != nil {
			return nil, err
		}
		rows = join(rows, of, len(r.Metrics))
	}
	t.All = len(rows)
	rows = slices.DeleteFunc(rows, func(row Row) bool { return !matches(&row.Name) })
	t.Count = len(rows)
	order, err := t.sorter(ctx, db, r, rows)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		for m, v := range rows[i].Exclusive {
			t.Found[m] += v
		}
	}
	slices.SortFunc(rows, order)
	t.Offset = min(r.Offset, len(rows))
	t.Rows = append(t.Rows, rows[t.Offset:min(t.Offset+r.Limit, len(rows))]...)
	return t, t.addColumns(ctx, db, r)
}

// describeMetric returns a metric of a table. Whole is the same as Total, for sessions without a filter.
func describeMetric(ctx context.Context, db, base *queries.DB, m *Measure) (t TableMetric, err error) {
	t.Metric, t.Unit = m.Metric, m.Unit
	if t.Coverage, err = Cover(ctx, db, m.Metric); err != nil {
		return t, err
	}
	if t.Total, err = Total(ctx, db, m); err != nil || base == nil {
		t.Whole = t.Total
		return t, err
	}
	t.Whole, t.Base = t.Total, &OfBase{}
	if t.Base.Coverage, err = Cover(ctx, base, m.Metric); err != nil {
		return t, err
	}
	t.Base.Total, err = Total(ctx, base, m)
	t.Base.Exclusive, t.Base.Inclusive = t.Base.Total, t.Base.Total
	return t, err
}

// matcher returns a function that tests names against a search.
func matcher(search string) (func(*Name) bool, error) {
	has, err := queries.ParseSearch(search)
	if err != nil {
		return nil, err
	}
	if has == nil {
		return func(*Name) bool { return true }, nil
	}
	return func(n *Name) bool { return has(n.Function) || has(n.LoadObject) || has(n.Module) }, nil
}

// readRows returns all rows, without <Total>. Those of modules and load objects have the values of runs.
func (t *Table) readRows(ctx context.Context, db *queries.DB, r *TableRequest, runs []Run, base bool) ([]Row, error) {
	if r.Group == "package" {
		return t.packageRows(r, base)
	}
	statement, err := functionRows(r), error(nil)
	if r.Group == "function" {
		runs = nil
	} else if statement, err = t.groupRows(ctx, db, r, runs); err != nil || statement == "" {
		return nil, err
	}
	found, err := db.QueryContext(ctx, statement)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var rows []Row
	n, known := len(r.Metrics), map[string]int{}
	for found.Next() {
		row := Row{Exclusive: make([]Value, n), Inclusive: make([]Value, n)}
		targets := []any{&row.key, &row.Function, &row.LoadObject, &row.Module, &row.Kind}
		for i := range n {
			targets = append(targets, (*int64)(&row.Exclusive[i]), (*int64)(&row.Inclusive[i]))
		}
		if runs != nil {
			row.Runs = newRunValues(len(runs))
			for i := range runs {
				targets = append(targets, &row.Runs.Exclusive[i], &row.Runs.Inclusive[i])
			}
		}
		if err := found.Scan(targets...); err != nil {
			return nil, err
		}
		if known[row.key]++; known[row.key] > 1 { // another load object with the same name
			row.key += fmt.Sprint(" #", known[row.key])
		}
		rows = append(rows, row)
	}
	return rows, found.Err()
}

// packageRows returns the rows of packages, from the call trees: only these tell which samples pass a package.
func (t *Table) packageRows(r *TableRequest, base bool) ([]Row, error) {
	var rows []Row
	at := map[flametree.Function]int{}
	for m := range r.Metrics {
		if of := &t.Metrics[m]; base && of.Base.Experiments == 0 || !base && of.Experiments == 0 {
			continue // no call tree has the metric
		}
		l, err := r.Layout(base, &r.Metrics[m])
		if err != nil {
			return nil, err
		}
		g := flametree.NewCallGraph(l, r.Group)
		exclusive, inclusive := g.Values()
		for i, f := range g.Names {
			if f.Kind == "artificial" && f.Name == "<Total>" {
				continue
			}
			n, ok := at[f]
			if !ok {
				n = len(rows)
				at[f] = n
				rows = append(rows, Row{Name: Name{f.Name, f.LoadObject, f.Module, f.Kind}, key: f.Kind + " " + f.Name,
					Exclusive: make([]Value, len(r.Metrics)), Inclusive: make([]Value, len(r.Metrics))})
			}
			rows[n].Exclusive[m], rows[n].Inclusive[m] = Value(exclusive[i]), Value(inclusive[i])
		}
	}
	return rows, nil
}

// functionRows returns SQL for the rows of functions: their key, name and values.
func functionRows(r *TableRequest) string {
	values := ""
	var metrics []string
	for i := range r.Metrics {
		metrics = append(metrics, r.Metrics[i].Metric)
		values += summedOf(r.Metrics[i].Metric)
	}
	return `SELECT function_key::VARCHAR, ` + names + values + ` FROM function_sums s
WHERE ` + r.Metrics[0].inMode("s") + ` AND metric IN (` + queries.Quote(metrics...) + `) AND NOT (` + isTotal + `) GROUP BY function_key`
}

// summedOf returns SQL for two columns with the sums of a metric's values.
func summedOf(metric string) (columns string) {
	for _, c := range []string{"exclusive", "inclusive"} {
		columns += fmt.Sprintf(", COALESCE(sum(%s) FILTER (metric = %s), 0)::BIGINT", c, queries.Quote(metric))
	}
	return columns
}

// groupRows returns SQL for the rows of modules or load objects, from the report's sum over the experiments; empty if
// no experiment has one of the metrics.
func (t *Table) groupRows(ctx context.Context, db *queries.DB, r *TableRequest, runs []Run) (string, error) {
	known, err := db.Metrics(ctx)
	if err != nil {
		return "", err
	}
	var metrics []string
	values := ""
	for i := range r.Metrics {
		name := r.Metrics[i].Metric
		if slices.ContainsFunc(known, func(m queries.Metric) bool { return m.Name == name }) {
			metrics = append(metrics, name)
		}
		values += summedOf(name)
	}
	if len(metrics) == 0 {
		return "", nil
	}
	of := report.Defaults()
	of.Metric, of.Mode, of.Sum = strings.Join(metrics, ","), r.Metrics[0].Mode, true
	for i, run := range runs {
		for _, column := range []string{"exclusive", "inclusive"} {
			name := report.SpreadOf(column, report.Spread[min(i, len(report.Spread)-1)])
			if !t.Spread {
				of.By = "experiment_id"
				name = report.DividedColumn(column, report.ByColumn{Name: "experiment_id=" + run.id})
			}
			values += fmt.Sprintf(`, COALESCE(max("%s") FILTER (metric = %s), 0)::DOUBLE`, name, queries.Quote(r.Metrics[0].Metric))
		}
	}
	if err := of.About(r.Group+"s", true); err != nil {
		return "", err
	}
	q, err := report.Ask(ctx, db, &of)
	if err != nil {
		return "", err
	}
	columns, by := `load_object || chr(10) || any_value("module"), any_value("module"), load_object, any_value("module"), 'module'`, "module_id, load_object"
	if r.Group == "load-object" {
		columns, by = `load_object || chr(10) || COALESCE(any_value(path), ''), load_object, load_object, '', 'load object'`, "load_object_id, load_object"
	}
	return "SELECT " + columns + values + " FROM (" + q.Statement() + ") GROUP BY " + by, nil
}

// join adds the values of the base's rows, and the rows that only the base has.
func join(rows, base []Row, metrics int) []Row {
	at := make(map[string]int, len(rows))
	for i := range rows {
		rows[i].Base = &BaseSums{make([]Value, metrics), make([]Value, metrics)}
		at[rows[i].key] = i
	}
	for _, b := range base {
		sums := &BaseSums{b.Exclusive, b.Inclusive}
		if i, ok := at[b.key]; ok {
			rows[i].Base = sums
			continue
		}
		b.Exclusive, b.Inclusive, b.Base = make([]Value, metrics), make([]Value, metrics), sums
		rows = append(rows, b)
	}
	return rows
}

// sorter returns the order of rows: by the values of a column, highest first, or by names. Columns are exclusive and
// inclusive (of the first metric), exclusive.N and inclusive.N of metric N from 0, run.N of a run, function,
// load_object and module. With a base, exclusive and inclusive compare the size of the difference between the means
// of the sides' experiments, and base-exclusive and base-inclusive the values of the base.
func (t *Table) sorter(ctx context.Context, db *queries.DB, r *TableRequest, rows []Row) (func(a, b Row) int, error) {
	column, reverse := strings.CutPrefix(r.Sort, "-")
	column = cmp.Or(column, "exclusive")
	value, text, err := t.sortValues(ctx, db, column, r, rows)
	if err != nil {
		return nil, err
	}
	return func(a, b Row) int {
		by := 0
		if text != nil {
			by = cmp.Compare(text(&a), text(&b))
		} else {
			by = cmp.Compare(value(&b), value(&a))
		}
		if reverse {
			by = -by
		}
		return cmp.Or(by, cmp.Compare(b.Exclusive[0], a.Exclusive[0]), cmp.Compare(b.Inclusive[0], a.Inclusive[0]), cmp.Compare(a.Function, b.Function),
			cmp.Compare(a.LoadObject, b.LoadObject), cmp.Compare(a.Module, b.Module), cmp.Compare(a.key, b.key))
	}, nil
}

// sortValues returns what rows are compared by: a value or a text.
func (t *Table) sortValues(ctx context.Context, db *queries.DB, column string, r *TableRequest, rows []Row) (value func(*Row) float64, text func(*Row) string, err error) {
	name, at, numbered := strings.Cut(column, ".")
	n := 0
	if numbered {
		if n, err = strconv.Atoi(at); err != nil {
			n = -1
		}
	}
	switch {
	case column == "function":
		return nil, func(row *Row) string { return row.Function }, nil
	case column == "load_object":
		return nil, func(row *Row) string { return row.LoadObject }, nil
	case column == "module":
		return nil, func(row *Row) string { return row.Module }, nil
	case name == "run" && numbered && n >= 0 && n < len(t.Runs):
		if err := t.addRuns(ctx, db, r, rows); err != nil {
			return nil, nil, err
		}
		return func(row *Row) float64 { return float64(row.Runs.Exclusive[n]) }, nil, nil
	case n < 0 || n >= len(t.Metrics):
	case name == "exclusive" || name == "inclusive":
		return t.valueOf(name, n, !numbered), nil, nil
	case (name == "base-exclusive" || name == "base-inclusive") && t.Metrics[0].Base != nil:
		return func(row *Row) float64 {
			if name == "base-exclusive" {
				return float64(row.Base.Exclusive[n])
			}
			return float64(row.Base.Inclusive[n])
		}, nil, nil
	}
	return nil, nil, fmt.Errorf("sort: no column %q (use exclusive, inclusive, exclusive.N or inclusive.N of the metric N from 0, run.N with runs, function, load_object or module; with base also base-exclusive or base-inclusive)", r.Sort)
}

// valueOf returns a row's value of a metric or, if there is a base and difference is set, how much its mean differs.
func (t *Table) valueOf(what string, n int, difference bool) func(*Row) float64 {
	of := func(row *Row) []Value {
		if what == "inclusive" {
			return row.Inclusive
		}
		return row.Exclusive
	}
	m := &t.Metrics[n]
	if m.Base == nil || !difference {
		return func(row *Row) float64 { return float64(of(row)[n]) }
	}
	return func(row *Row) float64 {
		base := row.Base.Exclusive[n]
		if what == "inclusive" {
			base = row.Base.Inclusive[n]
		}
		d := mean(of(row)[n], m.Experiments) - mean(base, m.Base.Experiments)
		return max(d, -d)
	}
}

// mean returns the mean of n experiments; 0 if there are none.
func mean(sum Value, n int) float64 {
	if n == 0 {
		return 0
	}
	return float64(sum) / float64(n)
}
