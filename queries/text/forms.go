//go:build cgo

package text

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/report"
	"stackmill/schema"
)

// forms prints each row as a form: a line for each column.
func (r *Report) forms(_ context.Context, q *report.Question, rows []queries.Record) error {
	w := r.Page()
	shown := atMost(r.Limit, rows)
	left := leftOut{what: "rows", rows: len(rows) - len(shown)}
	for i, rec := range shown {
		if i > 0 {
			w.Printf("\n")
		}
		if r.nameColumn() != "experiment" {
			r.groupTitle(w, q, rec)
		}
		for _, c := range r.Columns {
			title, second := strings.CutSuffix(c.Title, " s")
			value := cellsOf(c, rec)[0]
			if second && value != "" {
				value += " s"
			}
			w.Printf("%30s: %s\n", title, value)
		}
	}
	left.print(w)
	return w.Flush()
}

// functionSummary prints all that is known of each function, with all metrics.
func (r *Report) functionSummary(_ context.Context, q *report.Question, rows []queries.Record) error {
	w := r.Page()
	slices.SortStableFunc(rows, func(a, b queries.Record) int {
		return cmp.Or(cmp.Compare(a.Text("experiment"), b.Text("experiment")), cmp.Compare(a.Text("experiment_id"), b.Text("experiment_id")),
			cmp.Compare(metricRank(a), metricRank(b)))
	})
	var functions [][]queries.Record // in the order of the first metric
	at := map[[2]any]int{}
	for _, rec := range rows {
		key := [2]any{rec["experiment_id"], rec["function_id"]}
		k, known := at[key]
		if !known {
			k = len(functions)
			at[key], functions = k, append(functions, nil)
		}
		functions[k] = append(functions[k], rec)
	}
	shown, left := 0, leftOut{what: "functions"}
	for i, f := range functions {
		if i == 0 || f[0]["experiment_id"] != functions[i-1][0]["experiment_id"] {
			shown = 0
			if r.DB.Count > 1 && !r.Sum {
				w.Printf("Experiment %s\n\n", f[0].Text("experiment"))
			}
		}
		if shown++; r.Limit == 0 || shown <= r.Limit {
			functionForm(w, f)
			continue
		}
		left.rows++
	}
	left.print(w)
	return w.Flush()
}

// metricRank returns the position of a row's metric in schema.Declared.
func metricRank(rec queries.Record) int {
	i := slices.IndexFunc(schema.Declared, func(m schema.Metric) bool { return m.Name == rec.Text("metric") })
	if i < 0 {
		return len(schema.Declared)
	}
	return i
}

// functionForm prints a function's rows, one for each metric.
func functionForm(w *terminal.Page, rows []queries.Record) {
	first := rows[0]
	w.Printf("%s\n", first.Text("label"))
	for _, rec := range rows {
		for _, flavor := range []string{"Exclusive", "Inclusive"} {
			n := rec.Number(strings.ToLower(flavor))
			value := Value(n, rec.Text("unit"))
			if rec.Text("unit") == "ns" {
				value += " s"
			}
			w.Printf("%40s: %s (%s%%)\n", flavor+" "+cmp.Or(rec.Text("title"), rec.Text("metric")), value, Percent(n, rec.Number("total")))
		}
	}
	w.Printf("%40s: %d\n%40s: %#x\n", "Size", first.Number("size"), "Address", uint64(first.Number("address")))
	for _, c := range []struct{ title, column string }{
		{"Kind", "kind"}, {"Module", "module"}, {"Load object", "object_path"}, {"Linkage name", "linkage_name"}, {"Aliases", "aliases"},
	} {
		w.Printf("%40s: %s\n", c.title, strings.ReplaceAll(first.Text(c.column), "\t", ", "))
	}
	w.Printf("\n")
}
