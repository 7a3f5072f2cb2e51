package serve

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"stackmill/queries/compare"
	"stackmill/queries/flametree"
)

// differenceAnswer is the JSON of the call trees of two groups of experiments.
type differenceAnswer struct {
	compare.Head
	Nodes  int               `json:"nodes"` // number of nodes before any were left out
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

// differenceColumns has, by node, the mean values over the runs of each side.
type differenceColumns struct {
	Base          []float64 `json:"base"`
	Test          []float64 `json:"test"`
	BaseExclusive []float64 `json:"base_exclusive"`
	TestExclusive []float64 `json:"test_exclusive"`
}

func (o *differenceAnswer) add(n compare.Node, names map[flametree.Function]int32, level int32) {
	name := flametree.Function{Name: n.Function, LoadObject: n.LoadObject, Module: n.Module, Kind: n.Kind}
	number, ok := names[name]
	if !ok {
		number = int32(len(names))
		names[name] = number
		o.Names.Name, o.Names.LoadObject = append(o.Names.Name, n.Function), append(o.Names.LoadObject, n.LoadObject)
		o.Names.Module, o.Names.Kind = append(o.Names.Module, n.Module), append(o.Names.Kind, n.Kind)
	}
	o.Level, o.Name = append(o.Level, level), append(o.Name, number)
	v := &o.Values
	v.Base, v.Test = append(v.Base, n.Base), append(v.Test, n.Test)
	v.BaseExclusive, v.TestExclusive = append(v.BaseExclusive, n.BaseExclusive), append(v.TestExclusive, n.TestExclusive)
}

// newDifferenceAnswer returns the widest nodes, at most `most`. The width of a node is the larger of its two
// exclusive values, plus the widths of its children, so that paths that only one side has are kept as well.
func newDifferenceAnswer(t *compare.Tree, most int) *differenceAnswer {
	widths := make([]float64, len(t.Nodes))
	for i := len(t.Nodes) - 1; i >= 0; i-- {
		n := &t.Nodes[i]
		widths[i] += math.Max(n.BaseExclusive, n.TestExclusive)
		if n.Caller >= 0 {
			widths[n.Caller] += widths[i]
		}
	}
	in := flametree.ChooseNodes(len(t.Nodes), most, func(n int) (int32, float64) { return t.Nodes[n].Caller, widths[n] })
	rest, left := map[int32]compare.Node{}, map[int32]int{}
	below := make([]int, len(t.Nodes)) // by left-out node: number of nodes below it
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
	o, names := &differenceAnswer{Head: t.Head(), Nodes: len(t.Nodes)}, map[flametree.Function]int32{}
	flametree.WalkInOrder(order, func(n int32) int32 { return t.Nodes[n].Caller }, func(n int32) bool { return left[n] > 0 }, func(n, level int32) {
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
