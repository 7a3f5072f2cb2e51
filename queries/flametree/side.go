package flametree

import (
	"cmp"
	"slices"
	"strings"
)

// Sides are the trees that a flame graph can show instead of the one from the root (its other sides). `inverted`
// has the functions by exclusive value, with their callers below. `callers` and `callees` start at one function, or
// at all functions of a module or load object: a sample counts once, where its stack first enters them.
var Sides = []string{"inverted", "callers", "callees"}

// Groups are the kinds of things that `callers` and `callees` can start at.
var Groups = []string{"function", "module", "load-object"}

// Side selects a side of a flame graph.
type Side struct {
	Side  string // one of Sides; "" for the tree from the root
	Group string // one of Groups
	Of    string // the name of the function, module or load object
}

// has reports whether a function belongs to the requested function, module or load object.
func (s *Side) has(n Function) bool {
	switch s.Group {
	case "module":
		return s.isPath(n.Module) && n.Kind != "artificial"
	case "load-object":
		return s.isPath(n.LoadObject) && n.Kind != "artificial"
	}
	return n.Name == s.Of
}

// isPath reports whether a short path is the requested path or ends in it.
func (s *Side) isPath(short string) bool {
	rest, ok := strings.CutSuffix(short, s.Of)
	return ok && (rest == "" || strings.HasSuffix(rest, "/"))
}

// mostSideFrames limits the frames of a side: there may be many times as many as in the tree from the root. Beyond it,
// frames with the lowest values are only there as sums.
const mostSideFrames = 2 << 20

// origin is a frame of the whole tree, and the part of its value that belongs to a frame of a side.
type origin struct {
	frame int32
	value int64
}

// sideFrame is a frame of a side that is not in the layout yet.
type sideFrame struct {
	function, parent int32
	more             int32 // number of frames in a sum
	value            int64
	origins          []origin
}

// sideBuilder builds a side of a tree.
type sideBuilder struct {
	whole     *Layout[int64]
	functions []Function
	has       []bool // by function: whether it belongs to the requested function, module or load object
	side      Side
	slots     []int32 // by function: number of the child that is being made, or -1
}

// SideOf returns a side of a tree from the root.
func SideOf(l *Layout[int64], s Side) *Layout[int64] { return sideOf(l, s, mostSideFrames) }

func sideOf(l *Layout[int64], s Side, most int) *Layout[int64] {
	b := &sideBuilder{whole: l, side: s, functions: l.Functions, has: make([]bool, len(l.Functions))}
	if len(l.Frames) == 0 {
		return l
	}
	for i, f := range l.Functions {
		b.has[i] = s.Side != "inverted" && s.has(f)
	}
	root := b.root()
	b.slots = make([]int32, len(b.functions))
	for i := range b.slots {
		b.slots[i] = -1
	}
	seed := uint32(0)
	if s.Side == "callers" { // the page shows callers and callees at once
		seed = 1
	}
	for least := int64(0); ; least = max(2*least, root.value>>24, 1) {
		if made, ok := b.build(root, least, most); ok {
			made.place(seed)
			return made
		}
	}
}

// root returns the root of the side.
func (b *sideBuilder) root() sideFrame {
	frames := b.whole.Frames
	root := sideFrame{parent: -1, function: frames[0].Function}
	if b.side.Side == "inverted" {
		for n := range frames {
			if v := frames[n].Exclusive; v != 0 {
				root.origins = append(root.origins, origin{int32(n), v})
			}
		}
	} else {
		root.function = int32(len(b.functions))
		b.functions = append(b.functions[:len(b.functions):len(b.functions)], b.rootFunction())
		for n := int32(0); int(n) < len(frames); {
			f := &frames[n]
			if f.Function < 0 || !b.has[f.Function] {
				n++
				continue
			}
			at := n
			if b.side.Side == "callers" {
				at = f.Parent
			}
			root.origins = append(root.origins, origin{at, f.Value})
			n = f.Last + 1 // frames below count with this one
		}
	}
	for _, o := range root.origins {
		root.value += o.value
	}
	if b.side.Side == "callees" && b.side.Group != "function" {
		root.origins = b.addInnerCalls(root.origins)
	}
	return root
}

