//go:build cgo

package text

import (
	"context"
	"fmt"
	"path"
	"strings"

	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/report"
)

// callStacks prints stacks with their values, from the leaf of each.
func (r *Report) callStacks(ctx context.Context, q *report.Question, rows []queries.Record) error {
	return r.sections(q, rows, func(w *terminal.Page, group []queries.Record) error {
		w.Printf("<Total>: stacks %d, %s\n", len(group), r.valuesOf(r.total(group[0])))
		group = atMost(r.Limit, group)
		frames, err := q.Frames(ctx, group)
		if err != nil {
			return err
		}
		for k, rec := range group {
			w.Printf("\n#%d: %s\n", k+1, r.valuesOf(rec))
			for _, f := range frames[rec.Number("stack_id")] {
				w.Printf("  %s%s\n", f.Text("name"), placeIn(f))
			}
		}
		return nil
	})
}

// valuesOf lists the values of a row that are not 0.
func (r *Report) valuesOf(rec queries.Record) string {
	var values []string
	for _, c := range r.Columns {
		if (c.As == report.Count || c.As == report.Time) && rec.Number(c.Name) != 0 {
			title, second := strings.CutSuffix(strings.ToLower(c.Title), " s")
			value := cellsOf(c, rec)[0]
			if second {
				title, value = title+" time", value+" s"
			}
			values = append(values, title+" "+value)
		}
	}
	return strings.Join(values, ", ")
}

// placeIn is where a frame's instruction is in its function, as far as that is known.
func placeIn(frame queries.Record) string {
	place := ""
	if frame["distance"] != nil {
		place = fmt.Sprintf(" + 0x%08X", frame.Number("distance"))
	}
	if n := frame.Number("line"); n > 0 {
		place += fmt.Sprintf(", line %d in %q", n, path.Base(frame.Text("file")))
	}
	return place
}
