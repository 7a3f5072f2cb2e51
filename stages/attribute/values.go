package attribute

import (
	"slices"

	"stackmill/schema"
	"stackmill/stages/symbolize"
	"stackmill/stages/unwind"
)

// Mode is one of the manual's representations of a stack, as a bit.
type Mode int32

// The modes.
const (
	User    Mode = 1
	Expert  Mode = 2
	Machine Mode = 4
	Plain        = User | Expert | Machine // without inlined functions
)

// Inlined is the mode with inlined functions as frames of their own (S10).
func (m Mode) Inlined() Mode { return m << 3 }

// Values are the exclusive, inclusive and attributed values of one or more
// modes. Each distinct stack is walked once, with the sums of its samples.
type Values struct {
	Modes      Mode
	Total      []int64 // by metric
	Functions  tally
	Lines      tally
	Source     tally // source lines, of all functions together
	PCs        tally // this and the next two in plain modes only
	Modules    tally
	Objects    tally
	LineKeys   []LineKey   // by line number in Lines
	SourceKeys []SourceKey // by line number in Source
	Calls      []Call
	Tree       []Node // parents stand before their children

	metrics  int
	calls    map[callKey]int
	lines    map[LineKey]int32
	sources  map[SourceKey]int32
	sourceOf []int32 // by line number in Lines: that in Source
	children map[edge]int32
	lastAt   []int32 // by function: leaf-most frame of the stack being walked
	places   []place // of the stack being walked, leaf first
}

// place is where a frame is: in an inlined function, if the mode shows them.
type place struct {
	location int32
	LineKey
}

// LineKey is a source line of a function.
type LineKey struct {
	Function int32
	File     string
	Line     int32
}

// SourceKey is a line of a source file.
type SourceKey struct {
	File string
	Line int32
}

// totalFunction stands for `<Total>` where a function's number is expected.
const totalFunction = -1

// The relations of a neighbour.
const (
	Caller = "caller"
	Self   = "self"
	Callee = "callee"
)

type callKey struct {
	Function, Other int32 // totalFunction for `<Total>`
	Relation        string
}

// Call is the value attributed to a neighbour of a function.
type Call struct {
	callKey
	Attributed []int64 // by metric
	Seen       []bool  // by metric: whether a stack with a value has the pair
}

type edge struct{ parent, function int32 }

// Node is a node of the call tree.
type Node struct {
	ID                    int64
	Parent                int32 // -1 for the root
	Depth                 int32
	Function              int32 // totalFunction for the root
	Attributed, Exclusive []int64
}

// tally holds exclusive and inclusive values by number of a thing and metric.
type tally struct {
	metrics              int
	Exclusive, Inclusive []int64
	Seen                 []bool  // whether a stack with a value passes
	stamp                []int32 // the walk that counted the thing last
}

func (t *tally) grow(n int32) int {
	need := (int(n) + 1) * t.metrics
	if need > len(t.Inclusive) {
		more := max(need-len(t.Inclusive), len(t.Inclusive))
		more += -more % t.metrics
		t.Exclusive = append(t.Exclusive, make([]int64, more)...)
		t.Inclusive = append(t.Inclusive, make([]int64, more)...)
		t.Seen = append(t.Seen, make([]bool, more)...)
		t.stamp = append(t.stamp, make([]int32, more/t.metrics)...)
	}
	return int(n) * t.metrics
}

// include counts the thing once per walk.
func (t *tally) include(n, walk int32, v []Sum) {
	at := t.grow(n)
	if t.stamp[n] == walk {
		return
	}
	t.stamp[n] = walk
	for m, s := range v {
		t.Inclusive[at+m] += s.Value
		t.Seen[at+m] = t.Seen[at+m] || s.Samples > 0
	}
}

func (t *tally) exclude(n int32, v []Sum) {
	at := t.grow(n)
	for m, s := range v {
		t.Exclusive[at+m] += s.Value
	}
}

