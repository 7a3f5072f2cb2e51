package attribute

import (
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/google/go-cmp/cmp"

	"stackmill/schema"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// Nodes of both trees are in pre-order, and modes with equal values share a row.
func TestTreeRows(t *testing.T) {
	recorded, sums := NewStacks(), NewSums([]schema.Metric{{Name: "m"}})
	for i, s := range []map[stacktree.Mode][]program.LocationNo{
		everyMode(0, 1), everyMode(2), everyMode(0),
		{stacktree.User: {0}, stacktree.Expert: {0, 3}, stacktree.Machine: {0, 3}},
	} {
		addStack(recorded, s)
		sums.At(RecordedStackNo(i), 0).Add(1 << i)
	}
	addStack(recorded, everyMode(4)) // counts for nothing
	recorded.Renumber(recorded.OrderNodes(), recorded.OrderFrames(asTheyAre(letters())))
	p, rows := letters(), tableRows{}
	p.Functions = append(p.Functions, program.Function{ID: 99})
	r := &Result{ExperimentID: "e", Program: p, Total: 5, Stacks: recorded, Sums: sums}
	tree := NewCallTree(NewStackViews(p, recorded, sums))
	_, err := r.FunctionRows(rows.emit, tree)
	for _, err := range []error{err, r.TreeRows(rows.emit, tree), r.stackTreeRows(rows.emit)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for table, want := range map[string][]string{
		"stack_tree": {"0 0 5 0", "1 1 2 1", "2 1 0 2", "3 2 0 4", "4 4 0 3", "5 5 0 5"}, // node, up, below, frame
		// node, up, below, depth, function
		"call_nodes": {"0 0 4 0 5", "1 1 2 1 0", "2 1 0 2 1", "3 2 0 2 3", "4 4 0 1 2"},
		// modes, metric, node, attributed, exclusive
		"tree_values": {"9 m 1 13 12", "54 m 1 13 4", "54 m 3 8 8", "63 m 0 15 0", "63 m 2 1 1", "63 m 4 2 2"},
		// modes, metric, function, exclusive, inclusive
		"function_values": {"63 m 5 15 15", "9 m 0 12 13", "54 m 0 4 13", "54 m 3 8 8", "63 m 1 1 1", "63 m 2 2 2"},
		// modes, metric, function, relation, other, attributed
		"call_values": {
			"9 m 0 self 0 12", "54 m 0 self 0 4", "54 m 0 callee 3 8", "54 m 3 caller 0 8", "54 m 3 self 3 8",
			"63 m 5 self 5 15", "63 m 5 callee 0 13", "63 m 5 callee 2 2", "63 m 0 caller 5 13", "63 m 0 callee 1 1",
			"63 m 1 caller 0 1", "63 m 1 self 1 1", "63 m 2 caller 5 2", "63 m 2 self 2 2",
		},
	} {
		if diff := cmp.Diff(want, rows.of(table)); diff != "" {
			t.Errorf("%s: %s", table, diff)
		}
	}
}

// of returns the rows of a table without the experiment.
func (e tableRows) of(table string) (list []string) {
	for _, row := range e[table] {
		list = append(list, strings.Join(strings.Fields(row)[1:], " "))
	}
	return list
}

// Large trees are emitted in several batches: none is too large, and no node is missing.
func TestTreesInBatches(t *testing.T) {
	const stacks = 2 * schema.RowsAtOnce
	recorded, sums, p := NewStacks(), NewSums([]schema.Metric{{Name: "m"}}), letters()
	p.Functions = append(p.Functions, program.Function{ID: 99})
	for i := range stacks {
		path := make([]program.LocationNo, 7) // all are different
		for at, rest := 0, i; at < len(path); at, rest = at+1, rest/5 {
			path[at] = program.LocationNo(rest % 5)
		}
		addStack(recorded, everyMode(path...))
		sums.At(RecordedStackNo(i), 0).Add(1)
	}
	recorded.Renumber(recorded.OrderNodes(), recorded.OrderFrames(asTheyAre(p)))
	r := &Result{ExperimentID: "e", Program: p, Total: 5, Stacks: recorded, Sums: sums}
	tree := NewCallTree(NewStackViews(p, recorded, sums))
	nodes, batches, exclusive := int32(0), map[string]int{}, int64(0)
	emit := func(table *schema.Table, rows arrow.RecordBatch) error {
		batches[table.Name]++
		n := int(rows.NumRows())
		if n > schema.RowsAtOnce {
			t.Errorf("%s: %d rows at once", table.Name, n)
		}
		for i := range n {
			switch table {
			case schema.StackTree:
				if node := rows.Column(table.Index("node")).(*array.Int32).Value(i); node != nodes {
					t.Fatalf("node %d follows %d", node, nodes-1)
				}
				nodes++
			case schema.TreeValues:
				exclusive += rows.Column(table.Index("exclusive")).(*array.Int64).Value(i)
			}
		}
		return nil
	}
	if err := errors.Join(r.stackTreeRows(emit), r.TreeRows(emit, tree)); err != nil {
		t.Fatal(err)
	}
	if int(nodes) != recorded.Nodes.Len() || batches["stack_tree"] < 3 || batches["tree_values"] < 3 {
		t.Errorf("%d of %d nodes in batches %v", nodes, recorded.Nodes.Len(), batches)
	}
	if exclusive != stacks {
		t.Errorf("%d of %d samples have a leaf", exclusive, stacks)
	}
}

// A stack that has a function twice counts only for the neighbors of the inner frame.
func TestCallRows(t *testing.T) {
	recorded, sums := NewStacks(), NewSums([]schema.Metric{{Name: "m"}})
	for i, stack := range []string{"ab", "cb", "ded"} {
		addStack(recorded, everyMode(locationsOf(stack)...))
		sums.At(RecordedStackNo(i), 0).Add(1 << i)
	}
	recorded.Renumber(recorded.OrderNodes(), recorded.OrderFrames(asTheyAre(letters())))
	p, rows := letters(), tableRows{}
	p.Functions = append(p.Functions, program.Function{ID: 99})
	r := &Result{ExperimentID: "e", Program: p, Total: 5, Stacks: recorded, Sums: sums}
	tree := NewCallTree(NewStackViews(p, recorded, sums))
	if _, err := r.FunctionRows(rows.emit, tree); err != nil {
		t.Fatal(err)
	}
	if err := r.TreeRows(rows.emit, tree); err != nil {
		t.Fatal(err)
	}
	for table, want := range map[string][]string{
		"call_nodes":  {"0 0 7 0 5", "1 1 1 1 0", "2 1 0 2 1", "3 3 1 1 2", "4 1 0 2 1", "5 5 2 1 3", "6 1 1 2 4", "7 1 0 3 3"},
		"tree_values": {"63 m 0 7 0", "63 m 1 1 0", "63 m 2 1 1", "63 m 3 2 0", "63 m 4 2 2", "63 m 5 4 0", "63 m 6 4 0", "63 m 7 4 4"},
		"call_values": {
			"63 m 5 self 5 7", "63 m 5 callee 0 1", "63 m 5 callee 2 2", "63 m 5 callee 3 4", "63 m 0 caller 5 1", "63 m 0 callee 1 1",
			"63 m 1 caller 0 1", "63 m 1 caller 2 2", "63 m 1 self 1 3", "63 m 2 caller 5 2", "63 m 2 callee 1 2",
			"63 m 3 caller 5 0", "63 m 3 caller 4 4", "63 m 3 self 3 4", "63 m 3 callee 4 0", "63 m 4 caller 3 4", "63 m 4 callee 3 4",
		},
	} {
		if diff := cmp.Diff(want, rows.of(table)); diff != "" {
			t.Errorf("%s: %s", table, diff)
		}
	}
}
