package attribute

import (
	"cmp"
	"slices"

	"stackmill/schema"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// ValueRows emits all that follows from the program, the stacks and the sums: the call tree
// and the tables of values. Ingest makes the same rows part by part, side by side.
func (r *Result) ValueRows(emit Emit) error {
	shape := NewShape(r.Program, r.Stacks, r.Sums)
	tree := NewCallTree(shape)
	_, err := r.FunctionRows(emit, tree)
	if err == nil {
		err = r.TreeRows(emit, tree)
	}
	if err == nil {
		_, err = r.LineRows(emit, shape)
	}
	return err
}

// metricsAtOnce is of how many metrics the values of things are in memory at a time.
const metricsAtOnce = 8

// grouped calls emit with the numbers of all metrics, at most so many at a time.
func (r *Result) grouped(most int, emit func(metrics []int)) {
	var group []int
	for m := range r.Sums.Metrics {
		if group = append(group, m); len(group) >= most || m == len(r.Sums.Metrics)-1 {
			emit(group)
			group = nil
		}
	}
}

// LineRows emits the values of lines and instructions. It returns the last line with a
// value of each source file.
func (r *Result) LineRows(emit Emit, s *Shape) (last map[string]int32, err error) {
	p := r.Program
	lines, sources, pcs := r.Rows(schema.LineValues, emit), r.Rows(schema.SourceValues, emit), r.Rows(schema.PCValues, emit).Expect(p.Locations.Len())
	last = map[string]int32{}
	r.grouped(metricsAtOnce/len(s.Views), func(metrics []int) {
		passing := s.passing(metrics)
		var ending [stacktree.Modes]grid
		values := make([]*codeValues, len(s.Views))
		for i := range s.Views {
			v := &s.Views[i]
			if !v.inlined { // which comes first
				ending[v.leaf] = s.ending(v, metrics)
			}
			values[i] = s.code(v, passing, ending[v.leaf])
		}
		for n, k := range s.SourceKeys {
			if slices.ContainsFunc(values, func(v *codeValues) bool { return !empty(v.Source.inclusive(n)) }) {
				last[k.File] = max(last[k.File], k.Line)
			}
		}
		all, plain := s.modes(Plain|Plain.Inlined()), s.modes(Plain)
		inViews{all, len(s.LineKeys), func(view, metric, n int) (exclusive, inclusive int64, ok bool) {
			return values[view].Lines.of(n, metric)
		}}.sums(lines, metrics, func(n int) {
			k := &s.LineKeys[n]
			lines.Int32(int32(k.Function)).Text(k.File).Int32(k.Line)
		})
		inViews{all, len(s.SourceKeys), func(view, metric, n int) (exclusive, inclusive int64, ok bool) {
			return values[view].Source.of(n, metric)
		}}.sums(sources, metrics, func(n int) {
			k := &s.SourceKeys[n]
			sources.Text(k.File).Int32(k.Line)
		})
		inViews{plain, p.Locations.Len(), func(view, metric, n int) (exclusive, inclusive int64, ok bool) {
			return values[view].PCs.of(n, metric)
		}}.sums(pcs, metrics, func(n int) { pcs.Int32(int32(n)) })
	})
	return last, schema.CloseAll(lines, sources, pcs)
}

// FunctionRows emits the values of functions, modules and load objects, and those
// attributed to neighbours of functions. It returns the functions ranked.
func (r *Result) FunctionRows(emit Emit, t *CallTree) (ranked []program.FunctionNo, err error) {
	calls, neighbours := r.Rows(schema.CallValues, emit).Labels("relation", relations...), t.neighbours()
	functions, modules, objects := r.Rows(schema.FunctionValues, emit), r.Rows(schema.ModuleValues, emit), r.Rows(schema.ObjectValues, emit)
	p, shares := r.Program, make(shares, len(r.Program.Functions))
	nodes := newGrid(t.Len(), t.ends.layout(len(t.Views)))
	r.grouped(metricsAtOnce, func(metrics []int) {
		var values []*Values // by metric
		for _, m := range metrics {
			value := t.values(m, nodes)
			shares.add(value)
			values = append(values, value)
			r.total(functions, t, m, value)
		}
		all, plain := t.modes(Plain|Plain.Inlined()), t.modes(Plain)
		inViews{all, len(p.Functions), func(view, metric, n int) (exclusive, inclusive int64, ok bool) {
			return values[metric].Functions.of(n, view)
		}}.sums(functions, metrics, func(n int) { functions.Int32(int32(n)) })
		inViews{plain, len(p.Modules), func(view, metric, n int) (exclusive, inclusive int64, ok bool) {
			return values[metric].Modules.of(n, view)
		}}.sums(modules, metrics, func(n int) { modules.Int64(p.Modules[n].ID) })
		inViews{plain, len(p.Objects), func(view, metric, n int) (exclusive, inclusive int64, ok bool) {
			return values[metric].Objects.of(n, view)
		}}.sums(objects, metrics, func(n int) { objects.Int64(p.Objects[n].ID) })
		r.calls(calls, t, neighbours, metrics, values)
	})
	return shares.ranked(), schema.CloseAll(functions, modules, objects, calls)
}

// total appends a metric's values of `<Total>`.
func (r *Result) total(functions *schema.Rows, t *CallTree, metric int, values *Values) {
	for _, v := range t.totals(values) {
		begin(functions, v.modes, metric).Int32(r.function(program.None)).Int64(v.a).Int64(v.a)
	}
}

// totals are a metric's values of all stacks.
func (t *CallTree) totals(values *Values) sharing {
	s := make(sharing, 0, len(t.Views))
	for i, v := range values.Total {
		s = append(s, shared{t.Views[i].modes, v, 0})
	}
	return s.join()
}

// begin appends what the rows of all value tables begin with.
func begin(rows *schema.Rows, modes Mode, metric int) *schema.Rows {
	return rows.Modes(int32(modes)).Label(metric)
}

// neighbour is a function as another one has it next to it on stacks, or itself.
type neighbour struct {
	function, other program.FunctionNo // None for `<Total>`
	relation        int32
	pair            pairNo // of a caller and a callee
}

// neighbours returns the neighbours of all functions, function by function.
func (t *CallTree) neighbours() []neighbour {
	list := make([]neighbour, 0, 2*len(t.Pairs)+len(t.program.Functions)+1)
	for n, p := range t.Pairs {
		list = append(list, neighbour{p.Callee, p.Caller, caller, pairNo(n)}, neighbour{p.Caller, p.Callee, callee, pairNo(n)})
	}
	for n := range t.program.Functions {
		list = append(list, neighbour{function: program.FunctionNo(n), other: program.FunctionNo(n), relation: self})
	}
	list = append(list, neighbour{function: program.None, other: program.None, relation: self})
	slices.SortFunc(list, func(a, b neighbour) int {
		return cmp.Or(cmp.Compare(a.function, b.function), cmp.Compare(a.relation, b.relation), cmp.Compare(a.other, b.other))
	})
	return list
}

// attributed returns the value of a view that is attributed to a neighbour; not ok if there is none.
func (v *Values) attributed(n *neighbour, view int) (value int64, ok bool) {
	switch {
	case n.relation == self && n.function == program.None:
		return v.Total[view], true
	case n.relation == self:
		value, _, _ = v.Functions.of(int(n.function), view)
		return value, value != 0
	}
	toCaller, toCallee, ok := v.Calls.of(int(n.pair), view)
	if n.relation == caller {
		return toCaller, ok
	}
	return toCallee, ok
}

// calls appends the values of metrics that are attributed to neighbours of functions,
// given all of them.
func (r *Result) calls(rows *schema.Rows, t *CallTree, list []neighbour, metrics []int, values []*Values) {
	inViews{t.modes(Plain | Plain.Inlined()), len(list), func(view, metric, n int) (value, _ int64, ok bool) {
		value, ok = values[metric].attributed(&list[n], view)
		return value, 0, ok
	}}.each(metrics, func(n, metric int, x shared) {
		to := &list[n]
		begin(rows, x.modes, metric).Int32(r.function(to.function)).Label(int(to.relation)).Int32(r.function(to.other)).Int64(x.a)
	})
}
