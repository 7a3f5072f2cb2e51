package attribute

import (
	"stackmill/schema"
	"stackmill/stages/symbolize"
	"stackmill/stages/tree"
)

// ValueRows emits the tables of values but those of the call tree.
func (r *Result) ValueRows(emit Emit, v *Values) error {
	p := r.Program
	functions, lines, sources := r.rows(schema.FunctionValues, emit), r.rows(schema.LineValues, emit), r.rows(schema.SourceValues, emit)
	pcs, modules, objects := r.rows(schema.PCValues, emit), r.rows(schema.ModuleValues, emit), r.rows(schema.ObjectValues, emit)
	for mode := range v.Modes {
		s := modeRows{r, v, mode, v.Modes[mode]}
		s.total(functions)
		appendTally(s, functions, &v.Functions, func(n int) { functions.Int64(p.Functions[n].ID) })
		appendTally(s, lines, &v.Lines, func(n int) {
			k := &v.LineKeys[n]
			lines.Int64(p.Functions[k.Function].ID).Text(k.File).Int32(k.Line)
		})
		appendTally(s, sources, &v.Source, func(n int) { sources.Text(v.SourceKeys[n].File).Int32(v.SourceKeys[n].Line) })
		if mode*len(r.Sums.Metrics) < v.plain {
			s.modes &= Plain
			appendTally(s, pcs, &v.PCs, func(n int) { pcs.Int64(p.Locations[n].ID) })
			appendTally(s, modules, &v.Modules, func(n int) { modules.Int64(p.Modules[n].ID) })
			appendTally(s, objects, &v.Objects, func(n int) { objects.Int64(p.Objects[n].ID) })
		}
	}
	return closeAll(functions, lines, sources, pcs, modules, objects, r.calls(emit, v))
}

// modeRows appends the rows of one of the modes of values.
type modeRows struct {
	*Result
	v     *Values
	mode  int
	modes Mode // as rows have them
}

func (s *modeRows) total(rows *schema.Rows) {
	for m := range s.Sums.Metrics {
		total := s.v.Total[s.mode*len(s.Sums.Metrics)+m]
		begin(rows, s.modes, m).Int64(s.functionID(symbolize.None)).Int64(total).Int64(total)
	}
}

// appendTally appends a row per thing and metric for which a stack has a value; key
// appends the columns that name the thing.
func appendTally[N ~int32](s modeRows, rows *schema.Rows, t *tally[N], key func(int)) {
	for n := range t.things {
		for m := range s.Sums.Metrics {
			if at := n*t.width + s.mode*len(s.Sums.Metrics) + m; t.Seen[at] {
				begin(rows, s.modes, m)
				key(n)
				rows.Int64(t.Exclusive[at]).Int64(t.Inclusive[at])
			}
		}
	}
}

// begin appends what the rows of all value tables begin with.
func begin(rows *schema.Rows, modes Mode, metric int) *schema.Rows {
	return rows.Int32(int32(modes)).Label(metric)
}

// alike calls row for the modes in which a metric has a value, once for those in
// which it is the same, with the column of the first of them.
func (v *Values) alike(metric int, has func(column int) bool, same func(a, b int) bool, row func(modes Mode, column int)) {
	metrics := v.width / len(v.Modes)
	done := Mode(0)
	for i, modes := range v.Modes {
		column := i*metrics + metric
		if done&modes != 0 || !has(column) {
			continue
		}
		for j := i + 1; j < len(v.Modes); j++ {
			if other := j*metrics + metric; has(other) && same(column, other) {
				modes |= v.Modes[j]
			}
		}
		done |= modes
		row(modes, column)
	}
}

func (r *Result) calls(emit Emit, v *Values) *schema.Rows {
	rows := r.rows(schema.CallValues, emit).Labels("relation", relations...)
	at, c, total := 0, &v.Calls, r.functionID(symbolize.None)
	for m := range r.Sums.Metrics {
		row := func(modes Mode, function int64, relation int, other int64, value int64) {
			begin(rows, modes, m).Int64(function).Label(relation).Int64(other).Int64(value)
		}
		v.alike(m, func(int) bool { return true }, func(a, b int) bool { return v.Total[a] == v.Total[b] },
			func(modes Mode, column int) { row(modes, total, self, total, v.Total[column]) })

		hasPair := func(column int) bool { return c.Seen[at+column] }
		samePair := func(a, b int) bool { return c.Callers[at+a] == c.Callers[at+b] && c.Callees[at+a] == c.Callees[at+b] }
		for n, p := range v.Pairs {
			at = n * v.width
			v.alike(m, hasPair, samePair, func(modes Mode, column int) {
				from, to := r.functionID(p.Caller), r.functionID(p.Callee)
				row(modes, to, caller, from, c.Callers[at+column])
				row(modes, from, callee, to, c.Callees[at+column])
			})
		}
		hasSelf := func(column int) bool { return c.Selves[at+column] }
		sameSelf := func(a, b int) bool { return v.Functions.Exclusive[at+a] == v.Functions.Exclusive[at+b] }
		for n := range v.program.Functions {
			at = n * v.width
			v.alike(m, hasSelf, sameSelf, func(modes Mode, column int) {
				id := r.functionID(symbolize.FunctionNo(n))
				row(modes, id, self, id, v.Functions.Exclusive[at+column])
			})
		}
	}
	return rows
}

// TreeRows emits the call tree: its nodes, and their values.
func (r *Result) TreeRows(emit Emit, v *Values) error {
	if len(r.Sums.Metrics) == 0 { // no node has a value, not even the root
		return nil
	}
	nodes, values := r.rows(schema.CallNodes, emit), r.rows(schema.TreeValues, emit)
	t := &v.Tree
	t.identify(r.functionID)
	number, below := t.Order()
	order := tree.InOrder[nodeNo](number)
	for i, n := range order {
		up := int32(0)
		if i > 0 {
			up = int32(i) - number[t.Parent[n]]
		}
		node := &t.Nodes[n]
		nodes.Int32(int32(i)).Int32(up).Int32(below[n]).Int32(node.Depth).Int64(node.ID).Int64(r.functionID(node.Function))
	}
	at := 0
	has := func(column int) bool { return at == 0 || v.All[at+column].Value != 0 }
	same := func(a, b int) bool {
		return v.All[at+a].Value == v.All[at+b].Value && v.Own[at+a].Value == v.Own[at+b].Value
	}
	for m := range r.Sums.Metrics {
		for i, n := range order {
			at = int(n) * v.width
			v.alike(m, has, same, func(modes Mode, column int) {
				begin(values, modes, m).Int32(int32(i)).Int64(v.All[at+column].Value).Int64(v.Own[at+column].Value)
			})
		}
	}
	return closeAll(nodes, values)
}
