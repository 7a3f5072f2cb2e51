package unwind

import (
	"sync"

	"stackmill/stages/arena"
	"stackmill/stages/decode"
)

// Growth is what stacks of one process add to a tree: paths, in their order. The tree
// can grow while further stacks pass the rules.
type Growth struct {
	first  bool            // nothing of the process was added before
	words  int             // how many words the process has
	frames []TreeFrame     // of one path after the other, from its root
	settle []decode.WordNo // by frame: the word that is settled there, negative if none is
	paths  []grownPath
}

// grownPath is a path: that to a settled word, which may be negative for none, and
// further frames.
type grownPath struct {
	base   decode.WordNo
	frames int32
}

// growths are those that were added: their memory serves the next ones.
var growths = sync.Pool{New: func() any { return &Growth{} }}

// newGrowth returns one without paths, of a process that has so many words.
func newGrowth(words int, first bool) *Growth {
	g := growths.Get().(*Growth)
	*g = Growth{first, words, g.frames[:0], g.settle[:0], g.paths[:0]}
	return g
}

// fullGrowth is how many frames are added at once.
const fullGrowth = 1 << 13

// Grow adds paths. Nobody may use g after that.
func (t *Tree) Grow(g *Growth) {
	if g.first { // another process has other words
		t.settled = t.settled[:0]
	}
	t.settled = append(t.settled, make([]NodeNo, g.words-len(t.settled))...)
	at := 0
	for _, p := range g.paths {
		var end End
		if p.base >= 0 {
			n := t.settled[p.base]
			end = End{n, [Modes]NodeNo{n, n, n}}
		}
		for range p.frames {
			f := &g.frames[at]
			end.Node = t.Add(end.Node, f)
			for m, location := range f.Shown {
				if location >= 0 {
					end.Leaf[m] = end.Node
				}
			}
			if w := g.settle[at]; w >= 0 {
				t.settled[w] = end.Node
			}
			at++
		}
		t.Ends = arena.Append(t.Ends, end)
	}
	growths.Put(g)
}

// Flush hands out what stacks have added since it was called last.
func (u *Unwinder) Flush() {
	if g := u.known.growth; len(g.paths) > 0 {
		u.known.growth = newGrowth(g.words, false)
		u.emit(g)
	}
}
