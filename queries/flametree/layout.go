package flametree

import (
	"cmp"
	"math"
	"slices"
	"unicode/utf8"
)

// Number is the type of the values of a layout: int64 for sums, float64 for means.
type Number interface{ int64 | float64 }

// Layout is a complete tree in drawing order: a frame is followed by its children, the highest values first. It does
// not change once it is made, so that requests can share it.
type Layout[V Number] struct {
	Functions []Function
	Frames    []Frame[V]
}

// Frame is a function on one path from the root, with its position. The frames below it are the ones up to Last.
type Frame[V Number] struct {
	Function int32 // index into Functions; -1 for a sum of frames that are left out
	Parent   int32 // -1 for the root
	Last     int32 // the last frame of its subtree
	Level    int32 // 0 for the root
	More     int32 // number of frames in a sum; 0 for a frame
	Source   int32 // the node that the frame was made from; of a sum, the first of its frames; -1 for none

	Start            V // position of the left edge; a frame is as wide as its value
	Value, Exclusive V
	ID               uint64 // identifies the path from the root, in every state of the store
}

// Layout returns the tree in drawing order.
func (t *Tree) Layout() *Layout[int64] {
	return Arrange(t.Functions, len(t.Nodes), func(i int) Frame[int64] {
		n := &t.Nodes[i]
		return Frame[int64]{Function: n.Name, Parent: n.Parent, Value: n.Value, Exclusive: n.Exclusive}
	})
}

// Arrange returns the layout of a tree of n nodes, in which nodes come after their parents. node returns one of them:
// a frame with its function, parent and values.
func Arrange[V Number](functions []Function, n int, node func(i int) Frame[V]) *Layout[V] {
	l := &Layout[V]{Functions: functions, Frames: make([]Frame[V], 0, n)}
	if n == 0 {
		return l
	}
	firsts := make([]int32, n+2) // by node: where its children begin in children
	for i := 1; i < n; i++ {
		firsts[node(i).Parent+2]++
	}
	for i := 2; i < len(firsts); i++ {
		firsts[i] += firsts[i-1]
	}
	children := make([]int32, n)
	for i := 1; i < n; i++ {
		p := node(i).Parent
		children[firsts[p+1]] = int32(i)
		firsts[p+1]++
	}
	// There is no recursion, because stacks may be very deep.
	type open struct{ node, parent int32 }
	stack := []open{{0, -1}}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		f := node(int(at.node))
		f.Parent, f.Source = at.parent, at.node
		number := int32(len(l.Frames))
		l.Frames = append(l.Frames, f)
		below := children[firsts[at.node]:firsts[at.node+1]]
		slices.SortFunc(below, func(a, b int32) int {
			x, y := node(int(a)), node(int(b))
			return cmp.Or(cmp.Compare(y.Value, x.Value), compareNames(functions[x.Function], functions[y.Function]))
		})
		for _, child := range slices.Backward(below) {
			stack = append(stack, open{child, number})
		}
	}
	l.place(0)
	return l
}

// place computes the levels, positions and identities of frames in drawing order. Layouts with different seeds have
// no identity in common.
func (l *Layout[V]) place(seed uint32) {
	hashes := make([][2]uint32, len(l.Functions))
	for i, f := range l.Functions {
		hashes[i] = f.hash()
	}
	paths := make([][2]uint32, len(l.Frames))
	ends := make([]V, len(l.Frames)) // by frame: the right edge of its last child so far
	for n := range l.Frames {
		f := &l.Frames[n]
		f.Last = int32(n)
		above := [2]uint32{seed, seed}
		if p := f.Parent; p >= 0 {
			above = paths[p]
			f.Level, f.Start = l.Frames[p].Level+1, ends[p]
			ends[p] += f.Value
		}
		ends[n] = f.Start
		if f.Function >= 0 {
			h := hashes[f.Function]
			paths[n] = [2]uint32{(above[0]^h[0])*16777619 + 1, (above[1]^h[1])*2246822507 + 1}
			f.ID = uint64(paths[n][0])<<32 | uint64(paths[n][1])
		}
	}
	for n := len(l.Frames) - 1; n > 0; n-- {
		p := &l.Frames[l.Frames[n].Parent]
		p.Last = max(p.Last, l.Frames[n].Last)
	}
}

