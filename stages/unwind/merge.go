package unwind

import (
	"stackmill/schema"
	"stackmill/stages/stacktree"
)

// pathMerger merges what the modes show of a stack into one path, from the root. The path has each
// recorded word once, in the recorded order, and each frame that a rule inserted.
type pathMerger struct {
	*Unwinder
	machine, user []Frame
	expertIsUser  bool // expert mode is as user mode, else as machine mode
	cutOff        stacktree.Cut

	remaining [stacktree.OpenMP + 1]int // by part: the number of words at the leaf that are not merged yet
}

// merge adds the path to the batch.
func (m *pathMerger) merge() {
	i, j := len(m.machine)-1, len(m.user)-1
	m.remaining = [stacktree.OpenMP + 1]int{stacktree.Native: len(m.raw.Words), stacktree.Java: len(m.raw.Java), stacktree.OpenMP: len(m.raw.OMP)}
	batch := m.cache.batch
	path, before := batchPath{base: none, cutOff: m.cutOff, empty: len(m.machine) == 0}, len(batch.frames)
	if b := &m.base; b.ok { // the last word and all of its callers are in the tree
		path.base = b.node
		m.remaining[stacktree.Native]--
		i, j = i-1, j-1
	}
	settles := m.canSettle() && len(m.machine) > 0
	state := m.settledState(settles)
	for ; i >= 0; i-- {
		for ; j >= 0 && m.user[j].MachineIndex < 0; j-- {
			m.mergeFrame(nil, &m.user[j])
		}
		f, shown := &m.machine[i], (*Frame)(nil)
		if j >= 0 && int(m.user[j].MachineIndex) == i {
			shown = &m.user[j]
			j--
		}
		m.mergeFrame(f, shown)
		if settles && shown != nil && m.staysSettled(f, shown, m.machine) {
			w := m.nodes[f.Word]
			s := &m.cache.callers[w]
			*s = *s/firstPC*firstPC | state
			batch.settle[len(batch.settle)-1] = w
		}
	}
	for ; j >= 0; j-- {
		m.mergeFrame(nil, &m.user[j])
	}
	for part := stacktree.Native; part <= stacktree.OpenMP; part++ {
		m.addDropped(part, 0)
	}
	if m.addWait() {
		path.empty = false
	}
	path.frames = int32(len(batch.frames) - before)
	batch.paths = append(batch.paths, path)
	if len(batch.frames) >= flushFrames {
		m.Flush()
	}
}

// settledState returns the state for the words that settle in this stack (see callerState).
func (m *pathMerger) settledState(settles bool) callerState {
	state := isSettled
	if settles && m.isWhole(m.machine) {
		state |= isWhole
	}
	if m.base.byFrame() || len(m.raw.ByFrame) > 0 {
		state |= isByFrame
	}
	return state
}

// mergeFrame adds a frame as machine mode and user mode show it; nil means that a mode does not
// show it. First it adds the words closer to the root that rules dropped.
func (m *pathMerger) mergeFrame(machine, user *Frame) {
	f := machine
	if f == nil {
		f = user
	}
	if f.Word >= 0 {
		m.addDropped(f.Part, int(f.Word)+1)
		m.remaining[f.Part]--
	}
	if machine != nil && user != nil && m.addPlain(machine, user) {
		return
	}
	t := m.addFrame(none)
	if machine != nil {
		t.Shown[stacktree.Machine], t.Rules[stacktree.Machine] = machine.Location, machine.Rule
		t.Rules[stacktree.User] = m.hiddenBy[machine.MachineIndex]
	}
	if user != nil {
		t.Shown[stacktree.User], t.Rules[stacktree.User] = user.Location, user.Rule
	}
	like := stacktree.Machine
	if m.expertIsUser {
		like = stacktree.User
	}
	t.Shown[stacktree.Expert], t.Rules[stacktree.Expert] = t.Shown[like], t.Rules[like]
	if f.Word >= 0 {
		m.setRecorded(t, f.Part, int(f.Word))
	}
}

// addDropped adds frames for words of a part that rules dropped, until this many words remain.
func (m *pathMerger) addDropped(part stacktree.Part, remaining int) {
	for m.remaining[part] > remaining {
		m.remaining[part]--
		w := m.remaining[part]
		t := m.addFrame(none)
		rule := schema.RuleJava
		if part != stacktree.Java {
			rule = m.drops[part][w]
		}
		for mode := range t.Rules {
			if part == stacktree.Native || stacktree.Mode(mode) != stacktree.Machine {
				t.Rules[mode] = rule
			}
		}
		m.setRecorded(t, part, w)
	}
}

// setRecorded sets those fields of a frame that say what was recorded: the word with index w of a
// part.
func (m *pathMerger) setRecorded(t *stacktree.Frame, part stacktree.Part, w int) {
	t.Part = part
	switch part {
	case stacktree.Java:
		f := m.raw.Java[w]
		if t.Word, t.BCI = f.Method, f.BCI; !isJavaMarker(f) {
			t.Own = m.resolver.JavaFrame(m.recorded, f)
		}
	case stacktree.OpenMP:
		if t.Word = m.raw.OMP[w]; !isMarker(t.Word) {
			t.Own = m.resolve(t.Word)
		}
	default:
		t.Word, t.Own = m.raw.Words[w], m.resolved[w].location
	}
}

// addPlain adds a frame if all modes show it unchanged. Otherwise it returns false.
func (m *pathMerger) addPlain(machine, user *Frame) bool {
	w := int(machine.Word)
	if machine.Part != stacktree.Native || w < 0 || m.numbers[w] < 0 || machine.Rule != schema.NoRule ||
		user.Rule != schema.NoRule || user.Location != machine.Location {
		return false
	}
	pc, call := &m.pcEntry(m.numbers[w]).own, false
	if m.pcs[w] != m.raw.Words[w] {
		pc, call = &m.pcEntry(m.numbers[w]).call, true
	}
	number := newPlainFrameNo(m.numbers[w], call)
	if pc.inTree {
		m.addRef(frameRef(number))
		return true
	}
	pc.inTree = true
	t := m.addFrame(number)
	for mode := range t.Shown {
		t.Shown[mode] = machine.Location
	}
	m.setRecorded(t, stacktree.Native, w)
	return true
}

// addFrame adds a new frame that no mode shows yet, and returns it to be filled in.
func (m *pathMerger) addFrame(number plainFrameNo) *stacktree.Frame {
	b := m.cache.batch
	m.addRef(frameRef(-1 - len(b.newFrames)))
	b.newFrames = append(b.newFrames, newFrame{stacktree.NewFrame(), number})
	return &b.newFrames[len(b.newFrames)-1].Frame
}

func (m *pathMerger) addRef(f frameRef) {
	b := m.cache.batch
	b.frames, b.settle = append(b.frames, f), append(b.settle, none)
}
