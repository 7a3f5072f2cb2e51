package attribute

import (
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
	own := s.ownership()
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
		}}.without(func(n int) bool { return own.line[s.LineKeys[n].Function] }).sums(lines, metrics, func(n int, _ int64) Mode {
			return given(own.source[s.source[n]], schema.ForSource)
		}, func(n int) {
			k := &s.LineKeys[n]
			lines.Int32(int32(k.Function)).Text(k.File).Int32(k.Line)
		})
		inViews{all, len(s.SourceKeys), func(view, metric, n int) (exclusive, inclusive int64, ok bool) {
			return values[view].Source.of(n, metric)
		}}.without(func(n int) bool { return own.source[n] }).sums(sources, metrics, alone, func(n int) {
			k := &s.SourceKeys[n]
			sources.Text(k.File).Int32(k.Line)
		})
		inViews{plain, p.Locations.Len(), func(view, metric, n int) (exclusive, inclusive int64, ok bool) {
			return values[view].PCs.of(n, metric)
		}}.without(func(n int) bool { return own.location[p.Location(program.LocationNo(n)).Function] }).sums(pcs, metrics, alone, func(n int) { pcs.Int32(int32(n)) })
	})
	return last, schema.CloseAll(lines, sources, pcs)
}

// FunctionRows emits the values of functions, modules and load objects, and those
// attributed to neighbours of functions. It returns the functions ranked.
func (r *Result) FunctionRows(emit Emit, t *CallTree) (ranked []program.FunctionNo, err error) {
	neighbours := r.Rows(schema.CallValues, emit).Labels("relation", relations...)
	functions, modules, objects := r.Rows(schema.FunctionValues, emit), r.Rows(schema.ModuleValues, emit), r.Rows(schema.ObjectValues, emit)
	p, shares := r.Program, make(shares, len(r.Program.Functions))
	nodes := newGrid(t.Len(), t.ends.layout(len(t.Views)))
	own := t.ownership()
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
		}}.sums(functions, metrics, func(n int, exclusive int64) Mode {
			return given(exclusive != 0, schema.ForSelf) | own.standing(p, n)
		}, func(n int) { functions.Int32(int32(n)) })
		inViews{plain, len(p.Modules), func(view, metric, n int) (exclusive, inclusive int64, ok bool) {
			return values[metric].Modules.of(n, view)
		}}.without(func(n int) bool { return own.module[n] }).sums(modules, metrics, alone, func(n int) { modules.Int64(p.Modules[n].ID) })
		inViews{plain, len(p.Objects), func(view, metric, n int) (exclusive, inclusive int64, ok bool) {
			return values[metric].Objects.of(n, view)
		}}.sums(objects, metrics, alone, func(n int) { objects.Int64(p.Objects[n].ID) })
		r.neighbours(neighbours, t, metrics, values)
	})
	return shares.ranked(), schema.CloseAll(functions, modules, objects, neighbours)
}

// total appends a metric's values of `<Total>`.
func (r *Result) total(functions *schema.Rows, t *CallTree, metric int, values *Values) {
	for _, v := range t.totals(values) {
		begin(functions, v.modes|schema.ForSelf, metric).Int32(r.function(program.None)).Int64(v.a).Int64(v.a)
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
// given all of them. Rows of functions stand for what is attributed to themselves, and with
// nodes that are alone.
func (r *Result) neighbours(rows *schema.Rows, t *CallTree, metrics []int, values []*Values) {
	row := func(modes Mode, metric int, function program.FunctionNo, relation int, other program.FunctionNo, value int64) {
		from, to := r.function(function), r.function(other)
		begin(rows, modes, metric).Int32(from).Label(relation).Int32(to - from).Int64(value)
	}
	alone := t.alonePairs()
	inViews{t.modes(Plain | Plain.Inlined()), len(t.Pairs), func(view, metric, n int) (caller, callee int64, ok bool) {
		caller, callee, ok = values[metric].Calls.of(n, view)
		return caller, callee, ok && alone[n]&t.Views[view].modes == 0
	}}.each(metrics, func(n, metric int, x shared) {
		p := t.Pairs[n]
		row(x.modes|given(x.a == x.b, schema.ForCallee), metric, p.Callee, caller, p.Caller, x.a)
		if x.a != x.b {
			row(x.modes, metric, p.Caller, callee, p.Callee, x.b)
		}
	})
}
