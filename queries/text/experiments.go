//go:build cgo

package text

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/result"
)

// Experiments prints the experiments of a store, with their paths if wide.
func Experiments(ctx context.Context, out *terminal.Output, db *queries.DB, wide, markdown bool) error {
	columns := []string{"experiment", "started", "duration_ns", "processes", "samples", "status", "errors", "warnings", "target", "host", "ingested", "labels", "experiment_id"}
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
	cells := make([][]string, len(records))
	for i, rec := range records {
		for _, c := range columns {
			cell := result.Cell(rec[c], "")
			switch c {
			case "labels":
				labels, _ := rec[c].(map[string]any)
				cell = pairs(labels)
			case "duration_ns":
				cell = Value(rec.Number(c), "ns")
			}
			cells[i] = append(cells[i], cell)
		}
	}
	return out.Table(fields, cells, markdown)
}

// pairs formats labels as KEY=VALUE.
func pairs(labels map[string]any) string {
	var words []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		words = append(words, fmt.Sprintf("%s=%v", key, labels[key]))
	}
	return strings.Join(words, " ")
}
