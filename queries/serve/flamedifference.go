package serve

import (
	"context"
	"fmt"
	"math"

	"stackmill/internal/cachekey"
	"stackmill/queries/compare"
	"stackmill/queries/flametree"
)

// differenceLayout is the merged call tree of two groups of experiments. The value of a frame is its width: the larger
// of its two exclusive values, plus the widths of its children, so that paths that only one side has are drawn, too.
type differenceLayout struct {
	*flametree.Layout[float64]
	tree     *compare.Tree
	warnings []string
	state    string
}

func (l *differenceLayout) bytes() int64 {
	return layoutBytes(len(l.Frames), l.Functions) + int64(len(l.tree.Nodes))*128
}

// differenceAnswer is the JSON of the call trees of two groups of experiments.
type differenceAnswer struct {
	compare.Head
	Nodes  int               `json:"nodes"`  // number of nodes before any were left out
	Total  float64           `json:"total"`  // width of the root
	Window flametree.Part    `json:"window"` // the part that is shown
	Names  differenceNames   `json:"names"`
	Level  []int32           `json:"level"`
	Name   []int32           `json:"name"` // by node: index into Names
	Values differenceColumns `json:"values"`
}

type differenceNames struct {
	Name       []string `json:"name"`
	LoadObject []string `json:"load_object"`
	Module     []string `json:"module"`
	Kind       []string `json:"kind"`
}

// differenceColumns has, by node, its position and width, and the mean values over the runs of each side.
type differenceColumns struct {
	Start         []float64 `json:"start"`
	Width         []float64 `json:"width"`
	Base          []float64 `json:"base"`
	Test          []float64 `json:"test"`
	BaseExclusive []float64 `json:"base_exclusive"`
	TestExclusive []float64 `json:"test_exclusive"`
}

// flameDifference answers with the merged call trees of two groups of experiments: one tree, in which each path has
// the mean values of both groups. As in a flame graph, the nodes are in columns.
func flameDifference(w *job) error {
	width, err := w.intValue("width", defaultWidth)
	if err != nil {
		return err
	}
	l, err := w.differenceLayout()
	if err != nil {
		return err
	}
	window, err := windowOf(w.call, l.Layout)
	if err != nil {
		return err
	}
	a := l.answer(l.Drawn(window, width))
	a.Window = *l.PartOf(window)
	return w.writeJSON(a)
}

// differenceSearch is the JSON of a search in a difference flame graph: of the samples that pass a hit, the value is
// the width, base and test are the means of both sides.
type differenceSearch struct {
	*searchAnswer
	Base float64 `json:"base"`
	Test float64 `json:"test"`
}

// searchDifference answers with the frames of the whole difference tree that a search finds.
func searchDifference(w *job) error {
	match, err := w.matcher()
	if err != nil {
		return err
	}
	l, err := w.differenceLayout()
	if err != nil {
		return err
	}
	a, outermost, err := search(w.call, l.Layout, match)
	if err != nil {
		return err
	}
	o, value := differenceSearch{searchAnswer: a}, 0.0
	for _, n := range outermost {
		f := &l.Frames[n]
		value += f.Value
		o.Base, o.Test = o.Base+l.tree.Nodes[f.Source].Base, o.Test+l.tree.Nodes[f.Source].Test
	}
	a.Value, a.Total = value, l.Total()
	return w.writeJSON(o)
}

// differenceLayout returns the layout of the comparison that a call selects, and adds its warnings to the answer.
func (w *job) differenceLayout() (*differenceLayout, error) {
	r, err := comparisonRequest(w)
	if err != nil {
		return nil, err
	}
	key := []any{"difference"}
	for _, p := range differenceParameters {
		key = append(key, w.values[p.name])
	}
	made, err := w.from.layout(w.ctx, cachekey.Of(key...), func(ctx context.Context) (layout, error) {
		own := *w // the layout may be made for longer than this request lasts
		own.ctx, own.warnings = ctx, nil
		return own.readDifference(r)
	})
	if err != nil {
		return nil, err
	}
	l := made.(*differenceLayout)
	w.warnings, w.state = append(w.warnings, l.warnings...), l.state
	return l, nil
}

