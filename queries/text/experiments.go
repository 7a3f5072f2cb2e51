//go:build cgo

package text

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
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
	defer rows.Close()
	values, targets := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	var cells [][]string
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		row := make([]string, len(columns))
		for i, c := range columns {
			switch v := values[i].(type) {
			case map[string]any:
				row[i] = pairs(v)
			case int64:
				if row[i] = strconv.FormatInt(v, 10); c == "duration_ns" {
					row[i] = Value(v, "ns")
				}
			default:
				row[i] = result.Cell(v, "")
			}
		}
		cells = append(cells, row)
	}
	if err := rows.Err(); err != nil {
		return err
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