// Compute computes the values of all modes. Modes in which every stack is the
// same share one result.
func Compute(p *symbolize.Program, stacks *Stacks, sums *Sums) []*Values {
	pick := map[Mode]func(*Recorded) int32{
		User:    func(r *Recorded) int32 { return r.User },
		Expert:  func(r *Recorded) int32 { return r.Expert },
		Machine: func(r *Recorded) int32 { return r.Machine },
	}
	var all []*Values
	var picked [][]int32
next:
	for _, mode := range []Mode{User, Expert, Machine} {
		of := make([]int32, len(stacks.Recorded))
		for i := range stacks.Recorded {
			of[i] = pick[mode](&stacks.Recorded[i])
		}
		for i := range all {
			if slices.Equal(picked[i], of) {
				all[i].Modes |= mode
				continue next
			}
		}
		all = append(all, compute(p, stacks, sums, of, mode))
		picked = append(picked, of)
	}
	for i, v := range all {
		if !hasInlined(p, stacks, picked[i]) {
			v.Modes |= v.Modes.Inlined()
			continue
		}
		all = append(all, compute(p, stacks, sums, picked[i], v.Modes.Inlined()))
	}
	return all
}

// hasInlined reports whether code on one of the stacks was inlined.
func hasInlined(p *symbolize.Program, stacks *Stacks, of []int32) bool {
	seen := make([]bool, len(stacks.Set.Stacks))
	for _, n := range of {
		if seen[n] {
			continue
		}
		seen[n] = true
		for _, f := range stacks.Set.Stacks[n].Frames {
			if len(p.InlinedAt(f.Location)) > 0 {
				return true
			}
		}
	}
	return false
}

func compute(p *symbolize.Program, stacks *Stacks, sums *Sums, of []int32, mode Mode) *Values {
	n := len(sums.Metrics)
	v := &Values{
		Modes: mode, Total: make([]int64, n), metrics: n,
		calls: map[callKey]int{}, lines: map[LineKey]int32{}, sources: map[SourceKey]int32{}, children: map[edge]int32{},
		lastAt: make([]int32, len(p.Functions)),
	}
	for _, t := range []*tally{&v.Functions, &v.Lines, &v.Source, &v.PCs, &v.Modules, &v.Objects} {
		t.metrics = n
	}
	v.node(-1, totalFunction, 0)
	perStack := make([][]Sum, len(stacks.Set.Stacks))
	var order []int32 // of first use
	for i, stack := range of {
		if sum := sums.Of(i); !isZero(sum) {
			if perStack[stack] == nil {
				perStack[stack] = make([]Sum, n)
				order = append(order, stack)
			}
			for m, s := range sum {
				perStack[stack][m].Value += s.Value
				perStack[stack][m].Samples += s.Samples
			}
		}
	}
	for walk, stack := range order {
		v.add(p, &stacks.Set.Stacks[stack], perStack[stack], int32(walk+1))
	}
	v.finish()
	return v
}

func isZero(sums []Sum) bool {
	return !slices.ContainsFunc(sums, func(s Sum) bool { return s.Samples != 0 })
}

// add walks one stack. A stack without frames counts for `<Total>` only.
func (v *Values) add(p *symbolize.Program, s *unwind.Stack, sum []Sum, walk int32) {
	for m := range sum {
		v.Total[m] += sum[m].Value
	}
	v.place(p, s)
	node := int32(0)
	for i := len(v.places) - 1; i >= 0; i-- {
		at := &v.places[i]
		line := v.line(at.LineKey)
		v.Functions.include(at.Function, walk, sum)
		v.Lines.include(line, walk, sum)
		v.Source.include(v.sourceOf[line], walk, sum)
		node = v.node(node, at.Function, v.Tree[node].Depth+1)
		if i == 0 {
			v.Functions.exclude(at.Function, sum)
			v.Lines.exclude(line, sum)
			v.Source.exclude(v.sourceOf[line], sum)
		}
		if v.Modes&Plain != 0 {
			v.addPlain(p, at.location, walk, sum, i == 0)
		}
	}
	for m := range sum {
		v.Tree[node].Exclusive[m] += sum[m].Value
	}
	v.addCalls(sum)
}

