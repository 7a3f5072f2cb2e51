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
	if t.Len() > schema.BatchRows {
		most = 1
	}
	all := make([]grid, min(most, len(r.Sums.Metrics))) // by view
	for i := range all {
		all[i] = newGrid(t.Len(), t.ends.layout(len(t.Views)))
	}
	for metrics := range r.metricGroups(most) {
		for i, m := range metrics {
			t.exclusiveByNode(m, all[i])
			sumUpward(t.Parent, all[i])
		}
		viewValues{t.modesOf(Plain | Plain.Inlined()), t.Len(), func(view, metric, n int) (attributed, exclusive int64, ok bool) {
			values := all[metric].row(n)
			if !all[metric].hasValue(values, view) && n > 0 {
				return 0, 0, false
			}
			return values[view], t.exclusiveAt(all[metric], nodeNo(n), view), true
		}}.appendTo(rows, metrics, func(n int) { rows.Int32(int32(n)) })
	}
	return rows.Close()
}

// exclusiveAt returns the exclusive value of a node in a view, given the inclusive values.
func (t *CallTree) exclusiveAt(inclusive grid, n nodeNo, view int) int64 {
	value := inclusive.row(int(n))[view]
	for child, last := n+1, t.Last(n); child <= last; child = t.Last(child) + 1 {
		value -= inclusive.row(int(child))[view]
	}
	return value
}

func (r *Result) callNodes(emit Emit, t *CallTree) error {
	depths := make([]int32, t.Len())
	for n := 1; n < t.Len(); n++ {
		depths[n] = depths[t.Parent[n]] + 1
	}
	labels := schema.NewLabels(r.ExperimentID)
	return inBatches(t.Len(), func(from, to int) error {
		functions := make([]int32, 0, to-from)
		for _, f := range t.Label[from:to] {
			functions = append(functions, r.functionNumber(f))
		}
		return emit.release(schema.CallNodes, labels.Array(0, to-from), schema.Int32s(nodeNumbers(from, to)),
			schema.Int32s(parentDistances(t.Parent, from, to)), schema.Int32s(t.Below[from:to]), schema.Int32s(depths[from:to]),
			schema.Int32s(functions))
	})
}
