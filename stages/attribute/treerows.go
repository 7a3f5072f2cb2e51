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
	all, own := newGrid(t.Len(), len(t.Views)), make([]int64, len(t.Views)) // by view
	rows := treeRows{size: min(t.Len(), schema.BatchRows), emit: emit, ids: schema.NewLabels(r.ExperimentID), metrics: schema.NewLabels(r.metricNames()...)}
	s := make(sharing, 0, len(t.Views))
	for m := range r.Sums.Metrics {
		t.ending(r.Sums, m, all)
		total(t.Parent, all)
		for n := range nodeNo(t.Len()) {
			s = s[:0]
			values := all.row(int(n))
			t.own(all, n, own)
			for i := range t.Views {
				if values[i] != 0 || n == 0 {
					s = append(s, shared{t.Views[i].modes, values[i], own[i]})
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

// own sets the values of the stacks that end at a node, given those of the stacks that
// pass each.
func (t *CallTree) own(all grid, n nodeNo, own []int64) {
	copy(own, all.row(int(n)))
	for child, last := n+1, t.Last(n); child <= last; child = t.Last(child) + 1 {
		for i, v := range all.row(int(child)) {
			own[i] -= v
		}
	}
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

// treeRows collects rows of tree_values.
type treeRows struct {
	emit         Emit
	ids, metrics *schema.Labels
	size         int // about how many there are at a time
	modes, nodes []int32
	all, own     []int64
	err          error
}

// begin makes room for rows.
func (r *treeRows) begin() {
	r.modes, r.nodes = make([]int32, 0, r.size), make([]int32, 0, r.size)
	r.all, r.own = make([]int64, 0, r.size), make([]int64, 0, r.size)
}

func (r *treeRows) add(v shared, node int32) {
	if r.nodes == nil {
		r.begin()
	}
	r.modes, r.nodes = append(r.modes, int32(v.modes)), append(r.nodes, node)
	r.all, r.own = append(r.all, v.a), append(r.own, schema.StoredExclusive(v.b, v.a))
}

// flush emits the rows, which are of a metric.
func (r *treeRows) flush(metric int) {
	n := len(r.nodes)
	if n > 0 && r.err == nil {
		r.err = r.emit.owned(schema.TreeValues, r.ids.Array(0, n), schema.Int32s(r.modes), r.metrics.Array(metric, n),
			schema.Int32s(r.nodes), schema.Int64s(r.all), schema.Int64s(r.own))
	}
	r.modes, r.nodes, r.all, r.own = nil, nil, nil, nil
}
