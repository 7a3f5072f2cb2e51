package serve

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"stackmill/queries/compare"
)

// flameDifferenceOf is the call trees of two groups of experiments as JSON has them.
type flameDifferenceOf struct {
	compare.Head
	Nodes int               `json:"nodes"` // all that there are
	Names differenceNames   `json:"names"`
	Level []int32           `json:"level"`
	Name  []int32           `json:"name"` // of names
	Of    differenceColumns `json:"values"`
}

type differenceNames struct {
	Name       []string `json:"name"`
	LoadObject []string `json:"load_object"`
	Module     []string `json:"module"`
	Kind       []string `json:"kind"`
}

// differenceColumns are means over the runs of a side.
type differenceColumns struct {
	Base          []float64 `json:"base"`
	Test          []float64 `json:"test"`
	BaseExclusive []float64 `json:"base_exclusive"`
	TestExclusive []float64 `json:"test_exclusive"`
}

func (o *flameDifferenceOf) add(n compare.Node, names map[flameName]int32, level int32) {
	name := flameName{n.Function, n.LoadObject, n.Module, n.Kind}
	number, ok := names[name]
	if !ok {
		number = int32(len(names))
		names[name] = number
		o.Names.Name, o.Names.LoadObject = append(o.Names.Name, n.Function), append(o.Names.LoadObject, n.LoadObject)
		o.Names.Module, o.Names.Kind = append(o.Names.Module, n.Module), append(o.Names.Kind, n.Kind)
	}
	o.Level, o.Name = append(o.Level, level), append(o.Name, number)
	v := &o.Of
	v.Base, v.Test = append(v.Base, n.Base), append(v.Test, n.Test)
	v.BaseExclusive, v.TestExclusive = append(v.BaseExclusive, n.BaseExclusive), append(v.TestExclusive, n.TestExclusive)
}

// differenceOf keeps the nodes that are widest when each is as wide as what is below it and
// the larger of its own two exclusive values, so that what only one side has is there, too.
func differenceOf(t *compare.Tree, most int) *flameDifferenceOf {
	widths := make([]float64, len(t.Nodes))
	for i := len(t.Nodes) - 1; i >= 0; i-- {
		n := &t.Nodes[i]
		widths[i] += math.Max(n.BaseExclusive, n.TestExclusive)
		if n.Caller >= 0 {
			widths[n.Caller] += widths[i]
		}
	}
	in := kept(len(t.Nodes), most, func(n int) (int32, float64) { return t.Nodes[n].Caller, widths[n] })
	rest, left := map[int32]compare.Node{}, map[int32]int{}
	below := make([]int, len(t.Nodes)) // how many nodes are below one that is left out
	var order []int32
	for i := len(t.Nodes) - 1; i >= 0; i-- {
		n := t.Nodes[i]
		switch {
		case in[i]:
			order = append(order, int32(i))
		case in[n.Caller]:
			r := rest[n.Caller]
			r.Base, r.Test = r.Base+n.Base, r.Test+n.Test
			rest[n.Caller] = r
			left[n.Caller] += 1 + below[i]
		default:
			below[n.Caller] += 1 + below[i]
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := t.Nodes[a], t.Nodes[b]
		return cmp.Or(cmp.Compare(x.Caller, y.Caller), cmp.Compare(widths[b], widths[a]), cmp.Compare(x.Function, y.Function), cmp.Compare(a, b))
	})
	o, names := &flameDifferenceOf{Head: t.Head(), Nodes: len(t.Nodes)}, map[flameName]int32{}
	drawn(order, func(n int32) int32 { return t.Nodes[n].Caller }, func(n int32) bool { return left[n] > 0 }, func(n, level int32) {
		if n >= 0 {
			o.add(t.Nodes[n], names, level)
			return
		}
		r := rest[^n]
		r.Function, r.Kind = fmt.Sprintf("<%d more>", left[^n]), "artificial"
		r.BaseExclusive, r.TestExclusive = r.Base, r.Test
		o.add(r, names, level)
	})
	return o
}
