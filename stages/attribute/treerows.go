package attribute

import "stackmill/schema"

// TreeRows emits the call tree: its nodes and their values.
func (r *Result) TreeRows(emit Emit, t *CallTree) error {
	if len(r.Sums.Metrics) == 0 { // no node has a value, not even the root
		return nil
	}
	if err := r.callNodes(emit, t); err != nil {
		return err
	}
	rows := r.Rows(schema.TreeValues, emit).Expect(t.Len())
	most := metricsAtOnce
	if t.Len() > schema.BatchRows { // values of all nodes are many
		most = 1
	}
	all := make([]grid, min(most, len(r.Sums.Metrics))) // by view
	for i := range all {
		all[i] = newGrid(t.Len(), t.ends.layout(len(t.Views)))
	}
	r.grouped(most, func(metrics []int) {
		for i, m := range metrics {
			t.ending(m, all[i])
			total(t.Parent, all[i])
		}
		inViews{t.modes(Plain | Plain.Inlined()), t.Len(), func(view, metric, n int) (attributed, exclusive int64, ok bool) {
			values := all[metric].row(n)
			if !all[metric].has(values, view) && n > 0 {
				return 0, 0, false
			}
			return values[view], t.own(all[metric], nodeNo(n), view), true
		}}.sums(rows, metrics, func(n int) { rows.Int32(int32(n)) })
	})
	return rows.Close()
}

// own returns the value in a view of the stacks that end at a node, given those of the
// stacks that pass each.
func (t *CallTree) own(all grid, n nodeNo, view int) int64 {
	value := all.row(int(n))[view]
	for child, last := n+1, t.Last(n); child <= last; child = t.Last(child) + 1 {
		value -= all.row(int(child))[view]
	}
	return value
}

// callNodes emits the nodes of the call tree.
func (r *Result) callNodes(emit Emit, t *CallTree) error {
	depths := make([]int32, t.Len())
	for n := 1; n < t.Len(); n++ {
		depths[n] = depths[t.Parent[n]] + 1
	}
	labels := schema.NewLabels(r.ExperimentID)
	return inBatches(t.Len(), func(from, to int) error {
		functions := make([]int32, 0, to-from)
		for _, f := range t.Label[from:to] {
			functions = append(functions, r.function(f))
		}
		return emit.owned(schema.CallNodes, labels.Array(0, to-from), schema.Int32s(numbers(from, to)),
			schema.Int32s(ups(t.Parent, from, to)), schema.Int32s(t.Below[from:to]), schema.Int32s(depths[from:to]),
			schema.Int32s(functions))
	})
}
