//go:build cgo

package text

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/result"
	"stackmill/schema"
)

// Experiments prints the experiments of a store, at most limit (0: all), as a table or in Markdown.
// wide adds their paths.
func Experiments(ctx context.Context, out *terminal.Output, db *queries.DB, wide bool, format string, limit int) error {
	columns := []string{"experiment", "started", "started_from", "duration_ns", "processes", "samples", "status", "errors", "warnings", "target", "host", "ingested", "labels", "experiment_id"}
	fields := []terminal.Field{
		{Name: "Experiment"}, {Name: "Started"}, {Name: "Duration s", Numeric: true},
		{Name: "Processes", Numeric: true}, {Name: "Samples", Numeric: true}, {Name: "Status"},
		{Name: "Errors", Numeric: true}, {Name: "Warnings", Numeric: true}, {Name: "Program"}, {Name: "Host"},
		{Name: "Ingested"}, {Name: "Labels"}, {Name: "Id"},
	}
	if wide {
		columns, fields = append(columns, "path"), append(fields, terminal.Field{Name: "Path"})
	}
	rows, err := db.ListExperiments(ctx, columns...)
	if err != nil {
		return err
	}
	records, err := queries.ScanRecords(rows)
	if err != nil {
		return err
	}
	more := 0
	if limit > 0 && len(records) > limit {
		records, more = records[:limit], len(records)-limit
	}
	cells := make([][]string, len(records))
	for i, rec := range records {
		for _, c := range columns {
			cell := result.Cell(rec[c], "")
			switch c {
			case "started":
				cell = started(rec)
			case "started_from":
				continue // in the column before
			case "labels":
				labels, _ := rec[c].(map[string]any)
				cell = pairs(labels)
			case "duration_ns":
				cell = Value(rec.Number(c), "ns")
			}
			cells[i] = append(cells[i], cell)
		}
	}
	if err := out.Table(fields, cells, format == "markdown"); err != nil {
		return err
	}
	return result.More(out, format, more)
}

// started formats the start of an experiment, to the second, with its source unless it was recorded.
func started(rec queries.Record) string {
	at, known := rec["started"].(time.Time)
	if !known {
		return ""
	}
	text := at.UTC().Format("2006-01-02T15:04:05Z")
	if from := rec.Text("started_from"); from != schema.StartedAsRecorded {
		text += " (" + from + ")"
	}
	return text
}

// pairs formats labels as KEY=VALUE.
func pairs(labels map[string]any) string {
	var words []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		words = append(words, fmt.Sprintf("%s=%v", key, labels[key]))
	}
	return strings.Join(words, " ")
}

// Check prints the result of a check.
func Check(out *terminal.Output, p *queries.CheckReport) error {
	line := func(finding queries.Finding) string { return strings.ReplaceAll(finding.String(), "\n", " ") }
	w := out.Page()
	w.Printf("%s in %s, %s: %d rows in %d bytes are as committed\n", Plural(p.Experiments, "experiment"), Plural(p.Batches, "batch"), Plural(p.Files, "file"), p.Rows, p.Bytes)
	if n := p.LeftOut; n.Batches > 0 {
		w.Printf("%s in %s, committed earlier, were not verified, but their files exist\n", Plural(n.Experiments, "experiment"), Plural(n.Batches, "batch"))
	}
	if p.Invariants > 0 {
		w.Printf("%d keys and %d invariants of the views were checked\n", p.Keys, p.Invariants)
	} else {
		w.Printf("the views were not checked\n")
	}
	if len(p.Doubted) > 0 {
		w.Printf("%s verified by SQL instead (%s)\n", Plural(len(p.Doubted), "experiment"), line(p.Doubted[0]))
	}
	if len(p.Wrong) == 0 {
		w.Printf("nothing is wrong\n")
	}
	for _, finding := range p.Wrong {
		w.Printf("wrong: %s\n", line(finding))
	}
	for _, finding := range p.Notes {
		w.Printf("note: %s\n", line(finding))
	}
	return w.Flush()
}
