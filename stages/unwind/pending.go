package unwind

import (
	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/program"
	"stackmill/stages/symbolize"
)

// callerState is what is known of a recorded word from earlier stacks in which it was a caller: in
// the upper bits the number of its PC plus 1; below, whether it is settled. 0: it was not a caller
// yet.
//
// A word is settled if its frame and the frames of its callers are the same in all stacks in which
// it is a caller, whatever its callees are. The rules are then applied to a stack only from the
// leaf down to the first settled word; the tree has the rest of the path at that word's node.
type callerState uint32

const (
	isSettled callerState = 1 << iota
	isWhole               // the path from the root begins where threads begin
	isByFrame             // some caller on the path was found by a frame pointer
	firstPC
)

// maxPC is the largest PC number that fits into a callerState.
const maxPC = symbolize.PCNo(^callerState(0)/firstPC) - 1

func newCallerState(pc symbolize.PCNo) callerState {
	if pc > maxPC {
		panic("too many different PCs")
	}
	return callerState(pc+1) * firstPC
}

func (s callerState) pcNo() symbolize.PCNo { return symbolize.PCNo(s/firstPC) - 1 }

// settledCaller is the settled word of a stack, if ok, at whose node the tree has the rest of the
// path.
type settledCaller struct {
	node  decode.WordNo
	ok    bool
	state callerState
}

func (c *settledCaller) whole() bool   { return c.state&isWhole != 0 }
func (c *settledCaller) byFrame() bool { return c.state&isByFrame != 0 }

// pendingStack is the recorded stack to which the rules are being applied. It has all words of the
// stack, or those from the leaf to the first settled caller.
type pendingStack struct {
	raw      decode.RawStack  // Words, Exact and ByFrame as far as they are loaded
	nodes    []decode.WordNo  // by word: its number in decode.Stacks
	numbers  []symbolize.PCNo // by word: the number of its PC, none for markers
	resolved []resolvedPC     // by word: its location as recorded, None for markers
	pcs      []uint64         // by word: its PC, or the PC of the call before it
	chainEnd int              // the first word that is not a caller (see chainEnds), or none
	base     settledCaller
	at       int64 // when it was recorded

	kernelFrames int // the number of the kernel's frames at the leaf of the last native stack
	lastMark     int // index of the last word that marks the word after it as the leaf's caller, or none
}

// load makes a stack of a batch the pending one, with its words up to the first settled one.
func (u *Unwinder) load(s *batchStack, words []batchWord) {
	stacks, raw := u.recorded.Stacks, &u.raw
	stacks.Traits(s.number, raw)
	u.nodes, u.numbers, u.resolved, u.base, u.pendingStack.at = u.nodes[:0], u.numbers[:0], u.resolved[:0], settledCaller{}, s.at
	u.chainEnd = none
	read := len(words)
	if s.joinsKnown {
		read--
	}
	for i := range words[:read] {
		w := &words[i]
		if i > 0 && i > raw.Kernel {
			u.cache.callers[w.node] = newCallerState(w.pc)
		}
		u.loadWord(w.word, w.marks, w.node, w.pc)
	}
	if s.joinsKnown {
		u.loadCallers(&words[read])
	}
}

// loadCallers appends a caller that was on an earlier stack, and its callers up to the first
// settled one.
func (u *Unwinder) loadCallers(w *batchWord) {
	state := u.cache.callers[w.node]
	u.loadWord(w.word, w.marks, w.node, state.pcNo())
	for node := w.node; ; {
		if state&isSettled != 0 && !u.cache.IgnoreSettled && u.chainEnd == none && u.isStableCaller(len(u.raw.Words)-1) {
			u.base = settledCaller{node, true, state}
			return
		}
		if _, _, node = u.recorded.Stacks.Node(node); node < 0 {
			return
		}
		word, marks, _ := u.recorded.Stacks.Node(node)
		state = u.cache.callers[node]
		u.loadWord(word, marks, node, state.pcNo())
	}
}

// loadWord appends a word to the pending stack.
func (u *Unwinder) loadWord(word uint64, marks decode.WordMarks, node decode.WordNo, pc symbolize.PCNo) {
	raw := &u.raw
	i := int32(len(raw.Words))
	if marks&decode.MarkedExact != 0 {
		raw.Exact = append(raw.Exact, i)
	}
	if marks&decode.MarkedByFrame != 0 {
		raw.ByFrame = append(raw.ByFrame, i)
	}
	own := resolvedPC{location: program.None}
	if !isMarker(word) {
		own = u.resolveNumbered(pc, word)
	}
	raw.Words, u.nodes, u.numbers, u.resolved = append(raw.Words, word), append(u.nodes, node), append(u.numbers, pc), append(u.resolved, own)
	if u.chainEnd == none && u.chainEnds(int(i)) {
		u.chainEnd = int(i)
	}
}

// isStableCaller reports whether the frame of word i cannot depend on the words closer to the leaf:
// the word was not interrupted, and its callee is not a leaf that a rule may drop.
func (u *Unwinder) isStableCaller(i int) bool {
	above := u.raw.Words[:i]
	if i == 0 || i <= u.raw.Kernel || isMarker(above[i-1]) || i > 1 && isMarker(above[i-2]) {
		return false
	}
	t := u.resolved[i-1].traits
	return t.kind() != pltKind && !t.has(isTrampoline|isInjectedCall)
}

// canSettle reports whether words of the stack can settle (see callerState): whether all rules that
// apply look only at a frame and its neighbors.
func (u *Unwinder) canSettle() bool {
	return !u.openMP && u.raw.OMP == nil && u.raw.Java == nil && len(u.recorded.JavaThreads) == 0
}

// staysSettled reports whether a word is settled by this stack: its frame is the same whatever its
// callees are, in machine mode (f) and in user mode (user), and no rule for a callee looks beyond
// it.
func (u *Unwinder) staysSettled(f, user *Frame, machine []Frame) bool {
	w := int(f.Word)
	switch {
	case w <= 0, w <= u.raw.Kernel, w <= u.lastMark+1: // what follows a mark depends on the leaf
		return false
	case int(f.MachineIndex)+1 >= len(machine): // isWhole looks at the two outermost frames
		return false
	case f.Rule != schema.NoRule, user.Rule != schema.NoRule && user.Rule != schema.RuleJava:
		return false
	}
	if u.raw.Returns && u.pcs[w] == u.raw.Words[w] { // a signal interrupted this code
		return false
	}
	t := u.traitsOf(f)
	switch t.kind() {
	case pltKind, outlineKind, cloneKind:
		return false
	}
	return !t.has(isLinker|isTrampoline|isInjectedCall) && !u.resolver.IsKernel(u.pcs[w])
}
