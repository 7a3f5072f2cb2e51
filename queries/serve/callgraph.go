package serve

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"stackmill/queries"
	"stackmill/queries/flametree"
	"stackmill/queries/functions"
)

// mostMembers is the largest number of members of a cycle that an answer names.
const mostMembers = 100

// graphAnswer is the JSON of a function, module or load object in the graph of calls.
type graphAnswer struct {
	functions.Measure
	functions.Coverage
	Group string          `json:"group"`
	Total functions.Value `json:"total"` // what the filter leaves: the value of <Total>
	Whole functions.Value `json:"whole"` // the value of <Total> without the filter
	functions.Name
	Found     int             `json:"found"` // number with the requested name that have values; 0: all values below are 0
	Exclusive functions.Value `json:"exclusive"`
	Inclusive functions.Value `json:"inclusive"`
	Callers   []graphNeighbor `json:"callers"`
	Callees   []graphNeighbor `json:"callees"`
	Rest      functions.Rest  `json:"rest"`
	InCycle   int             `json:"in_cycle"` // the cycle of the function in the middle, as an index into Cycles; -1 if it is in none
	Closed    bool            `json:"closed"`   // the whole cycle is in the middle, as one
	Cycles    []graphCycle    `json:"cycles"`   // those that something in the answer is in
	numbers   map[int32]int   // indexes into Cycles
}

// graphNeighbor is a caller or callee.
type graphNeighbor struct {
	functions.Neighbor
	InCycle int `json:"in_cycle"` // index into Cycles; -1 if it is in none
}

// graphCycle is a cycle of functions, modules or load objects.
type graphCycle struct {
	Size    int              `json:"size"`
	Members []functions.Name `json:"members"` // the first mostMembers by name
}

// layoutOf returns the layout from the root of other experiments or of another metric than the call requests.
func (w *job) layoutOf(selectors []string, metric string) (*flametree.Layout[int64], error) {
	c, own := *w.call, *w
	c.values = maps.Clone(w.values)
	c.values["experiment"], c.values["metric"] = selectors, []string{metric}
	own.call, own.warnings = &c, nil
	l, err := own.rootLayout()
	if err != nil {
		return nil, err
	}
	return l.Layout, nil
}

// callGraph answers with the neighborhood of a function, module or load object in the graph of calls.
func callGraph(w *job) error {
	limit, err := w.intValue("limit", 0)
	if err != nil {
		return err
	}
	v := w.values
	for _, name := range []string{"name", "load-object", "module"} {
		if !utf8.ValidString(v.Get(name)) {
			return badRequest(fmt.Errorf("%s: %q is not UTF-8", name, v.Get(name)))
		}
	}
	f, err := w.filter(w.mode(), w.inline())
	if err != nil {
		return err
	}
	l, err := w.rootLayout()
	if err != nil {
		return err
	}
	w.warnings, w.state = append(w.warnings, l.warnings...), l.state
	a := &graphAnswer{Group: cmp.Or(v.Get("group"), flametree.CallGroups[0]), Callers: []graphNeighbor{}, Callees: []graphNeighbor{}, Cycles: []graphCycle{}, InCycle: -1, numbers: map[int32]int{}}
	a.Function, a.LoadObject, a.Module = v.Get("name"), v.Get("load-object"), v.Get("module")
	a.Measure = functions.Measure{Metric: l.head.Metric, Unit: l.head.Unit, Mode: w.mode(), Inline: w.inline()}
	a.Total = functions.Value(l.Total())
	if err := w.cover(a, f); err != nil {
		return err
	}
	g := flametree.NewCallGraph(l.Layout, a.Group)
	if chosen := a.find(g); chosen >= 0 {
		a.describe(g, chosen, v.Get("cycle") == "true", limit)
	}
	return w.writeJSON(a)
}

// cover says how many of the experiments have the metric, and its value in them without the filter.
func (w *job) cover(a *graphAnswer, f queries.Filter) (err error) {
	db, done, err := w.from.session(w.ctx, selection{selectors: w.values["experiment"]})
	if err != nil {
		return err
	}
	defer done()
	if a.Coverage, err = functions.Cover(w.ctx, db, a.Metric); err != nil {
		return err
	}
	a.Whole, err = w.whole(f, a.Total, &a.Measure, w.values["experiment"]...)
	return err
}

