package attribute

import (
	"stackmill/schema"
	"stackmill/stages/symbolize"
	"stackmill/stages/unwind"
)

// metricsAtOnce is of how many metrics the values of things are in memory at a time.
const metricsAtOnce = 8

// grouped calls emit with the numbers of all metrics, a few at a time.
func (r *Result) grouped(emit func(metrics []int)) {
	var group []int
	for m := range r.Sums.Metrics {
		if group = append(group, m); len(group) == metricsAtOnce || m == len(r.Sums.Metrics)-1 {
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
	r.grouped(func(metrics []int) {
		passing := s.stacks.passing(r.Sums, metrics)
		var ending [unwind.Modes]grid
		for i := range s.Views {
			v := &s.Views[i]
			if !v.inlined { // which comes first
				ending[v.leaf] = s.stacks.ending(v.leaf, r.Sums, metrics)
			}
			values := s.code(v, passing, ending[v.leaf])
			appendTallies(lines, v.modes, metrics, values.Lines, func(n int) {
				k := &s.LineKeys[n]
				lines.Int32(int32(k.Function)).Text(k.File).Int32(k.Line)
			})
			appendTallies(sources, v.modes, metrics, values.Source, func(n int) {
				k := &s.SourceKeys[n]
				sources.Text(k.File).Int32(k.Line)
				last[k.File] = max(last[k.File], k.Line)
			})
			appendTallies(pcs, v.modes&Plain, metrics, values.PCs, func(n int) { pcs.Int32(int32(n)) })
		}
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
	r.grouped(func(metrics []int) {
		var values []*Values // by metric
		for _, m := range metrics {
			value := t.values(r.Sums, m, nodes)
			shares.add(value)
			values = append(values, value)
		}
		for view := range t.Views {
			v := &t.Views[view]
			for i, m := range metrics {
				all := values[i].Total[view]
				begin(functions, v.modes, m).Int32(r.function(symbolize.None)).Int64(schema.StoredExclusive(all, all)).Int64(all)
			}
			ofFunctions := inView(values, view, func(v *Values) tally[symbolize.FunctionNo] { return v.Functions })
			appendTallies(functions, v.modes, metrics, ofFunctions, func(n int) { functions.Int32(int32(n)) })
			ofModules := inView(values, view, func(v *Values) tally[symbolize.ModuleNo] { return v.Modules })
			appendTallies(modules, v.modes&Plain, metrics, ofModules, func(n int) { modules.Int64(p.Modules[n].ID) })
			ofObjects := inView(values, view, func(v *Values) tally[symbolize.ObjectNo] { return v.Objects })
			appendTallies(objects, v.modes&Plain, metrics, ofObjects, func(n int) { objects.Int64(p.Objects[n].ID) })
		}
		for i, m := range metrics {
			r.neighbours(neighbours, t, m, values[i])
		}
	})
	return shares.ranked(), closeAll(functions, modules, objects, neighbours)
}

// inView returns the values of a view, by metric.
func inView[N ~int32](values []*Values, view int, of func(*Values) tally[N]) tally[N] {
	t := newTally[N](len(of(values[0]).within), len(values))
	for i := range values {
		from := of(values[i])
		for n := range t.within {
			t.Exclusive.row(n)[i], t.Inclusive.row(n)[i] = from.Exclusive.row(n)[view], from.Inclusive.row(n)[view]
		}
	}
	return t
}

// appendTallies appends a row per thing and metric for which a stack has a value; key
// appends the columns that name the thing. Without modes there are no rows: some things
// have values without inlined functions only.
func appendTallies[N ~int32](rows *schema.Rows, modes Mode, metrics []int, t tally[N], key func(thing int)) {
	if modes == 0 {
		return
	}
	for n := range t.within {
		exclusive := t.Exclusive.row(n)
		for i, inclusive := range t.Inclusive.row(n) {
			if inclusive > 0 {
				begin(rows, modes, metrics[i])
				key(n)
				rows.Int64(schema.StoredExclusive(exclusive[i], inclusive)).Int64(inclusive)
			}
		}
	}
}

// begin appends what the rows of all value tables begin with.
func begin(rows *schema.Rows, modes Mode, metric int) *schema.Rows {
	return rows.Int32(int32(modes)).Label(metric)
}

// neighbours appends a metric's values that are attributed to neighbours of functions,
// given all of them.
func (r *Result) neighbours(rows *schema.Rows, t *CallTree, metric int, values *Values) {
	row := func(modes Mode, function int32, relation int, other int32, value int64) {
		begin(rows, modes, metric).Int32(function).Label(relation).Int32(other).Int64(value)
	}
	total := r.function(symbolize.None)
	s := make(sharing, 0, len(t.Views))
	for i, v := range values.Total {
		s = append(s, shared{t.Views[i].modes, v, 0})
	}
	for _, v := range s.join() {
		row(v.modes, total, self, total, v.a)
	}
	for n, p := range t.Pairs {
		s = s[:0]
		for i := range t.Views {
			if caller, callee, ok := values.Calls.of(n, i); ok {
				s = append(s, shared{t.Views[i].modes, caller, callee})
			}
		}
		for _, v := range s.join() {
			from, to := r.function(p.Caller), r.function(p.Callee)
			row(v.modes, to, caller, from, v.a)
			row(v.modes, from, callee, to, v.b)
		}
	}
	for n := range r.Program.Functions {
		s = s[:0]
		for i, exclusive := range values.Functions.Exclusive.row(n) {
			if exclusive > 0 {
				s = append(s, shared{t.Views[i].modes, exclusive, 0})
			}
		}
		for _, v := range s.join() {
			row(v.modes, int32(n), self, int32(n), v.a)
		}
	}
}
