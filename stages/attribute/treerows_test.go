package attribute

import (
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"stackmill/schema"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// Nodes of both trees are in pre-order, and values that modes share have one row.
func TestTreeRows(t *testing.T) {
	recorded, sums := NewStacks(), NewSums([]schema.Metric{{Name: "m"}})
	for i, s := range []map[stacktree.Mode][]program.LocationNo{
		everyMode(0, 1), everyMode(2), everyMode(0),
		{stacktree.User: {0}, stacktree.Expert: {0, 3}, stacktree.Machine: {0, 3}},
	} {
		addStack(recorded, s)
		sums.At(RecordedNo(i), 0).Add(1 << i)
	}
	addStack(recorded, everyMode(4)) // counts for nothing
	recorded.Renumber(recorded.OrderNodes(), recorded.OrderFrames(asTheyAre(letters())))
	p, rows := letters(), emitted{}
	p.Functions = append(p.Functions, program.Function{ID: 99})
	r := &Result{ExperimentID: "e", Program: p, Total: 5, Stacks: recorded, Sums: sums}
	tree := NewCallTree(NewShape(p, recorded, sums))
	_, err := r.FunctionRows(rows.emit, tree)
	for _, err := range []error{err, r.TreeRows(rows.emit, tree), r.stacks(rows.emit)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for table, want := range map[string][]string{
		"stack_tree": {"0 0 5 0", "1 1 2 1", "2 1 0 2", "3 2 0 4", "4 4 0 3", "5 5 0 5"}, // node, up, below, frame
		// node, up, below, depth, function, and in which modes that of the function stands for it
		"call_nodes":  {"0 0 4 0 5 0", "1 1 2 1 0 63", "2 1 0 2 1 63", "3 2 0 2 3 54", "4 4 0 1 2 63"},
		"tree_values": {"63 m 0 15 0"},
		// with 1024 for its own row, 256 and 512 for those of its module and location, ...
		"function_values": {"1087 m 5 15 15", "7689 m 0 12 13", "7734 m 0 4 13", "7734 m 3 8 8", "7743 m 1 1 1", "7743 m 2 2 2"},
		"call_values":     nil,
	} {
		if diff := cmp.Diff(want, rows.of(table)); diff != "" {
			t.Errorf("%s: %s", table, diff)
		}
	}
}

// of returns the rows of a table without the experiment.
func (e emitted) of(table string) (list []string) {
	for _, row := range e[table] {
		list = append(list, strings.Join(strings.Fields(row)[1:], " "))
	}
	return list
}

// Trees of many nodes come in several batches, none of which is missing or too large.
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
		sums.At(RecordedNo(i), 0).Add(1)
	}
	recorded.Renumber(recorded.OrderNodes(), recorded.OrderFrames(asTheyAre(p)))
	r := &Result{ExperimentID: "e", Program: p, Total: 5, Stacks: recorded, Sums: sums}
	tree := NewCallTree(NewShape(p, recorded, sums))
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
	if err := errors.Join(r.stacks(emit), r.TreeRows(emit, tree)); err != nil {
		t.Fatal(err)
	}
	if int(nodes) != recorded.Nodes.Len() || batches["stack_tree"] < 3 || batches["tree_values"] < 3 {
		t.Errorf("%d of %d nodes in batches %v", nodes, recorded.Nodes.Len(), batches)
	}
	if exclusive != stacks { // no node of a leaf is alone
		t.Errorf("%d of %d samples have a leaf", exclusive, stacks)
	}
}

// Rows of functions stand neither for nodes of which there are several, nor for those of
// which the caller is called again below.
func TestNotAlone(t *testing.T) {
	recorded, sums := NewStacks(), NewSums([]schema.Metric{{Name: "m"}})
	for i, stack := range []string{"ab", "cb", "ded"} {
		addStack(recorded, everyMode(locationsOf(stack)...))
		sums.At(RecordedNo(i), 0).Add(1 << i)
	}
	recorded.Renumber(recorded.OrderNodes(), recorded.OrderFrames(asTheyAre(letters())))
	p, rows := letters(), emitted{}
	p.Functions = append(p.Functions, program.Function{ID: 99})
	r := &Result{ExperimentID: "e", Program: p, Total: 5, Stacks: recorded, Sums: sums}
	tree := NewCallTree(NewShape(p, recorded, sums))
	if _, err := r.FunctionRows(rows.emit, tree); err != nil {
		t.Fatal(err)
	}
	if err := r.TreeRows(rows.emit, tree); err != nil {
		t.Fatal(err)
	}
	for table, want := range map[string][]string{
		"call_nodes":  {"0 0 7 0 5 0", "1 1 1 1 0 63", "2 1 0 2 1 0", "3 3 1 1 2 63", "4 1 0 2 1 0", "5 5 2 1 3 0", "6 1 1 2 4 0", "7 1 0 3 3 0"},
		"tree_values": {"63 m 0 7 0", "63 m 2 1 1", "63 m 4 2 2", "63 m 5 4 0", "63 m 6 4 0", "63 m 7 4 4"},
		// with 64 for the callee's: modes, metric, function, relation, other, value
		"call_values": {"63 m 3 caller 2 0", "63 m 5 callee -2 4", "63 m 4 caller -1 4", "63 m 3 callee 1 0", "127 m 1 caller -1 1", "127 m 1 caller 1 2", "127 m 3 caller 1 4"},
	} {
		if diff := cmp.Diff(want, rows.of(table), cmpopts.SortSlices(strings.Compare)); diff != "" {
			t.Errorf("%s: %s", table, diff)
		}
	}
}
