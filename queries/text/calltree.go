//go:build cgo

package text

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/report"
)

// maxIndent bounds the indentation of the call tree: recursion makes paths of thousands of frames.
const maxIndent = 60

// treeNode is a node of the printed call tree.
type treeNode struct {
	queries.Record
	children []*treeNode
}

// callTree prints the call tree. At each node, branches with larger values come first.
func (r *Report) callTree(_ context.Context, q *report.Question, rows []queries.Record) error {
	return r.sections(q, rows, func(w *terminal.Page, group []queries.Record) (leftOut, error) {
		w.Printf("%12s %6s %12s  %s\n", "Attr."+unitOf(group), "%", "Excl."+unitOf(group), "Function")
		nodes, left := r.highest(group)
		for _, root := range tree(nodes) {
			printTree(w, root, nil)
		}
		return left, nil
	})
}

// highest returns the nodes with the highest values, up to the limit, and describes the nodes that it
// leaves out. It never returns a node without its caller, whose value is at least as high.
func (r *Report) highest(rows []queries.Record) ([]queries.Record, leftOut) {
	if r.Limit == 0 || len(rows) <= r.Limit {
		return rows, leftOut{}
	}
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b queries.Record) int {
		return cmp.Or(cmp.Compare(b.Number("attributed"), a.Number("attributed")), cmp.Compare(a.Number("depth"), b.Number("depth")))
	})
	return r.limited(sorted, "nodes")
}

// tree links the rows to nodes of a tree, and returns its roots.
func tree(rows []queries.Record) []*treeNode {
	byID := map[int64]*treeNode{}
	for _, rec := range rows {
		byID[rec.Number("node_id")] = &treeNode{Record: rec}
	}
	var roots []*treeNode
	for _, rec := range rows {
		n := byID[rec.Number("node_id")]
		if parent := byID[rec.Number("parent_id")]; rec["parent_id"] != nil && parent != nil {
			parent.children = append(parent.children, n)
		} else {
			roots = append(roots, n)
		}
	}
	for _, n := range byID {
		slices.SortFunc(n.children, func(a, b *treeNode) int {
			return cmp.Or(cmp.Compare(b.Number("attributed"), a.Number("attributed")), cmp.Compare(a.Text("label"), b.Text("label")),
				cmp.Compare(a.Number("node_id"), b.Number("node_id")))
		})
	}
	return roots
}

// printTree prints a node and its descendants. last has an element for each level above: whether the
// ancestor on that level is its parent's last child.
func printTree(w *terminal.Page, n *treeNode, last []bool) {
	var indent strings.Builder
	for _, l := range last[:min(len(last), maxIndent)] {
		if l {
			indent.WriteString("  ")
		} else {
			indent.WriteString("| ")
		}
	}
	if len(last) > maxIndent {
		indent.WriteString(fmt.Sprintf("[%d] ", len(last)))
	}
	unit := n.Text("unit")
	w.Printf("%12s %6s %12s  %s+-%s\n", Value(n.Number("attributed"), unit), Percent(n.Number("attributed"), n.Number("total")),
		Value(n.Number("exclusive"), unit), indent.String(), n.Text("label"))
	for i, c := range n.children {
		printTree(w, c, append(last, i == len(n.children)-1))
	}
}

// callStacks prints stacks with their values, each from its leaf on.
func (r *Report) callStacks(ctx context.Context, q *report.Question, rows []queries.Record) error {
	return r.sections(q, rows, func(w *terminal.Page, group []queries.Record) (leftOut, error) {
		w.Printf("<Total>: stacks %d, %s\n", len(group), r.valuesOf(r.total(group[0])))
		group, left := r.limited(group, "stacks")
		frames, err := q.Frames(ctx, group)
		if err != nil {
			return left, err
		}
		for k, rec := range group {
			w.Printf("\n#%d: %s\n", k+1, r.valuesOf(rec))
			for _, f := range frames[rec.Number("stack_id")] {
				w.Printf("  %s%s\n", f.Text("name"), placeIn(f))
			}
		}
		return left, nil
	})
}

// valuesOf returns a text with all values of a row that are not 0.
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

// placeIn returns a text that says where in its function a frame is: the instruction and the line,
// as far as known.
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
