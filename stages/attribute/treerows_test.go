package attribute

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/schema"
	"stackmill/stages/symbolize"
	"stackmill/stages/unwind"
)

// Nodes of both trees are in pre-order, and values that modes share have one row.
func TestTreeRows(t *testing.T) {
	recorded, sums := NewStacks(), NewSums([]schema.Metric{{Name: "m"}})
	for i, s := range []map[unwind.Mode][]symbolize.LocationNo{
		everyMode(0, 1), everyMode(2), everyMode(0),
		{unwind.User: {0}, unwind.Expert: {0, 3}, unwind.Machine: {0, 3}},
	} {
		addStack(recorded, s)
		sums.stack(RecordedNo(i), 0).add(1 << i)
	}
	addStack(recorded, everyMode(4)) // counts for nothing
	recorded.OrderNodes()
	recorded.OrderFrames(asTheyAre(letters()))
	p, rows := letters(), emitted{}
	p.Functions = append(p.Functions, symbolize.Function{ID: 99})
	r := &Result{ExperimentID: "e", Program: p, Total: 5, Stacks: recorded, Sums: sums}
	tree := NewCallTree(NewShape(p, recorded), sums)
	_, err := r.FunctionRows(rows.emit, tree)
	for _, err := range []error{err, r.TreeRows(rows.emit, tree), r.stacks(rows.emit)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for table, want := range map[string][]string{
		"stack_tree":  {"0 0 5 0", "1 1 2 1", "2 1 0 2", "3 2 0 4", "4 4 0 3", "5 5 0 5"}, // node, up, below, frame
		"call_nodes":  {"0 0 4 0 5", "1 1 2 1 0", "2 1 0 2 1", "3 2 0 2 3", "4 4 0 1 2"},  // node, up, below, depth, function
		"tree_values": {"63 m 0 15 0", "9 m 1 13 12", "54 m 1 13 4", "63 m 2 1 -1", "54 m 3 8 -1", "63 m 4 2 -1"},
		// with 1024 for its own row, 256 and 512 for those of its module and location, ...
		"function_values": {"1087 m 5 -1 15", "7689 m 0 12 13", "7734 m 0 4 13", "7734 m 3 -1 8", "7743 m 1 -1 1", "7743 m 2 -1 2"},
		// and 64 for the callee's: modes, metric, callee, relation, caller, value
		"call_values": {"118 m 3 caller -3 8", "127 m 0 caller 5 13", "127 m 1 caller -1 1", "127 m 2 caller 3 2"},
	} {
		var got []string
		for _, row := range rows[table] {
			columns := strings.Fields(row)[1:] // without the experiment
			got = append(got, strings.Join(columns, " "))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", table, diff)
		}
	}
}