// hash returns two hashes of a function. The page computes the same (lib/flametree.ts): FNV-1a with two bases.
func (f Function) hash() [2]uint32 {
	a, b := uint32(2166136261), uint32(2538058380)
	add := func(c byte) { a, b = (a^uint32(c))*16777619, (b^uint32(c))*16777619 }
	for _, text := range []string{f.Name, f.LoadObject, f.Module, f.Kind} {
		var buffer [utf8.UTFMax]byte
		for _, r := range text { // invalid bytes count as U+FFFD, as in JSON
			for _, c := range utf8.AppendRune(buffer[:0], r) {
				add(c)
			}
		}
		add(0)
	}
	return [2]uint32{a, b}
}

// Find returns the frame with an id, or -1.
func (l *Layout[V]) Find(id uint64) int32 {
	return int32(slices.IndexFunc(l.Frames, func(f Frame[V]) bool { return f.ID == id && f.More == 0 }))
}

// Total returns the value of the root.
func (l *Layout[V]) Total() (v V) {
	if len(l.Frames) > 0 {
		v = l.Frames[0].Value
	}
	return v
}

// LeftOut returns how many frames a layout only has as sums.
func (l *Layout[V]) LeftOut() (n int) {
	for i := range l.Frames {
		n += int(l.Frames[i].More)
	}
	return n
}

// Window is a horizontal part of a layout: from From to Until, in the unit of its values.
type Window struct{ From, Until float64 }

// Part is a window as parts of the whole width.
type Part [2]float64

// PartOf returns a window as parts of the whole width.
func (l *Layout[V]) PartOf(w Window) *Part {
	total := float64(l.Total())
	if total == 0 {
		return &Part{0, 1}
	}
	return &Part{w.From / total, w.Until / total}
}

// Whole returns the window of the whole layout.
func (l *Layout[V]) Whole() Window { return Window{0, float64(l.Total())} }

// Visible returns the frames that overlap a window and have at least a value. Frames with lower values are summed by
// parent, in a frame with More, if their sum is high enough. Last of these frames is an index into the result.
func (l *Layout[V]) Visible(in Window, least float64) []Frame[V] {
	var shown []Frame[V]
	numbers := map[int32]int32{-1: -1} // index in shown, by frame
	all := in == l.Whole()
	for n := int32(0); int(n) < len(l.Frames); {
		f := l.Frames[n]
		from, until := float64(f.Start), float64(f.Start+f.Value)
		switch {
		case n > 0 && !all && (until <= in.From || from >= in.Until):
			n = f.Last + 1
			continue
		case n > 0 && float64(f.Value) < least: // so are its next siblings
			sum := l.rest(n)
			if float64(sum.Value) >= least {
				sum.Parent = numbers[f.Parent]
				shown = append(shown, sum)
			}
			n = l.Frames[f.Parent].Last + 1
			continue
		}
		numbers[n] = int32(len(shown))
		f.Parent = numbers[f.Parent]
		shown = append(shown, f)
		n++
	}
	last := make([]int32, len(shown))
	for n := len(shown) - 1; n >= 0; n-- {
		last[n] = max(last[n], int32(n))
		shown[n].Last = last[n]
		if p := shown[n].Parent; p >= 0 {
			last[p] = max(last[p], last[n])
		}
	}
	return shown
}

// rest returns the sum of a frame and its next siblings.
func (l *Layout[V]) rest(n int32) Frame[V] {
	first := &l.Frames[n]
	sum := Frame[V]{Function: -1, Parent: first.Parent, Level: first.Level, Start: first.Start, Source: n}
	end := l.Frames[first.Parent].Last
	for m := n; m <= end; m = l.Frames[m].Last + 1 {
		sum.Value += l.Frames[m].Value
	}
	for m := n; m <= end; m++ {
		sum.More += max(l.Frames[m].More, 1)
	}
	sum.Exclusive = sum.Value
	return sum
}

