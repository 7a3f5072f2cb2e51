package unwind

import (
	"math"

	"stackmill/schema"
	"stackmill/stages/symbolize"
	"stackmill/stages/symbolize/image"
)

// merger adds a stack to the tree, from its root: each recorded word once, in the order
// of its part, and each frame that a rule put in, with what all modes show of it.
type merger struct {
	*Unwinder
	machine, user []Frame
	expert        bool // expert mode is as user mode, else as machine mode
	t             int64
	cutOff        string

	from, until int64
	left        [OpenMP + 1]int // by part: how many words are left, from the leaf
}

// add adds the frames of the modes, merged in the order that they have in each.
func (a *merger) add() *Resolved {
	i, j := len(a.machine)-1, len(a.user)-1
	a.from, a.until = math.MinInt64, image.Never
	a.left = [OpenMP + 1]int{Native: len(a.raw.Words), Java: len(a.raw.Java), OpenMP: len(a.raw.OMP)}
	path := grownPath{base: none}
	before := len(a.known.growth.frames)
	if b := &a.base; b.is { // the last word and all of its callers are in the tree
		path.base, a.from, a.until = b.word, b.from, b.until
		a.left[Native]--
		i, j = i-1, j-1
	}
	settles := a.canSettle() && len(a.machine) > 0
	whole := settles && a.isWhole(a.machine)
	byFrame := a.base.byFrame || len(a.raw.ByFrame) > 0
	for ; i >= 0; i-- {
		for ; j >= 0 && a.user[j].Place < 0; j-- {
			a.frame(nil, &a.user[j])
		}
		m, shown := &a.machine[i], (*Frame)(nil)
		if j >= 0 && int(a.user[j].Place) == i {
			shown = &a.user[j]
			j--
		}
		a.frame(m, shown)
		if settles && shown != nil && a.settles(m, shown, a.machine) {
			w := a.nodes[m.Word]
			a.known.settled.put(settled{w, how{true, whole, byFrame}, life{a.from, a.until}})
			a.known.growth.settle[len(a.known.growth.settle)-1] = w
		}
	}
	for ; j >= 0; j-- {
		a.frame(nil, &a.user[j])
	}
	for part := Native; part <= OpenMP; part++ {
		a.dropped(part, 0)
	}
	path.frames = int32(len(a.known.growth.frames) - before)
	r := &a.resolved
	r.From, r.Until, r.Path, r.Empty, r.CutOff = a.from, a.until, a.path(path), len(a.machine) == 0, a.cutOff
	return r
}

// path adds a path, whose frames were added.
func (a *merger) path(p grownPath) PathNo {
	a.known.growth.paths = append(a.known.growth.paths, p)
	if len(a.known.growth.frames) >= fullGrowth {
		a.Flush()
	}
	a.known.paths++
	return a.known.paths - 1
}

// frame adds a frame that machine mode shows, or user mode, or both.
func (a *merger) frame(machine, user *Frame) {
	f := machine
	if f == nil {
		f = user
	}
	if f.Word >= 0 {
		a.dropped(f.Part, int(f.Word)+1)
		a.left[f.Part]--
	}
	t := a.push()
	if machine != nil {
		t.Shown[Machine], t.Rules[Machine] = machine.Location, machine.Rule
		t.Rules[User] = a.hiddenBy[machine.Place]
	}
	if user != nil {
		t.Shown[User], t.Rules[User] = user.Location, user.Rule
	}
	like := Machine
	if a.expert {
		like = User
	}
	t.Shown[Expert], t.Rules[Expert] = t.Shown[like], t.Rules[like]
	if f.Word >= 0 {
		a.word(t, f.Part, int(f.Word))
	}
}

// dropped adds the words of a part that rules dropped, but for the first few.
func (a *merger) dropped(part Part, but int) {
	for a.left[part] > but {
		a.left[part]--
		w := a.left[part]
		t := a.push()
		rule := schema.RuleJava
		if part != Java {
			rule = a.drops[part][w]
		}
		for m := range t.Rules {
			if part == Native || Mode(m) != Machine {
				t.Rules[m] = rule
			}
		}
		a.word(t, part, w)
	}
}

// word fills in what was recorded, and narrows the time for which the stack means the
// same.
func (a *merger) word(t *TreeFrame, part Part, w int) {
	t.Part = part
	var s symbolize.Span
	switch part {
	case Java:
		f := a.raw.Java[w]
		if t.Word, t.BCI = f.Method, f.BCI; !isJavaMarker(f) {
			t.Own = a.resolver.JavaFrame(a.recorded, f)
		}
		return
	case OpenMP:
		t.Word = a.raw.OMP[w]
		s = a.at(t.Word, a.t)
	default:
		t.Word, s = a.raw.Words[w], a.own[w]
		if pc := a.pcs[w]; pc != t.Word {
			a.narrow(a.calling[w])
		}
	}
	if !isMarker(t.Word) {
		t.Own = s.Location
		a.narrow(s)
	} else if t.Shown[Machine] >= 0 && t.Rules[Machine] == schema.NoRule { // where none can be
		a.narrow(a.at(t.Word, a.t))
	}
}

func (a *merger) narrow(s symbolize.Span) {
	a.from, a.until = max(a.from, s.From), min(a.until, s.Until)
}

// push adds a frame to the path, which no mode shows yet.
func (a *merger) push() *TreeFrame {
	g := a.known.growth
	g.frames, g.settle = append(g.frames, TreeFrame{}), append(g.settle, none)
	t := &g.frames[len(g.frames)-1]
	t.Own, t.Shown = symbolize.None, shownInNone
	return t
}
