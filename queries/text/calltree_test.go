package text

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/report"
)

// TestDeepTree prints a path deeper than indentation goes.
func TestDeepTree(t *testing.T) {
	var rows []queries.Record
	for i := range int64(5000) {
		rec := queries.Record{"node_id": i, "depth": int32(i), "label": fmt.Sprint("f", i), "attributed": int64(1), "exclusive": int64(0), "total": int64(1), "unit": "count"}
		if i > 0 {
			rec["parent_id"] = i - 1
		}
		rows = append(rows, rec)
	}
	var out bytes.Buffer
	w := (&terminal.Output{Stdout: &out}).Page()
	r := Report{Request: report.Request{Report: report.Report{Columns: []report.Column{{Name: "exclusive"}}}, Limit: 4999}}
	shown, left := r.highest(rows)
	for _, root := range tree(shown) {
		printTree(w, root, nil)
	}
	if left.rows != 1 {
		t.Errorf("%d nodes are left out, the limit leaves 1", left.rows)
	}
	w.Flush()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 4999 {
		t.Errorf("%d lines, the limit is 4999", len(lines))
	}
	last := lines[len(lines)-1]
	if !strings.HasSuffix(last, " [4998] +-f4998") || len(last) > 200 {
		t.Errorf("the last line is %q", last)
	}
}