// place finds where the frames of a stack are.
func (v *Values) place(p *symbolize.Program, s *unwind.Stack) {
	v.places = v.places[:0]
	for _, f := range s.Frames {
		l := &p.Locations[f.Location]
		if v.Modes&Plain == 0 {
			for _, level := range slices.Backward(p.InlinedAt(f.Location)) {
				v.places = append(v.places, place{f.Location, LineKey{level.Function, level.File, level.Line}})
			}
		}
		v.places = append(v.places, place{f.Location, LineKey{l.Function, l.File, l.Line}})
	}
}

// addPlain adds a frame's values to what does not depend on inlined functions.
func (v *Values) addPlain(p *symbolize.Program, location, walk int32, sum []Sum, leaf bool) {
	l := &p.Locations[location]
	module := p.Functions[l.Function].Module
	v.PCs.include(location, walk, sum)
	v.Modules.include(module, walk, sum)
	v.Objects.include(l.Object, walk, sum)
	if leaf {
		v.PCs.exclude(location, sum)
		v.Modules.exclude(module, sum)
		v.Objects.exclude(l.Object, sum)
	}
}

// addCalls attributes the value to the neighbours of each function's leaf-most
// frame; neighbours of its other frames get a row without value
// (gprofng-experiment 8.3).
func (v *Values) addCalls(sum []Sum) {
	function := func(i int) int32 {
		if i == len(v.places) {
			return totalFunction
		}
		return v.places[i].Function
	}
	for i := len(v.places) - 1; i >= 0; i-- {
		v.lastAt[function(i)] = int32(i)
	}
	for i := range v.places {
		f := function(i)
		leafMost := int(v.lastAt[f]) == i
		v.call(callKey{f, function(i + 1), Caller}, sum, leafMost)
		if i == 0 {
			v.call(callKey{f, f, Self}, sum, leafMost)
		} else {
			v.call(callKey{f, function(i - 1), Callee}, sum, leafMost)
		}
	}
	if len(v.places) > 0 {
		v.call(callKey{totalFunction, function(len(v.places) - 1), Callee}, sum, true)
	}
}

func (v *Values) call(k callKey, sum []Sum, leafMost bool) {
	n, ok := v.calls[k]
	if !ok {
		n = len(v.Calls)
		v.calls[k] = n
		v.Calls = append(v.Calls, Call{k, make([]int64, v.metrics), make([]bool, v.metrics)})
	}
	c := &v.Calls[n]
	for m := range sum {
		if leafMost {
			c.Attributed[m] += sum[m].Value
		}
		c.Seen[m] = c.Seen[m] || sum[m].Samples > 0
	}
}

func (v *Values) line(k LineKey) int32 {
	n, ok := v.lines[k]
	if !ok {
		n = int32(len(v.LineKeys))
		v.lines[k] = n
		v.LineKeys = append(v.LineKeys, k)
		v.sourceOf = append(v.sourceOf, v.source(SourceKey{k.File, k.Line}))
	}
	return n
}

func (v *Values) source(k SourceKey) int32 {
	n, ok := v.sources[k]
	if !ok {
		n = int32(len(v.SourceKeys))
		v.sources[k] = n
		v.SourceKeys = append(v.SourceKeys, k)
	}
	return n
}

func (v *Values) node(parent, function, depth int32) int32 {
	k := edge{parent, function}
	n, ok := v.children[k]
	if !ok {
		n = int32(len(v.Tree))
		v.children[k] = n
		v.Tree = append(v.Tree, Node{Parent: parent, Depth: depth, Function: function,
			Attributed: make([]int64, v.metrics), Exclusive: make([]int64, v.metrics)})
	}
	return n
}

// finish sums the tree from its leaves to its root.
func (v *Values) finish() {
	for i := len(v.Tree) - 1; i >= 0; i-- {
		n := &v.Tree[i]
		for m, x := range n.Exclusive {
			n.Attributed[m] += x
			if n.Parent >= 0 {
				v.Tree[n.Parent].Attributed[m] += n.Attributed[m]
			}
		}
	}
}

// identify gives each node its identifier: that of the functions above it.
func (v *Values) identify(functionID func(int32) int64) {
	for i := range v.Tree {
		n := &v.Tree[i]
		id := schema.NewID("node")
		if n.Parent >= 0 {
			id.Number(uint64(v.Tree[n.Parent].ID))
		}
		n.ID = id.Number(uint64(functionID(n.Function))).Sum()
	}
}
