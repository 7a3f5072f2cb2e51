package attribute

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"stackmill/schema"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// ValueRows emits the call tree and all tables of values, which follow from the program, the stacks
// and the sums. Ingest calls the same functions in parallel.
func (r *Result) ValueRows(emit Emit) error {
	views := NewStackViews(r.Program, r.Stacks, r.Sums)
	tree := NewCallTree(views)
	if _, err := r.FunctionRows(emit, tree); err != nil {
		return err
	}
	if err := r.TreeRows(emit, tree); err != nil {
		return err
	}
	_, err := r.LineRows(emit, views)
	return err
}

// metricsAtOnce is the number of metrics whose values are computed at a time, to bound memory.
const metricsAtOnce = 8

// metricGroups yields the numbers of all metrics in groups of at most n.
func (r *Result) metricGroups(n int) iter.Seq[[]int] {
	all := make([]int, len(r.Sums.Metrics))
	for m := range all {
		all[m] = m
	}
	return slices.Chunk(all, n)
}

// LineRows emits the values of lines and instructions. It returns, by source file, the highest line
// that has a value.
func (r *Result) LineRows(emit Emit, s *StackViews) (last map[string]int32, err error) {
	p := r.Program
	lines, sources, pcs := r.Rows(schema.LineValues, emit), r.Rows(schema.SourceValues, emit), r.Rows(schema.PCValues, emit).Expect(p.Locations.Len())
	last = map[string]int32{}
	for metrics := range r.metricGroups(metricsAtOnce / len(s.Views)) {
		inclusive := s.inclusiveByNode(metrics)
		var exclusive [stacktree.Modes]grid
		values := make([]*codeValues, len(s.Views))
		for i := range s.Views {
			v := &s.Views[i]
			if !v.inlined { // these come first
				exclusive[v.leaf] = s.exclusiveByFrame(v, metrics)
			}
			values[i] = s.countCode(v, inclusive, exclusive[v.leaf])
		}
		for n, k := range s.SourceKeys {
			if slices.ContainsFunc(values, func(v *codeValues) bool { return !isZero(v.Source.inclusive(n)) }) {
				last[k.File] = max(last[k.File], k.Line)
			}
		}
		all, plain := s.modesOf(Plain|Plain.Inlined()), s.modesOf(Plain)
		viewValues{all, len(s.LineKeys), func(view, metric, n int) (exclusive, inclusive int64, ok bool) {
			return values[view].Lines.values(n, metric)
		}}.appendTo(lines, metrics, func(n int) {
			k := &s.LineKeys[n]
			lines.Int32(int32(k.Function)).Text(k.File).Int32(k.Line)
		})
		viewValues{all, len(s.SourceKeys), func(view, metric, n int) (exclusive, inclusive int64, ok bool) {
			return values[view].Source.values(n, metric)
		}}.appendTo(sources, metrics, func(n int) {
			k := &s.SourceKeys[n]
			sources.Text(k.File).Int32(k.Line)
		})
		viewValues{plain, p.Locations.Len(), func(view, metric, n int) (exclusive, inclusive int64, ok bool) {
			return values[view].PCs.values(n, metric)
		}}.appendTo(pcs, metrics, func(n int) { pcs.Int32(int32(n)) })
	}
	return last, schema.CloseAll(lines, sources, pcs)
}

// FunctionRows emits the values of functions, modules and load objects, and the values attributed
// to callers and callees. It returns the functions by descending share (see functionShares).
func (r *Result) FunctionRows(emit Emit, t *CallTree) (ranked []program.FunctionNo, err error) {
	calls, neighbors := r.Rows(schema.CallValues, emit).Labels("relation", relationNames...), t.neighbors()
	functions, modules, objects := r.Rows(schema.FunctionValues, emit), r.Rows(schema.ModuleValues, emit), r.Rows(schema.ObjectValues, emit)
	p, shares := r.Program, make(functionShares, len(r.Program.Functions))
	nodes := newGrid(t.Len(), t.ends.layout(len(t.Views)))
	for metrics := range r.metricGroups(metricsAtOnce) {
		var values []*MetricValues // by metric
		for _, m := range metrics {
			value := t.functionValues(m, nodes)
			shares.add(value)
			values = append(values, value)
			r.appendTotal(functions, t, m, value)
		}
		all, plain := t.modesOf(Plain|Plain.Inlined()), t.modesOf(Plain)
		viewValues{all, len(p.Functions), func(view, metric, n int) (exclusive, inclusive int64, ok bool) {
			return values[metric].Functions.values(n, view)
		}}.appendTo(functions, metrics, func(n int) { functions.Int32(int32(n)) })
		viewValues{plain, len(p.Modules), func(view, metric, n int) (exclusive, inclusive int64, ok bool) {
			return values[metric].Modules.values(n, view)
		}}.appendTo(modules, metrics, func(n int) { modules.Int64(p.Modules[n].ID) })
		viewValues{plain, len(p.Objects), func(view, metric, n int) (exclusive, inclusive int64, ok bool) {
			return values[metric].Objects.values(n, view)
		}}.appendTo(objects, metrics, func(n int) { objects.Int64(p.Objects[n].ID) })
		r.appendCalls(calls, t, neighbors, metrics, values)
	}
	return shares.ranked(), schema.CloseAll(functions, modules, objects, calls)
}

// appendTotal appends the rows of `<Total>` for a metric.
func (r *Result) appendTotal(functions *schema.Rows, t *CallTree, metric int, values *MetricValues) {
	totals := make(modeValueList, 0, len(t.Views))
	for i, v := range values.Total {
		totals = append(totals, modeValues{t.Views[i].modes, v, v})
	}
	for _, v := range totals.joinEqual() {
		beginRow(functions, v.modes, metric).Int32(r.functionNumber(program.None)).Int64(v.a).Int64(v.b)
	}
}

// beginRow appends the first columns of all value tables.
func beginRow(rows *schema.Rows, modes Mode, metric int) *schema.Rows {
	return rows.Modes(int32(modes)).Label(metric)
}

// functionShares holds, for each function, its largest share of a total in any metric and view.
type functionShares []share

type share struct{ exclusive, inclusive float64 }

func (s functionShares) add(v *MetricValues) {
	for n := range s {
		exclusive := v.Functions.Exclusive.row(n)
		inclusive := v.Functions.inclusive(n)
		for view, total := range v.Total {
			if total != 0 { // in a difference of profiles, both may be negative
				s[n].exclusive = max(s[n].exclusive, math.Abs(float64(exclusive[view])/float64(total)))
				s[n].inclusive = max(s[n].inclusive, math.Abs(float64(inclusive[view])/float64(total)))
			}
		}
	}
}

// ranked returns the functions by descending exclusive share; ties by descending inclusive share.
func (s functionShares) ranked() []program.FunctionNo {
	order := make([]program.FunctionNo, len(s))
	for i := range order {
		order[i] = program.FunctionNo(i)
	}
	slices.SortStableFunc(order, func(a, b program.FunctionNo) int {
		return cmp.Or(cmp.Compare(s[b].exclusive, s[a].exclusive), cmp.Compare(s[b].inclusive, s[a].inclusive))
	})
	return order
}

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
