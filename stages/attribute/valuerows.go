package attribute

import (
	"stackmill/schema"
	"stackmill/stages/symbolize"
	"stackmill/stages/unwind"
)

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
	lines, sources, pcs := r.rows(schema.LineValues, emit), r.rows(schema.SourceValues, emit), r.rows(schema.PCValues, emit).Expect(len(p.Locations))
	last = map[string]int32{}
	r.grouped(metricsAtOnce/len(s.Views), func(metrics []int) {
		passing := s.stacks.passing(r.Sums, metrics)
		var ending [unwind.Modes]grid
		values := make([]*codeValues, len(s.Views))
		for i := range s.Views {
			v := &s.Views[i]
			if !v.inlined { // which comes first
				ending[v.leaf] = s.stacks.ending(v.leaf, r.Sums, metrics)
			}
			values[i] = s.code(v, passing, ending[v.leaf])
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
			last[k.File] = max(last[k.File], k.Line)
		})
		inViews{plain, len(p.Locations), func(view, metric, n int) (exclusive, inclusive int64, ok bool) {
			return values[view].PCs.of(n, metric)
		}}.sums(pcs, metrics, func(n int) { pcs.Int32(int32(n)) })
	})
	return last, closeAll(lines, sources, pcs)
}

// FunctionRows emits the values of functions, modules and load objects, and those
// attributed to neighbours of functions. It returns the functions ranked.
func (r *Result) FunctionRows(emit Emit, t *CallTree) (ranked []symbolize.FunctionNo, err error) {
	neighbours := r.rows(schema.CallValues, emit).Labels("relation", relations...)
	functions, modules, objects := r.rows(schema.FunctionValues, emit), r.rows(schema.ModuleValues, emit), r.rows(schema.ObjectValues, emit)
	p, shares := r.Program, make(shares, len(r.Program.Functions))
	nodes := newGrid(t.Len(), len(t.Views))
	r.grouped(metricsAtOnce, func(metrics []int) {
		var values []*Values // by metric
		for _, m := range metrics {
			value := t.values(r.Sums, m, nodes)
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
		r.neighbours(neighbours, t, metrics, values)
	})
	return shares.ranked(), closeAll(functions, modules, objects, neighbours)
}

// total appends a metric's values of `<Total>`.
func (r *Result) total(functions *schema.Rows, t *CallTree, metric int, values *Values) {
	for _, v := range t.totals(values) {
		begin(functions, v.modes, metric).Int32(r.function(symbolize.None)).Int64(schema.StoredExclusive(v.a, v.a)).Int64(v.a)
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
	return rows.Int32(int32(modes)).Label(metric)
}

// neighbours appends the values of metrics that are attributed to neighbours of functions,
// given all of them.
func (r *Result) neighbours(rows *schema.Rows, t *CallTree, metrics []int, values []*Values) {
	row := func(modes Mode, metric int, function int32, relation int, other int32, value int64) {
		begin(rows, modes, metric).Int32(function).Label(relation).Int32(other).Int64(value)
	}
	all, root := t.modes(Plain|Plain.Inlined()), r.function(symbolize.None)
	for i, m := range metrics {
		for _, x := range t.totals(values[i]) {
			row(x.modes, m, root, self, root, x.a)
		}
	}
	inViews{all, len(r.Program.Functions), func(view, metric, n int) (value, _ int64, ok bool) {
		value, _, _ = values[metric].Functions.of(n, view)
		return value, 0, value > 0
	}}.each(metrics, func(n, metric int, x shared) { row(x.modes, metric, int32(n), self, int32(n), x.a) })
	inViews{all, len(t.Pairs), func(view, metric, n int) (value, _ int64, ok bool) {
		value, _, ok = values[metric].Calls.of(n, view)
		return value, 0, ok
	}}.each(metrics, func(n, metric int, x shared) {
		row(x.modes, metric, r.function(t.Pairs[n].Callee), caller, r.function(t.Pairs[n].Caller), x.a)
	})
	inViews{all, len(t.Pairs), func(view, metric, n int) (value, _ int64, ok bool) {
		_, value, ok = values[metric].Calls.of(n, view)
		return value, 0, ok
	}}.each(metrics, func(n, metric int, x shared) {
		row(x.modes, metric, r.function(t.Pairs[n].Caller), callee, r.function(t.Pairs[n].Callee), x.a)
	})
}