// find returns the group in the middle, or -1 if none has the requested name.
func (a *graphAnswer) find(g *flametree.CallGraph) int32 {
	exclusive, inclusive := g.Values()
	chosen, long := int32(-1), utf8.RuneCountInString(a.Function) >= functions.LongName
	before := func(i, j int32) int {
		if a.Function == "" {
			return cmp.Or(cmp.Compare(exclusive[j], exclusive[i]), cmp.Compare(inclusive[j], inclusive[i]), cmp.Compare(i, j))
		}
		return cmp.Or(cmp.Compare(inclusive[j], inclusive[i]), cmp.Compare(exclusive[j], exclusive[i]), cmp.Compare(i, j))
	}
	for i, n := range g.Names {
		switch {
		case a.Function != "" && n.Name != a.Function && !(long && strings.HasPrefix(n.Name, a.Function)), a.Function == "" && n.Kind == "artificial":
		case !endsIn(n.LoadObject, a.LoadObject), !endsIn(n.Module, a.Module):
		default:
			if a.Found++; chosen < 0 || before(int32(i), chosen) < 0 {
				chosen = int32(i)
			}
		}
	}
	if a.Function == "" {
		a.Found = min(a.Found, 1)
	}
	return chosen
}

// endsIn reports whether a path, or the end of it, is the requested one; any path if none is requested.
func endsIn(path, asked string) bool {
	rest, ok := strings.CutSuffix(path, asked)
	return asked == "" || ok && (rest == "" || strings.HasSuffix(rest, "/"))
}

// describe fills the answer with the neighborhood of a group.
func (a *graphAnswer) describe(g *flametree.CallGraph, chosen int32, whole bool, limit int) {
	n := g.Neighbors(chosen, a.Group, whole)
	a.Name = graphName(g.Names[chosen])
	a.Exclusive, a.Inclusive = functions.Value(n.Exclusive), functions.Value(n.Inclusive)
	a.InCycle = a.cycleOf(g, chosen)
	a.Closed = whole && a.InCycle >= 0
	a.Callers, a.Rest.Callers = a.neighbors(g, n.Callers, limit)
	a.Callees, a.Rest.Callees = a.neighbors(g, n.Callees, limit)
}

// neighbors returns the neighbors with the highest values, and what is left out.
func (a *graphAnswer) neighbors(g *flametree.CallGraph, values []flametree.CallValue, limit int) ([]graphNeighbor, functions.Remainder) {
	list := make([]graphNeighbor, 0, len(values))
	var rest functions.Remainder
	for i, v := range values {
		if limit > 0 && i >= limit {
			rest.Count++
			rest.Attributed += functions.Value(v.Value)
			continue
		}
		list = append(list, graphNeighbor{functions.Neighbor{Name: graphName(g.Names[v.Group]), Attributed: functions.Value(v.Value)}, a.cycleOf(g, v.Group)})
	}
	return list, rest
}

// cycleOf returns the index into Cycles of the cycle that a group is in, and adds the cycle if it is new; -1 if it is
// in none.
func (a *graphAnswer) cycleOf(g *flametree.CallGraph, group int32) int {
	cycle := g.Cycle(group)
	if cycle == 0 {
		return -1
	}
	number, ok := a.numbers[cycle]
	if !ok {
		number = len(a.Cycles)
		a.numbers[cycle] = number
		c := graphCycle{Size: len(g.Cycles[cycle]), Members: []functions.Name{}}
		for _, m := range g.Cycles[cycle] {
			c.Members = append(c.Members, graphName(g.Names[m]))
		}
		slices.SortFunc(c.Members, func(x, y functions.Name) int {
			return cmp.Or(cmp.Compare(x.Function, y.Function), cmp.Compare(x.LoadObject, y.LoadObject), cmp.Compare(x.Module, y.Module))
		})
		c.Members = c.Members[:min(len(c.Members), mostMembers)]
		a.Cycles = append(a.Cycles, c)
	}
	return number
}

func graphName(f flametree.Function) functions.Name {
	return functions.Name{Function: f.Name, LoadObject: f.LoadObject, Module: f.Module, Kind: f.Kind}
}
