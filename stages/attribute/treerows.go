package attribute

import "stackmill/schema"

// TreeRows emits the call tree: its nodes, and their values.
func (r *Result) TreeRows(emit Emit, t *CallTree) error {
	if len(r.Sums.Metrics) == 0 { // no node has a value, not even the root
		return nil
	}
	if err := r.callNodes(emit, t); err != nil {
		return err
	}
	own, all := make([][]int64, len(t.Views)), make([][]int64, len(t.Views)) // by node
	for i := range t.Views {
		own[i], all[i] = make([]int64, t.Len()), make([]int64, t.Len())
	}
	rows := treeRows{emit: emit, ids: schema.NewLabels(r.ExperimentID), metrics: schema.NewLabels(r.metricNames()...)}
	s := make(sharing, 0, len(t.Views))
	for m := range r.Sums.Metrics {
		for i := range t.Views {
			t.sums(i, r.Sums, m, own[i], all[i])
		}
		for n := range t.Parent {
			s = s[:0]
			for i := range t.Views {
				if all[i][n] != 0 || n == 0 {
					s = append(s, shared{t.Views[i].modes, all[i][n], own[i][n]})
				}
			}
			for _, v := range s.join() {
				rows.add(v, int32(n))
			}
			if len(rows.nodes) > schema.BatchRows-len(t.Views) {
				rows.flush(m)
			}
		}
		rows.flush(m)
	}
	return rows.err
}

// callNodes emits the nodes of the call tree.
func (r *Result) callNodes(emit Emit, t *CallTree) error {
	depths := make([]int32, t.Len())
	for n := 1; n < t.Len(); n++ {
		depths[n] = depths[t.Parent[n]] + 1
	}
	labels := schema.NewLabels(r.ExperimentID)
	return inBatches(t.Len(), func(from, to int) error {
		functions := make([]int64, 0, to-from)
		for _, f := range t.Label[from:to] {
			functions = append(functions, r.functionID(f))
		}
		return emit.owned(schema.CallNodes, labels.Array(0, to-from), schema.Int32s(numbers(from, to)),
			schema.Int32s(ups(t.Parent, from, to)), schema.Int32s(t.Below[from:to]), schema.Int32s(depths[from:to]),
			schema.Int64s(functions))
	})
}

// treeRows collects rows of tree_values.
type treeRows struct {
	emit         Emit
	ids, metrics *schema.Labels
	modes, nodes []int32
	all, own     []int64
	err          error
}

func (r *treeRows) add(v shared, node int32) {
	r.modes, r.nodes = append(r.modes, int32(v.modes)), append(r.nodes, node)
	r.all, r.own = append(r.all, v.a), append(r.own, v.b)
}

// flush emits the rows, which are of a metric.
func (r *treeRows) flush(metric int) {
	n := len(r.nodes)
	if n > 0 && r.err == nil {
		r.err = r.emit.owned(schema.TreeValues, r.ids.Array(0, n), schema.Int32s(r.modes), r.metrics.Array(metric, n),
			schema.Int32s(r.nodes), schema.Int64s(r.all), schema.Int64s(r.own))
	}
	r.modes, r.nodes = make([]int32, 0, n), make([]int32, 0, n)
	r.all, r.own = make([]int64, 0, n), make([]int64, 0, n)
}
