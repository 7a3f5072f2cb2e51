package attribute

import "stackmill/schema"

// values emits the rows of the modes that v holds for.
func (r *Result) values(emit Emit, v *Values) error {
	p := r.Program
	functions, lines, sources := r.rows(schema.FunctionValues, emit), r.rows(schema.LineValues, emit), r.rows(schema.SourceValues, emit)
	pcs, modules, objects := r.rows(schema.PCValues, emit), r.rows(schema.ModuleValues, emit), r.rows(schema.ObjectValues, emit)
	calls := r.rows(schema.CallValues, emit).Labels("relation", relations...)
	tree := r.rows(schema.TreeValues, emit)
	v.Tree.identify(r.functionID)
	for i, modes := range v.Modes {
		s := modeRows{r, v, modes, i * len(r.Sums.Metrics)}
		s.total(functions)
		s.tally(functions, &v.Functions, func(n int) { functions.Int64(p.Functions[n].ID) })
		s.tally(lines, &v.Lines, func(n int) {
			k := &v.LineKeys[n]
			lines.Int64(p.Functions[k.Function].ID).Text(k.File).Int32(k.Line)
		})
		s.tally(sources, &v.Source, func(n int) { sources.Text(v.SourceKeys[n].File).Int32(v.SourceKeys[n].Line) })
		s.calls(calls)
		s.tree(tree)
		s.modes &= Plain
		s.tally(pcs, &v.PCs, func(n int) { pcs.Int64(p.Locations[n].ID) })
		s.tally(modules, &v.Modules, func(n int) { modules.Int64(p.Modules[n].ID) })
		s.tally(objects, &v.Objects, func(n int) { objects.Int64(p.Objects[n].ID) })
	}
	return closeAll(functions, lines, sources, calls, tree, pcs, modules, objects)
}

// modeRows appends the rows of one of the modes of values.
type modeRows struct {
	*Result
	v      *Values
	modes  Mode
	column int // of its first metric
}

// at is the place of a metric's value in a list by number of a thing and column.
func (s *modeRows) at(n, metric int) int { return n*s.v.width + s.column + metric }

// begin appends what the rows of all value tables begin with.
func (s *modeRows) begin(rows *schema.Rows, metric int) *schema.Rows {
	return rows.Label(0).Int32(int32(s.modes)).Label(metric)
}

func (s *modeRows) total(rows *schema.Rows) {
	for m := range s.Sums.Metrics {
		total := s.v.Total[s.at(0, m)]
		s.begin(rows, m).Int64(s.functionID(totalFunction)).Int64(total).Int64(total)
	}
}

// tally appends a row per thing and metric for which a stack has a value; key
// appends the columns that name the thing.
func (s *modeRows) tally(rows *schema.Rows, t *tally, key func(int)) {
	for n := range t.open {
		for m := range s.Sums.Metrics {
			if at := s.at(n, m); t.Seen[at] {
				s.begin(rows, m)
				key(n)
				rows.Int64(t.Exclusive[at]).Int64(t.Inclusive[at])
			}
		}
	}
}

func (s *modeRows) calls(rows *schema.Rows) {
	total, v := s.functionID(totalFunction), s.v
	for m := range s.Sums.Metrics {
		row := func(function int64, relation int, other int64, value int64) {
			s.begin(rows, m).Int64(function).Label(relation).Int64(other).Int64(value)
		}
		row(total, self, total, v.Total[s.at(0, m)])
		for n, p := range v.Pairs {
			if at := s.at(n, m); v.Calls.Seen[at] {
				from, to := s.functionID(p.Caller), s.functionID(p.Callee)
				row(to, caller, from, v.Calls.Callers[at])
				row(from, callee, to, v.Calls.Callees[at])
			}
		}
		for n := range s.Program.Functions {
			if at := s.at(n, m); v.Calls.Selves[at] {
				id := s.functionID(int32(n))
				row(id, self, id, v.Functions.Exclusive[at])
			}
		}
	}
}

func (s *modeRows) tree(rows *schema.Rows) {
	t := &s.v.Tree
	for m := range s.Sums.Metrics {
		for i := range t.Nodes {
			at := s.at(i, m)
			all, own := s.v.All[at].Value, s.v.Own[at].Value
			if i > 0 && all == 0 {
				continue
			}
			n := &t.Nodes[i]
			s.begin(rows, m).Int64(n.ID)
			if i > 0 {
				rows.Int64(t.Nodes[t.parent[i]].ID)
			} else {
				rows.Null()
			}
			rows.Int32(n.Depth).Int64(s.functionID(n.Function)).Int64(all).Int64(own)
		}
	}
}
