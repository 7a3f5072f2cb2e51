package attribute

import (
	"stackmill/schema"
	"stackmill/stages/symbolize"
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
	lines, sources, pcs := r.rows(schema.LineValues, emit), r.rows(schema.SourceValues, emit), r.rows(schema.PCValues, emit)
	all := make([]int64, s.stacks.Nodes.Len())
	last = map[string]int32{}
	r.grouped(func(metrics []int) {
		for i := range s.Views {
			v := &s.Views[i]
			var values []*codeValues
			for _, m := range metrics {
				values = append(values, s.code(v, r.Sums, m, all))
			}
			ofLines := tallies(values, func(c *codeValues) tally[lineNo] { return c.Lines })
			appendTallies(lines, v.modes, metrics, ofLines, func(n int) {
				k := &s.LineKeys[n]
				lines.Int64(p.Functions[k.Function].ID).Text(k.File).Int32(k.Line)
			})
			ofSource := tallies(values, func(c *codeValues) tally[sourceNo] { return c.Source })
			appendTallies(sources, v.modes, metrics, ofSource, func(n int) {
				k := &s.SourceKeys[n]
				sources.Text(k.File).Int32(k.Line)
				last[k.File] = max(last[k.File], k.Line)
			})
			ofPCs := tallies(values, func(c *codeValues) tally[symbolize.LocationNo] { return c.PCs })
			appendTallies(pcs, v.modes&Plain, metrics, ofPCs, func(n int) { pcs.Int32(int32(n)) })
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
	own, all := make([]int64, t.Len()), make([]int64, t.Len())
	r.grouped(func(metrics []int) {
		byMetric := make([][]*Values, len(metrics)) // and view
		for i := range t.Views {
			v := &t.Views[i]
			var values []*Values
			for at, m := range metrics {
				t.sums(i, r.Sums, m, own, all)
				value := t.values(own, all)
				shares.add(value)
				begin(functions, v.modes, m).Int64(r.functionID(symbolize.None)).Int64(value.Total).Int64(value.Total)
				values, byMetric[at] = append(values, value), append(byMetric[at], value)
			}
			ofFunctions := tallies(values, func(v *Values) tally[symbolize.FunctionNo] { return v.Functions })
			appendTallies(functions, v.modes, metrics, ofFunctions, func(n int) { functions.Int64(p.Functions[n].ID) })
			ofModules := tallies(values, func(v *Values) tally[symbolize.ModuleNo] { return v.Modules })
			appendTallies(modules, v.modes&Plain, metrics, ofModules, func(n int) { modules.Int64(p.Modules[n].ID) })
			ofObjects := tallies(values, func(v *Values) tally[symbolize.ObjectNo] { return v.Objects })
			appendTallies(objects, v.modes&Plain, metrics, ofObjects, func(n int) { objects.Int64(p.Objects[n].ID) })
		}
		for at, m := range metrics {
			r.neighbours(neighbours, t, m, byMetric[at])
		}
	})
	return shares.ranked(), closeAll(functions, modules, objects, neighbours)
}

// tallies returns one tally of each of the values.
func tallies[V any, N ~int32](values []V, of func(V) tally[N]) (list []tally[N]) {
	for _, v := range values {
		list = append(list, of(v))
	}
	return list
}

// appendTallies appends a row per thing and metric for which a stack has a value; key
// appends the columns that name the thing. Tallies are by metric. Without modes there
// are no rows: some things have values without inlined functions only.
func appendTallies[N ~int32](rows *schema.Rows, modes Mode, metrics []int, tallies []tally[N], key func(thing int)) {
	if modes == 0 {
		return
	}
	for n := range tallies[0].Inclusive {
		for i, m := range metrics {
			if inclusive := tallies[i].Inclusive[n]; inclusive > 0 {
				begin(rows, modes, m)
				key(n)
				rows.Int64(tallies[i].Exclusive[n]).Int64(inclusive)
			}
		}
	}
}

// begin appends what the rows of all value tables begin with.
func begin(rows *schema.Rows, modes Mode, metric int) *schema.Rows {
	return rows.Int32(int32(modes)).Label(metric)
}

// neighbours appends a metric's values that are attributed to neighbours of functions,
// given those of the views.
func (r *Result) neighbours(rows *schema.Rows, t *CallTree, metric int, values []*Values) {
	row := func(modes Mode, function int64, relation int, other int64, value int64) {
		begin(rows, modes, metric).Int64(function).Label(relation).Int64(other).Int64(value)
	}
	total := r.functionID(symbolize.None)
	s := make(sharing, 0, len(values))
	for i, v := range values {
		s = append(s, shared{t.Views[i].modes, v.Total, 0})
	}
	for _, v := range s.join() {
		row(v.modes, total, self, total, v.a)
	}
	for n, p := range t.Pairs {
		s = s[:0]
		for i, v := range values {
			if v.Calls.Seen[n] {
				s = append(s, shared{t.Views[i].modes, v.Calls.Callers[n], v.Calls.Callees[n]})
			}
		}
		for _, v := range s.join() {
			from, to := r.functionID(p.Caller), r.functionID(p.Callee)
			row(v.modes, to, caller, from, v.a)
			row(v.modes, from, callee, to, v.b)
		}
	}
	for n := range r.Program.Functions {
		s = s[:0]
		for i, v := range values {
			if exclusive := v.Functions.Exclusive[n]; exclusive > 0 {
				s = append(s, shared{t.Views[i].modes, exclusive, 0})
			}
		}
		for _, v := range s.join() {
			id := r.Program.Functions[n].ID
			row(v.modes, id, self, id, v.a)
		}
	}
}
