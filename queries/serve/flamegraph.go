package serve

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"stackmill/internal/cachekey"
	"stackmill/queries"
	"stackmill/queries/flametree"
)

// defaultWidth is the default width of a flame graph in pixels, which decides how narrow frames may be.
const defaultWidth = 2000

// flameForms are the JSON forms of a flame graph: `tree` nests nodes as objects, `columns` has a list for each
// property of the nodes, in drawing order.
var flameForms = []string{"tree", "columns"}

// autoGrouping is the grouping that the server chooses.
const autoGrouping = "auto"

// treeParameters select the merged call tree of a flame graph.
var treeParameters = slices.Concat([]parameter{
	experimentParameter, metricParameter, modeParameter, inlineParameter,
	{name: "side", kind: "string", enum: flametree.Sides, doc: "another view of the tree: inverted, the functions by exclusive value, with their callers below; callers or callees, around the function, module or load object that group and of select"},
	{name: "group", kind: "string", enum: flametree.Groups, doc: "callers and callees: what `of` names; by default a function"},
	{name: "of", kind: "string", doc: "callers and callees: the name of the function, module or load object, by default the one with the highest exclusive value. A sample counts once, where its stack first enters it"},
	{name: "fold", kind: "string", repeatable: true, doc: "collapse the recursion of functions of this name: frames between the first and the last one of a stack are left out"},
}, filterParameters)

// partParameters select the part of a layout to draw.
var partParameters = []parameter{
	{name: "width", kind: "integer", doc: fmt.Sprintf("the width of the drawing in pixels: all nodes that are at least half a pixel wide are in the answer; by default %d", defaultWidth)},
	{name: "root", kind: "string", doc: "draw only the subtree of the node with this id, with its callers"},
	{name: "window", kind: "string", doc: "draw only what overlaps FROM,UNTIL: the left and right edge of the drawing, as parts of the whole width (0.25,0.5)"},
}

// searchParameters select what to search for, and which hits to list.
var searchParameters = []parameter{
	{name: "search", kind: "string", required: true, doc: "a part of the name of a function, module or load object, or /EXPRESSION/, a regular expression; without regard to case"},
	{name: "from", kind: "integer", doc: "list hits from this one on; the first is 0"},
	{name: "limit", kind: "integer", doc: fmt.Sprintf("list at most this many hits; by default %d", defaultHits)},
}

// flameLayout is the merged call tree of a selection, or a side of it.
type flameLayout struct {
	*flametree.Layout[int64]
	head     flametree.Head
	warnings []string
	state    string
	groups   groupings
}

func (l *flameLayout) bytes() int64 { return layoutBytes(len(l.Frames), l.Functions) }

// layoutBytes estimates the memory of a layout.
func layoutBytes(frames int, functions []flametree.Function) int64 {
	bytes := int64(frames) * 64
	for _, f := range functions {
		bytes += int64(len(f.Name)+len(f.LoadObject)+len(f.Module)) + 64
	}
	return bytes
}

// groupings are the groupings of a layout, made on first use.
type groupings struct {
	mu   sync.Mutex
	made map[string]*flametree.FunctionGroups
}

// flamegraph answers with the merged call trees of the experiments, as far as they are to be drawn. Nodes are
// `{name, value, exclusive, children}`. A child `<N more>` has the sums of its siblings that are too narrow.
func flamegraph(w *job) error {
	width, err := w.intValue("width", defaultWidth)
	if err != nil {
		return err
	}
	l, err := w.flameLayout()
	if err != nil {
		return err
	}
	window, err := windowOf(w.call, l.Layout)
	if err != nil {
		return err
	}
	head := l.head
	head.Window = l.PartOf(window)
	if by := w.values.Get("by"); by != "" {
		if head.Groups, err = w.grouping(by); err != nil {
			return err
		}
	}
	_, err = w.out.Write(flametree.Show(l.Layout, l.Drawn(window, width)).JSON(head, w.values.Get("form") == "columns"))
	return err
}

