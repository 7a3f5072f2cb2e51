package export

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"stackmill/queries/flametree"
)

// flameSink merges the stacks of experiments into a tree, and sums the values of functions.
type flameSink struct {
	*selection
	tree        *flametree.Tree
	functions   []functionSum
	experiments []*experiment // without the data that they refer to
	e           *experiment
	frames      [][]int32 // the functions in the tree, by number of the location; nil: not looked up yet
	numbers     map[*function]int32
	noStack     int32
	path        []int32
	samples     int64 // number of samples that passed; each is a sum by stack
}

// functionSum has the sums of a function: over the samples whose leaf it is, and over all samples whose stack
// contains it.
type functionSum struct {
	exclusive, inclusive int64
	last                 int64 // number of the last sample that was added, plus 1
}

func newFlameSink(s *selection) *flameSink {
	f := &flameSink{selection: s, tree: flametree.New(0), numbers: map[*function]int32{}}
	f.tree.Child(-1, f.tree.Intern(flametree.Function{Name: "<Total>", Kind: "artificial"}))
	f.noStack = f.tree.Intern(flametree.Function{Name: noStack, Kind: "artificial"})
	return f
}

func (f *flameSink) begin(e *experiment) error {
	f.e, f.frames = e, make([][]int32, len(e.locations))
	clear(f.numbers)
	f.experiments = append(f.experiments, &experiment{id: e.id, name: e.name, host: e.host, command: e.command, started: e.started, duration: e.duration, samples: e.samples, labels: e.labels})
	return nil
}

// number returns the number of a function in the tree.
func (f *flameSink) number(of *function) int32 {
	n, ok := f.numbers[of]
	if !ok {
		name := flametree.Function{Name: of.name, Module: of.shortModule, Kind: of.kind}
		if of.object != nil {
			name.LoadObject = cmp.Or(of.object.short, of.object.name)
		}
		n = f.tree.Intern(name)
		f.numbers[of] = n
	}
	return n
}

func (f *flameSink) sample(s *sample) error {
	f.path = f.path[:0]
	if thread := f.thread(f.e, s); thread != "" {
		f.path = append(f.path, f.tree.Intern(flametree.Function{Name: thread, Kind: "artificial"}))
	}
	above := len(f.path) // frames that are not functions
	for _, n := range s.path {
		for int(n) >= len(f.frames) { // locations of rows are added while they are read
			f.frames = append(f.frames, nil)
		}
		if f.frames[n] == nil {
			for _, l := range f.e.locations[n].frames(f.inline) {
				f.frames[n] = append(f.frames[n], f.number(l.function))
			}
		}
		f.path = append(f.path, f.frames[n]...)
	}
	if len(s.path) == 0 {
		f.path = append(f.path, f.noStack)
	}
	v := s.values[0]
	f.samples++
	for len(f.functions) < len(f.tree.Functions) {
		f.functions = append(f.functions, functionSum{})
	}
	for i, n := range f.path[above:] {
		of := &f.functions[n]
		if of.last != f.samples {
			of.last = f.samples
			of.inclusive += v
		}
		if i == len(f.path)-above-1 {
			of.exclusive += v
		}
	}
	f.add(v)
	return nil
}

// add adds a value to the nodes of the path. The total was checked (totalingSink), so that no sum exceeds 64 bits.
func (f *flameSink) add(v int64) {
	at := int32(0)
	f.tree.Nodes[at].Value += v
	for _, name := range f.path {
		at = f.tree.Child(at, name)
		f.tree.Nodes[at].Value += v
	}
	f.tree.Nodes[at].Exclusive += v
}

// highest returns the numbers of the functions with values, the highest exclusive ones first.
func (f *flameSink) highest() (order []int32) {
	for n, of := range f.functions {
		if of.inclusive != 0 {
			order = append(order, int32(n))
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y, m, n := &f.functions[a], &f.functions[b], f.tree.Functions[a], f.tree.Functions[b]
		return cmp.Or(cmp.Compare(y.exclusive, x.exclusive), cmp.Compare(y.inclusive, x.inclusive), strings.Compare(m.Name, n.Name),
			strings.Compare(m.LoadObject, n.LoadObject), strings.Compare(m.Module, n.Module))
	})
	return order
}

// head returns the description of the tree.
func (f *flameSink) head() flametree.Head {
	return flametree.Head{Metric: f.metrics[0].name, Unit: f.metrics[0].unit, Mode: f.mode, Experiments: len(f.experiments), Nodes: len(f.tree.Nodes), Total: f.tree.Total()}
}

// whole returns the total for shares; 1 if it is 0.
func (f *flameSink) whole() float64 { return math.Max(1, float64(f.tree.Total())) }
