package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// maxIndent is the depth from which the call tree is not indented further:
// recursion makes paths of thousands of frames.
const maxIndent = 60

// treeNode is a node of the printed call tree.
type treeNode struct {
	record
	children []*treeNode
}

// callTree prints the tree with the branches of largest value first.
func (r *reporter) callTree(_ context.Context, s *selection, rows []record) error {
	w := r.page()
	for i, group := range groups(rows) {
		if i > 0 {
			w.printf("\n")
		}
		r.groupTitle(w, s, group)
		w.printf("%12s %6s %12s  %s\n", "Attr."+unitOf(group), "%", "Excl."+unitOf(group), "Function")
		left := r.limit
		if left == 0 {
			left = len(group)
		}
		for _, root := range tree(group) {
			printTree(w, root, &left, nil)
		}
	}
	return w.flush()
}

// groups cuts the rows where the experiment or the metric changes.
func groups(rows []record) [][]record {
	var out [][]record
	for i, rec := range rows {
		if i == 0 || rec["experiment_id"] != rows[i-1]["experiment_id"] || rec["metric"] != rows[i-1]["metric"] {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], rec)
	}
	return out
}

// groupTitle names the experiment and the metric where the caption does not.
func (r *reporter) groupTitle(w *page, s *selection, group []record) {
	if len(r.db.Commits) > 1 {
		w.printf("Experiment %s\n", group[0].text("experiment"))
	}
	if s.onlyMetric() == "" {
		w.printf("Metric %s\n", group[0].text("metric"))
	}
}

// tree links the nodes and returns the roots.
func tree(rows []record) []*treeNode {
	byID := map[int64]*treeNode{}
	for _, rec := range rows {
		byID[rec.number("node_id")] = &treeNode{record: rec}
	}
	var roots []*treeNode
	for _, rec := range rows {
		n := byID[rec.number("node_id")]
		if parent := byID[rec.number("parent_id")]; rec["parent_id"] != nil && parent != nil {
			parent.children = append(parent.children, n)
		} else {
			roots = append(roots, n)
		}
	}
	for _, n := range byID {
		slices.SortFunc(n.children, func(a, b *treeNode) int {
			return cmp.Or(cmp.Compare(b.number("attributed"), a.number("attributed")), cmp.Compare(a.text("label"), b.text("label")),
				cmp.Compare(a.number("node_id"), b.number("node_id")))
		})
	}
	return roots
}

// printTree prints a node and what is below it, as long as lines are left;
// last tells for each level above whether the node there was its parent's last.
func printTree(w *page, n *treeNode, left *int, last []bool) {
	if *left == 0 {
		return
	}
	*left--
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
	unit := n.text("unit")
	w.printf("%12s %6s %12s  %s+-%s\n", formatValue(n.number("attributed"), unit), percent(n.number("attributed"), n.number("total")),
		formatValue(n.number("exclusive"), unit), indent.String(), n.text("label"))
	for i, c := range n.children {
		printTree(w, c, left, append(last, i == len(n.children)-1))
	}
}