// Search returns the frames of the functions that match says, in drawing order, and the value of the samples that
// pass one of them: a frame below another one counts once.
func (l *Layout[V]) Search(match func(Function) bool) (hits []int32, outermost []int32) {
	is := make([]bool, len(l.Functions))
	for i, f := range l.Functions {
		is[i] = match(f)
	}
	within := int32(-1) // the last frame below a hit
	for n := range l.Frames {
		f := &l.Frames[n]
		if f.Function < 0 || !is[f.Function] {
			continue
		}
		hits = append(hits, int32(n))
		if int32(n) > within {
			outermost = append(outermost, int32(n))
			within = f.Last
		}
	}
	return hits, outermost
}

// GroupSums returns the values of groups of functions: exclusive ones, and those of the samples that pass a function
// of the group, each counted once. of is the group of each function, or -1.
func (l *Layout[V]) GroupSums(of []int32, groups int) (exclusive, inclusive []V) {
	exclusive, inclusive = make([]V, groups), make([]V, groups)
	open := make([]int32, groups) // number of open frames by group
	var stack []int32
	for n := range l.Frames {
		f := &l.Frames[n]
		for len(stack) > 0 && l.Frames[stack[len(stack)-1]].Last < int32(n) {
			open[of[l.Frames[stack[len(stack)-1]].Function]]--
			stack = stack[:len(stack)-1]
		}
		if f.Function < 0 || of[f.Function] < 0 {
			continue
		}
		g := of[f.Function]
		exclusive[g] += f.Exclusive
		if open[g] == 0 {
			inclusive[g] += f.Value
		}
		open[g]++
		stack = append(stack, int32(n))
	}
	return exclusive, inclusive
}

// Fold returns a layout without the recursion of the functions named `of`: the frames between the first and the last
// one of a stack are left out.
func Fold(l *Layout[int64], of string) *Layout[int64] {
	if !slices.ContainsFunc(l.Functions, func(f Function) bool { return f.Name == of }) {
		return l
	}
	t := &Tree{Functions: l.Functions, index: make(map[nodeKey]int32, len(l.Frames))}
	at := make([]int32, len(l.Frames))     // by frame: its node
	anchor := make([]int32, len(l.Frames)) // by frame: the node of the first such function on its path, or -1
	for n := range l.Frames {
		f := &l.Frames[n]
		parent, first := int32(-1), int32(-1)
		if f.Parent >= 0 {
			parent, first = at[f.Parent], anchor[f.Parent]
		}
		is := f.Function >= 0 && l.Functions[f.Function].Name == of
		switch {
		case is && first >= 0:
			at[n] = first
		default:
			at[n] = t.Child(parent, f.Function)
			if is {
				first = at[n]
			}
		}
		anchor[n] = first
		t.Nodes[at[n]].Exclusive += f.Exclusive
	}
	for n := len(t.Nodes) - 1; n >= 0; n-- {
		t.Nodes[n].Value += t.Nodes[n].Exclusive
		if p := t.Nodes[n].Parent; p >= 0 {
			t.Nodes[p].Value += t.Nodes[n].Value
		}
	}
	return t.withoutEmpty().Layout()
}

// withoutEmpty returns the tree without nodes that have no value; the root stays.
func (t *Tree) withoutEmpty() *Tree {
	kept := &Tree{Functions: t.Functions}
	at := make([]int32, len(t.Nodes))
	for i, n := range t.Nodes {
		if n.Value == 0 && i > 0 {
			continue
		}
		if n.Parent >= 0 {
			n.Parent = at[n.Parent]
		}
		at[i] = int32(len(kept.Nodes))
		kept.Nodes = append(kept.Nodes, n)
	}
	return kept
}

// leastValue returns the least value of a frame that is at least half a pixel wide if the window has a number of
// pixels.
func (w Window) leastValue(pixels int) float64 {
	return (w.Until - w.From) / 2 / math.Max(float64(pixels), 1)
}

// Drawn returns the frames to draw in a window of a number of pixels: those that are at least half a pixel wide.
func (l *Layout[V]) Drawn(in Window, pixels int) []Frame[V] {
	return l.Visible(in, in.leastValue(pixels))
}
