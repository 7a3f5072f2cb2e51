package attribute

import "stackmill/schema"

// TreeRows emits the call tree: its nodes, and their values where they are not alone.
func (r *Result) TreeRows(emit Emit, t *CallTree) error {
	if len(r.Sums.Metrics) == 0 { // no node has a value, not even the root
		return nil
	}
	if err := r.callNodes(emit, t); err != nil {
		return err
	}
	rows := treeRows{size: min(t.Len(), schema.RowsAtOnce), emit: emit, ids: schema.NewLabels(r.ExperimentID), metrics: schema.NewLabels(r.metricNames()...)}
	own := make([]int64, len(t.Views)) // by view
	most := metricsAtOnce
	if t.Len() > schema.BatchRows { // values of all nodes are many
		most = 1
	}
	all := make([]grid, min(most, len(r.Sums.Metrics))) // by view
	for i := range all {
		all[i] = newGrid(t.Len(), t.ends.layout(len(t.Views)))
	}
	s := make(sharing, 0, len(t.Views))
	r.grouped(most, func(metrics []int) {
		for i, m := range metrics {
			t.ending(m, all[i])
			total(t.Parent, all[i])
		}
		for n := range nodeNo(t.Len()) {
			for i, m := range metrics {
				values := all[i].row(int(n))
				t.own(all[i], n, own)
				s = s[:0]
				for view := range t.Views {
					if modes := t.Views[view].modes; (all[i].has(values, view) || n == 0) && t.alone[n]&modes == 0 {
						s = append(s, shared{modes, values[view], own[view]})
					}
				}
				for _, v := range s.join() {
					rows.add(m, v, int32(n))
				}
			}
			if len(rows.node) > schema.RowsAtOnce-len(t.Views)*len(metrics) {
				rows.flush()
			}
		}
		rows.flush()
	})
	return rows.err
}

// own sets the values of the stacks that end at a node, given those of the stacks that
// pass each.
func (t *CallTree) own(all grid, n nodeNo, own []int64) {
	copy(own, all.row(int(n)))
	for child, last := n+1, t.Last(n); child <= last; child = t.Last(child) + 1 {
		for i, v := range all.row(int(child))[:len(own)] {
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
		functions, alone := make([]int32, 0, to-from), make([]int32, 0, to-from)
		for n, f := range t.Label[from:to] {
			functions, alone = append(functions, r.function(f)), append(alone, int32(t.alone[from+n]))
		}
		return emit.owned(schema.CallNodes, labels.Array(0, to-from), schema.Int32s(numbers(from, to)),
			schema.Int32s(ups(t.Parent, from, to)), schema.Int32s(t.Below[from:to]), schema.Int32s(depths[from:to]),
			schema.Int32s(functions), schema.Int32s(alone))
	})
}

// treeRows collects rows of tree_values.
type treeRows struct {
	emit                Emit
	ids, metrics        *schema.Labels
	size                int // about how many there are at a time
	modes, metric, node []int32
	all, own            []int64
	err                 error
}

// begin makes room for rows.
func (r *treeRows) begin() {
	r.modes, r.metric, r.node = make([]int32, 0, r.size), make([]int32, 0, r.size), make([]int32, 0, r.size)
	r.all, r.own = make([]int64, 0, r.size), make([]int64, 0, r.size)
}

func (r *treeRows) add(metric int, v shared, node int32) {
	if r.node == nil {
		r.begin()
	}
	r.modes, r.metric, r.node = append(r.modes, int32(v.modes)), append(r.metric, int32(metric)), append(r.node, node)
	r.all, r.own = append(r.all, v.a), append(r.own, v.b)
}

// flush emits the rows.
func (r *treeRows) flush() {
	n := len(r.node)
	if n > 0 && r.err == nil {
		r.err = r.emit.owned(schema.TreeValues, r.ids.Array(0, n), schema.Int32s(r.modes), r.metrics.Mixed(r.metric),
			schema.Int32s(r.node), schema.Int64s(r.all), schema.Int64s(r.own))
	}
	r.modes, r.metric, r.node, r.all, r.own = nil, nil, nil, nil, nil
}
