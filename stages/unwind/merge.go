package unwind

import (
	"stackmill/schema"
	"stackmill/stages/stacktree"
)

// merger adds a stack to the tree, from its root: each recorded word once, in the order
// of its part, and each frame that a rule put in, with what all modes show of it.
type merger struct {
	*Unwinder
	machine, user []Frame
	expert        bool // expert mode is as user mode, else as machine mode
	cutOff        stacktree.Cut

	left [stacktree.OpenMP + 1]int // by part: how many words are left, from the leaf
}

// add adds the frames of the modes, merged in the order that they have in each.
func (a *merger) add() {
	i, j := len(a.machine)-1, len(a.user)-1
	a.left = [stacktree.OpenMP + 1]int{stacktree.Native: len(a.raw.Words), stacktree.Java: len(a.raw.Java), stacktree.OpenMP: len(a.raw.OMP)}
	path := grownPath{base: none, cutOff: a.cutOff, empty: len(a.machine) == 0}
	before := len(a.known.growth.frames)
	if b := &a.base; b.is { // the last word and all of its callers are in the tree
		path.base = b.word
		a.left[stacktree.Native]--
		i, j = i-1, j-1
	}
	settles := a.canSettle() && len(a.machine) > 0
	whole := settles && a.isWhole(a.machine)
	how := isSettled
	if whole {
		how |= isWhole
	}
	if a.base.byFrame() || len(a.raw.ByFrame) > 0 {
		how |= isByFrame
	}
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
			state := &a.known.words[w]
			*state = *state/firstPC*firstPC | how
			a.known.growth.settle[len(a.known.growth.settle)-1] = w
		}
	}
	for ; j >= 0; j-- {
		a.frame(nil, &a.user[j])
	}
	for part := stacktree.Native; part <= stacktree.OpenMP; part++ {
		a.dropped(part, 0)
	}
	path.frames = int32(len(a.known.growth.frames) - before)
	a.known.growth.paths = append(a.known.growth.paths, path)
	if len(a.known.growth.frames) >= fullGrowth {
		a.Flush()
	}
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
	if machine != nil && user != nil && a.plain(machine, user) {
		return
	}
	t := a.push(none)
	if machine != nil {
		t.Shown[stacktree.Machine], t.Rules[stacktree.Machine] = machine.Location, machine.Rule
		t.Rules[stacktree.User] = a.hiddenBy[machine.Place]
	}
	if user != nil {
		t.Shown[stacktree.User], t.Rules[stacktree.User] = user.Location, user.Rule
	}
	like := stacktree.Machine
	if a.expert {
		like = stacktree.User
	}
	t.Shown[stacktree.Expert], t.Rules[stacktree.Expert] = t.Shown[like], t.Rules[like]
	if f.Word >= 0 {
		a.word(t, f.Part, int(f.Word))
	}
}

// dropped adds the words of a part that rules dropped, but for the first few.
func (a *merger) dropped(part stacktree.Part, but int) {
	for a.left[part] > but {
		a.left[part]--
		w := a.left[part]
		t := a.push(none)
		rule := schema.RuleJava
		if part != stacktree.Java {
			rule = a.drops[part][w]
		}
		for m := range t.Rules {
			if part == stacktree.Native || stacktree.Mode(m) != stacktree.Machine {
				t.Rules[m] = rule
			}
		}
		a.word(t, part, w)
	}
}

// word fills in what was recorded.
func (a *merger) word(t *stacktree.Frame, part stacktree.Part, w int) {
	t.Part = part
	switch part {
	case stacktree.Java:
		f := a.raw.Java[w]
		if t.Word, t.BCI = f.Method, f.BCI; !isJavaMarker(f) {
			t.Own = a.resolver.JavaFrame(a.recorded, f)
		}
	case stacktree.OpenMP:
		if t.Word = a.raw.OMP[w]; !isMarker(t.Word) {
			t.Own = a.resolve(t.Word)
		}
	default:
		t.Word, t.Own = a.raw.Words[w], a.own[w].location
	}
}

// plain adds a frame if it is a plainFrame, which is true then.
func (a *merger) plain(machine, user *Frame) bool {
	w := int(machine.Word)
	if machine.Part != stacktree.Native || w < 0 || a.numbers[w] < 0 || machine.Rule != schema.NoRule ||
		user.Rule != schema.NoRule || user.Location != machine.Location {
		return false
	}
	meant, call := &a.meaning(a.numbers[w]).own, false
	if a.pcs[w] != a.raw.Words[w] {
		meant, call = &a.meaning(a.numbers[w]).call, true
	}
	f := plainOf(a.numbers[w], call)
	if meant.inTree {
		a.append(grownFrame(f))
		return true
	}
	meant.inTree = true
	t := a.push(f)
	for m := range t.Shown {
		t.Shown[m] = machine.Location
	}
	a.word(t, stacktree.Native, w)
	return true
}

// push adds a frame to the path, which no mode shows yet.
func (a *merger) push(is plainFrame) *stacktree.Frame {
	g := a.known.growth
	a.append(grownFrame(-1 - len(g.new)))
	g.new = append(g.new, newFrame{stacktree.NewFrame(), is})
	return &g.new[len(g.new)-1].Frame
}

func (a *merger) append(f grownFrame) {
	g := a.known.growth
	g.frames, g.settle = append(g.frames, f), append(g.settle, none)
}