// rootFunction returns the function that the root shows: the selected one, or one that stands for a module or load
// object.
func (b *sideBuilder) rootFunction() Function {
	first := Function{Name: b.side.Of, Kind: "artificial"}
	if i := slices.Index(b.has, true); i >= 0 {
		first = b.functions[i]
	}
	switch b.side.Group {
	case "module":
		return Function{b.side.Of, first.LoadObject, b.side.Of, b.side.Group}
	case "load-object":
		return Function{b.side.Of, b.side.Of, "", b.side.Group}
	}
	return first
}

// addInnerCalls adds the frames of functions that are called within the module or load object: they are shown as one
// frame with their callers.
func (b *sideBuilder) addInnerCalls(origins []origin) []origin {
	frames := b.whole.Frames
	for i := 0; i < len(origins); i++ {
		at := origins[i].frame
		for n := at + 1; n <= frames[at].Last; n = frames[n].Last + 1 {
			if b.has[frames[n].Function] {
				origins = append(origins, origin{n, 0}) // 0: its value is included in its caller's
			}
		}
	}
	return origins
}

// build makes the frames in drawing order. Frames with values below least are only there as sums. It gives up if
// there are more frames than most.
func (b *sideBuilder) build(root sideFrame, least int64, most int) (l *Layout[int64], ok bool) {
	l = &Layout[int64]{Functions: b.functions}
	stack := []sideFrame{root}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if len(l.Frames) == most {
			return nil, false
		}
		number := int32(len(l.Frames))
		f := Frame[int64]{Function: at.function, Parent: at.parent, More: at.more, Value: at.value, Source: -1}
		if at.more > 0 {
			f.Exclusive = at.value
			l.Frames = append(l.Frames, f)
			continue
		}
		var below []sideFrame
		below, f.Exclusive = b.children(at.origins, number)
		l.Frames = append(l.Frames, f)
		slices.SortFunc(below, func(x, y sideFrame) int {
			return cmp.Or(cmp.Compare(y.value, x.value), compareNames(b.functions[x.function], b.functions[y.function]))
		})
		low := sideFrame{function: -1, parent: number}
		for len(below) > 0 && below[len(below)-1].value < least {
			low.more, low.value = low.more+1, low.value+below[len(below)-1].value
			below = below[:len(below)-1]
		}
		if low.more > 0 {
			stack = append(stack, low)
		}
		for _, child := range slices.Backward(below) {
			stack = append(stack, child)
		}
	}
	return l, true
}

// children returns the children of frame number n, and its exclusive value.
func (b *sideBuilder) children(origins []origin, n int32) (below []sideFrame, exclusive int64) {
	frames := b.whole.Frames
	add := func(function int32, o origin) {
		slot := b.slots[function]
		if slot < 0 {
			slot = int32(len(below))
			b.slots[function] = slot
			below = append(below, sideFrame{function: function, parent: n})
		}
		below[slot].value += o.value
		below[slot].origins = append(below[slot].origins, o)
	}
	for _, o := range origins {
		at := &frames[max(o.frame, 0)]
		switch {
		case b.side.Side == "callees":
			exclusive += at.Exclusive
			for m := o.frame + 1; m <= at.Last; m = frames[m].Last + 1 {
				callee := &frames[m]
				if n != 0 || b.side.Group == "function" || !b.has[callee.Function] {
					add(callee.Function, origin{m, callee.Value})
				}
			}
		case o.frame <= 0: // <Total> is not a caller
			exclusive += o.value
		default:
			add(at.Function, origin{at.Parent, o.value})
		}
	}
	for _, f := range below {
		b.slots[f.function] = -1
	}
	return below, exclusive
}