// readDifference reads the layout of a comparison from the store.
func (w *job) readDifference(r compare.Request) (layout, error) {
	r.By = "path"
	db, done, err := w.openCompared(&r)
	if err != nil {
		return nil, err
	}
	defer done()
	t, err := compare.Trees(w.ctx, db, r)
	if err != nil {
		return nil, requestError(err)
	}
	return &differenceLayout{Layout: arrangeDifference(t), tree: t, warnings: w.warnings, state: w.state}, nil
}

// arrangeDifference returns the layout of a difference tree.
func arrangeDifference(t *compare.Tree) *flametree.Layout[float64] {
	widths := make([]float64, len(t.Nodes))
	functions := make([]int32, len(t.Nodes))
	names := flametree.New(0)
	for i := len(t.Nodes) - 1; i >= 0; i-- {
		n := &t.Nodes[i]
		functions[i] = names.Intern(flametree.Function{Name: n.Function, LoadObject: n.LoadObject, Module: n.Module, Kind: n.Kind})
		widths[i] += math.Max(n.BaseExclusive, n.TestExclusive)
		if n.Caller >= 0 {
			widths[n.Caller] += widths[i]
		}
	}
	return flametree.Arrange(names.Functions, len(t.Nodes), func(i int) flametree.Frame[float64] {
		n := &t.Nodes[i]
		return flametree.Frame[float64]{Function: functions[i], Parent: n.Caller, Value: widths[i], Exclusive: math.Max(n.BaseExclusive, n.TestExclusive)}
	})
}

// answer returns the JSON of frames.
func (l *differenceLayout) answer(frames []flametree.Frame[float64]) *differenceAnswer {
	o, names := &differenceAnswer{Head: l.tree.Head(), Nodes: len(l.Frames), Total: l.Total()}, map[flametree.Function]int32{}
	v := &o.Values
	for _, f := range frames {
		var n compare.Node
		if f.More > 0 {
			n = l.rest(&f)
			o.add(flametree.Function{Name: fmt.Sprintf("<%d more>", f.More), Kind: "artificial"}, f.Level, names)
		} else {
			n = l.tree.Nodes[f.Source]
			o.add(l.Functions[f.Function], f.Level, names)
		}
		v.Start, v.Width = append(v.Start, f.Start), append(v.Width, f.Value)
		v.Base, v.Test = append(v.Base, n.Base), append(v.Test, n.Test)
		v.BaseExclusive, v.TestExclusive = append(v.BaseExclusive, n.BaseExclusive), append(v.TestExclusive, n.TestExclusive)
	}
	return o
}

// add adds a node without its values.
func (o *differenceAnswer) add(f flametree.Function, level int32, names map[flametree.Function]int32) {
	number, ok := names[f]
	if !ok {
		number = int32(len(names))
		names[f] = number
		o.Names.Name, o.Names.LoadObject = append(o.Names.Name, f.Name), append(o.Names.LoadObject, f.LoadObject)
		o.Names.Module, o.Names.Kind = append(o.Names.Module, f.Module), append(o.Names.Kind, f.Kind)
	}
	o.Level, o.Name = append(o.Level, level), append(o.Name, number)
}

// rest returns the sums of the frames in a sum.
func (l *differenceLayout) rest(f *flametree.Frame[float64]) (sum compare.Node) {
	for n := f.Source; n <= f.Source+f.More-1; n = l.Frames[n].Last + 1 {
		at := &l.tree.Nodes[l.Frames[n].Source]
		sum.Base, sum.Test = sum.Base+at.Base, sum.Test+at.Test
	}
	sum.BaseExclusive, sum.TestExclusive = sum.Base, sum.Test
	return sum
}
