package unwind

import (
	"sync"

	"stackmill/internal/chunked"
	"stackmill/stages/decode"
	"stackmill/stages/stacktree"
	"stackmill/stages/symbolize"
)

// Growth is what stacks of one process add to a tree: paths, in their order. The tree
// can grow while further stacks pass the rules.
type Growth struct {
	first  bool            // nothing of the process was added before
	words  int             // how many words the process has
	frames []grownFrame    // of one path after the other, from its root
	new    []newFrame      // to which these refer
	settle []decode.WordNo // by frame: the word that is settled there, negative if none is
	paths  []grownPath
}

// grownFrame is a frame that is added: a plainFrame if it is one that was added before, else
// negative: -1 less its index in Growth.new.
type grownFrame int32

// plainFrame is a frame that all modes show as what a PC means, by no rule: twice the number of
// the PC, and 1 more if it is that of the call before it.
type plainFrame int32

func plainOf(pc symbolize.PCNo, call bool) plainFrame {
	f := plainFrame(2 * pc)
	if call {
		f++
	}
	return f
}

// newFrame is a frame that may be in the tree or not.
type newFrame struct {
	stacktree.Frame
	is plainFrame // negative if it is none
}

// grownPath is a path: that to a settled word, which may be negative for none, and
// further frames.
type grownPath struct {
	base   decode.WordNo
	frames int32
	cutOff stacktree.Cut
	empty  bool // machine mode shows no frame
}

// growths are those that were added: their memory serves the next ones.
var growths = sync.Pool{New: func() any { return &Growth{} }}

// newGrowth returns one without paths, of a process that has so many words.
func newGrowth(words int, first bool) *Growth {
	g := growths.Get().(*Growth)
	*g = Growth{first, words, g.frames[:0], g.new[:0], g.settle[:0], g.paths[:0]}
	return g
}

// fullGrowth is how many frames are added at once.
const fullGrowth = 1 << 13

// Grower adds the paths of stacks to a tree.
type Grower struct {
	tree    *stacktree.Tree
	plain   []stacktree.FrameNo // by plainFrame
	settled []stacktree.NodeNo  // by word of the process whose paths are added now
}

// NewGrower returns what adds paths to a tree, which has none.
func NewGrower(t *stacktree.Tree) *Grower { return &Grower{tree: t} }

// Grow adds paths. Nobody may use g after that.
func (w *Grower) Grow(g *Growth) {
	t := w.tree
	if g.first { // another process has other words
		w.settled = w.settled[:0]
	}
	w.settled = append(w.settled, make([]stacktree.NodeNo, g.words-len(w.settled))...)
	at := 0
	for _, p := range g.paths {
		end := stacktree.End{CutOff: p.cutOff, Empty: p.empty}
		if p.base >= 0 {
			n := w.settled[p.base]
			end.Node, end.Leaf = n, [stacktree.Modes]stacktree.NodeNo{n, n, n}
		}
		for range p.frames {
			if f := g.frames[at]; f >= 0 {
				n, _ := t.Child(end.Node, w.plain[f])
				end.Node, end.Leaf = n, [stacktree.Modes]stacktree.NodeNo{n, n, n}
			} else {
				w.grow(&end, &g.new[-1-f])
			}
			if word := g.settle[at]; word >= 0 {
				w.settled[word] = end.Node
			}
			at++
		}
		t.Ends.Add(end)
	}
	growths.Put(g)
}

// grow adds a frame to a path.
func (w *Grower) grow(end *stacktree.End, f *newFrame) {
	number := w.tree.Intern(&f.Frame)
	if f.is >= 0 {
		for int(f.is) >= len(w.plain) {
			w.plain = chunked.Append(w.plain, 0)
		}
		w.plain[f.is] = number
	}
	end.Node, _ = w.tree.Child(end.Node, number)
	for m, location := range f.Shown {
		if location >= 0 {
			end.Leaf[m] = end.Node
		}
	}
}

// Flush hands out what stacks have added since it was called last.
func (u *Unwinder) Flush() {
	if g := u.known.growth; len(g.paths) > 0 {
		u.known.growth = newGrowth(g.words, false)
		u.emit(g)
	}
}