// windowOf returns the window that a call requests.
func windowOf[V flametree.Number](c *call, l *flametree.Layout[V]) (flametree.Window, error) {
	whole := l.Whole()
	root, window := c.values.Get("root"), c.values.Get("window")
	switch {
	case root != "" && window != "":
		return whole, badRequest(fmt.Errorf("window: give either root or window"))
	case root != "":
		id, err := strconv.ParseUint(root, 16, 64)
		if err != nil || len(root) != 16 {
			return whole, badRequest(fmt.Errorf("root: %q is not the id of a node (16 hexadecimal digits)", root))
		}
		n := l.Find(id)
		if n < 0 {
			return whole, &failure{404, fmt.Errorf("root: the call tree of this selection has no node %s", root)}
		}
		if n == 0 {
			return whole, nil
		}
		return flametree.Window{From: float64(l.Frames[n].Start), Until: float64(l.Frames[n].Start + l.Frames[n].Value)}, nil
	case window != "":
		from, until, _ := strings.Cut(window, ",")
		a, err := strconv.ParseFloat(from, 64)
		b, err2 := strconv.ParseFloat(until, 64)
		if err != nil || err2 != nil || !(0 <= a && a < b && b <= 1) {
			return whole, badRequest(fmt.Errorf("window: %q is not FROM,UNTIL with 0 <= FROM < UNTIL <= 1", window))
		}
		return flametree.Window{From: a * whole.Until, Until: b * whole.Until}, nil
	}
	return whole, nil
}

// flameLayout returns the layout that a call selects, and adds its warnings to the answer.
func (w *job) flameLayout() (*flameLayout, error) {
	side, err := w.flameSide()
	if err != nil {
		return nil, err
	}
	l, err := w.rootLayout()
	if err != nil {
		return nil, err
	}
	w.warnings, w.state = append(w.warnings, l.warnings...), l.state
	if side.Side == "" {
		return l, nil
	}
	return w.sideLayout(l, side)
}

// treeKey returns the key of the layout from the root that a call selects.
func (c *call) treeKey() []any {
	key := []any{"flame"}
	for _, p := range treeParameters {
		if p.name != "side" && p.name != "group" && p.name != "of" {
			key = append(key, c.values[p.name])
		}
	}
	return key
}

// rootLayout returns the layout from the root.
func (w *job) rootLayout() (*flameLayout, error) {
	l, err := w.from.layout(w.ctx, cachekey.Of(w.treeKey()...), func(ctx context.Context) (layout, error) {
		own := *w // the layout may be made for longer than this request lasts
		own.ctx, own.warnings = ctx, nil
		return own.readLayout()
	})
	if err != nil {
		return nil, err
	}
	return l.(*flameLayout), nil
}

// readLayout reads the layout from the root from the store.
func (w *job) readLayout() (layout, error) {
	mode, inline := w.mode(), w.inline()
	db, done, err := w.openTree(mode, inline)
	if err != nil {
		return nil, err
	}
	defer done()
	metric, unit, err := chooseMetric(w.ctx, db, w.values.Get("metric"))
	if err != nil {
		return nil, err
	}
	t, err := readFlameTree(w.ctx, db, metric, mode, inline)
	if err != nil {
		return nil, err
	}
	l := t.Layout()
	for _, name := range w.values["fold"] {
		l = flametree.Fold(l, name)
	}
	return &flameLayout{Layout: l, warnings: w.warnings, state: w.state,
		head: flametree.Head{Metric: metric, Unit: unit, Mode: mode, Experiments: db.Count, Nodes: len(l.Frames), Total: l.Total()}}, nil
}

// openTree opens the experiments and samples whose call trees a call selects.
func (w *job) openTree(mode string, inline bool) (*queries.DB, func(), error) {
	f, err := w.filter(mode, inline)
	if err != nil {
		return nil, nil, err
	}
	return w.openMetric(f, []string{"flame", "modules"}, w.values["experiment"]...)
}

// sideLayout returns a side of a layout from the root.
func (w *job) sideLayout(root *flameLayout, side flametree.Side) (*flameLayout, error) {
	if side.Side != "inverted" && side.Of == "" {
		side.Of = highest(root.Layout, side.Group)
	}
	l, err := w.from.layout(w.ctx, cachekey.Of(append(w.treeKey(), side.Side, side.Group, side.Of)...), func(context.Context) (layout, error) {
		l := &flameLayout{Layout: flametree.SideOf(root.Layout, side), head: root.head, state: root.state}
		l.head.Side = side
		if n := l.LeftOut(); n > 0 {
			l.warnings = append(l.warnings, fmt.Sprintf("the view from this side has too many frames: %d with low values are summed in frames <N more>", n))
		}
		return l, nil
	})
	if err != nil {
		return nil, err
	}
	w.warnings = append(w.warnings, l.(*flameLayout).warnings...)
	return l.(*flameLayout), nil
}

// highest returns the name of the function, module or load object with the highest exclusive value.
func highest(l *flametree.Layout[int64], group string) string {
	sums, best := map[string]int64{}, ""
	for _, f := range l.Frames {
		name := l.Functions[f.Function].Group(group)
		if f.Exclusive == 0 || name == "" || l.Functions[f.Function].Kind == "artificial" {
			continue
		}
		sums[name] += f.Exclusive
		if best == "" || sums[name] > sums[best] || sums[name] == sums[best] && name < best {
			best = name
		}
	}
	return cmp.Or(best, "<Total>")
}

// grouping returns the groups of the functions that a call's layout shows. Their values are those of the whole
// selection; of callers and callees, those of the samples that pass the function, module or load object.
func (w *job) grouping(by string) (*flametree.FunctionGroups, error) {
	root, err := w.rootLayout()
	if err != nil {
		return nil, err
	}
	if by == autoGrouping {
		g, err := w.groupsOf(root, by)
		if err != nil {
			return nil, err
		}
		by = g.By
	}
	side, err := w.flameSide()
	if err != nil {
		return nil, err
	}
	l := root
	if side.Side == "callers" || side.Side == "callees" {
		side.Side = "callees"
		if l, err = w.sideLayout(root, side); err != nil {
			return nil, err
		}
	}
	return w.groupsOf(l, by)
}

// groupsOf returns a grouping of a layout's functions.
func (w *job) groupsOf(l *flameLayout, by string) (*flametree.FunctionGroups, error) {
	l.groups.mu.Lock()
	defer l.groups.mu.Unlock()
	if g := l.groups.made[by]; g != nil {
		return g, nil
	}
	var err error
	var files map[flametree.Function]string
	file := func(f flametree.Function) string {
		if files == nil && err == nil {
			files, err = w.files()
		}
		return files[f]
	}
	var g *flametree.FunctionGroups
	if by == autoGrouping {
		g = flametree.Choose(l.Layout, file)
	} else {
		g = flametree.GroupBy(l.Layout, by, file)
	}
	if err != nil {
		return nil, err
	}
	if l.groups.made == nil {
		l.groups.made = map[string]*flametree.FunctionGroups{}
	}
	l.groups.made[by] = g
	return g, nil
}

// flameSide returns the side that a call requests.
func (c *call) flameSide() (flametree.Side, error) {
	s := flametree.Side{Side: c.values.Get("side"), Group: cmp.Or(c.values.Get("group"), flametree.Groups[0]), Of: c.values.Get("of")}
	if s.Side != "callers" && s.Side != "callees" {
		for _, name := range []string{"of", "group"} {
			if c.values.Has(name) {
				return s, badRequest(fmt.Errorf("%s: give it only if side is callers or callees", name))
			}
		}
	}
	return s, nil
}

// chooseMetric returns the requested metric and its unit; without a request, the metric that is the default of most
// experiments.
func chooseMetric(ctx context.Context, db *queries.DB, asked string) (metric, unit string, err error) {
	found, err := db.Metrics(ctx)
	if err != nil {
		return "", "", err
	}
	var known []string
	for _, m := range found {
		if asked == "" || m.Name == asked {
			return m.Name, m.Unit, nil
		}
		known = append(known, m.Name)
	}
	if asked == "" { // the experiments have no metrics
		return "", "", nil
	}
	return "", "", badRequest(fmt.Errorf("no metric %q%s", asked, queries.Suggest(asked, known)))
}
