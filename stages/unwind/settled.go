package unwind

import (
	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/program"
	"stackmill/stages/symbolize"
)

// wordState is what is known of a word that was read as a caller: in its lower bits how it is
// settled, if it is, above them the number of its PC, from 1. It is 0 for a word that was not
// read, or is none. A word is settled when the rules have made of it and all of its callers
// what they make of them in all stacks in which it is the caller of what is above it: then
// nothing above it changes that.
type wordState uint32

const (
	isSettled wordState = 1 << iota
	isWhole             // the path begins where threads begin
	isByFrame           // a caller on it was found by the frame pointer
	firstPC
)

// maxPC is the number of the last PC of which a state says all.
const maxPC = symbolize.PCNo(^wordState(0)/firstPC) - 1

func stateOf(pc symbolize.PCNo) wordState {
	if pc > maxPC {
		panic("too many different PCs")
	}
	return wordState(pc+1) * firstPC
}

func (s wordState) pc() symbolize.PCNo { return symbolize.PCNo(s/firstPC) - 1 }

// base is a settled word with which a stack goes on. The zero value is none.
type base struct {
	word decode.WordNo
	is   bool
	how  wordState
}

func (b *base) whole() bool   { return b.how&isWhole != 0 }
func (b *base) byFrame() bool { return b.how&isByFrame != 0 }

// reading is a recorded stack whose words pass the rules: all of them, or those above
// a settled one and that one itself, as the last.
type reading struct {
	raw     decode.RawStack  // Words, Exact and ByFrame as far as they are read
	nodes   []decode.WordNo  // by word
	numbers []symbolize.PCNo // of PCs, likewise
	own     []spot           // what each word means by itself, None for markers
	ends    int              // the first word that is no caller, as are all after it; none if all are
	base    base
	at      int64 // when it was recorded
}

// read takes a stack that was read, from its leaf to the first settled word.
func (u *Unwinder) read(s *readStack, words []readWord) {
	stacks, raw := u.recorded.Stacks, &u.raw
	stacks.Traits(s.number, raw)
	u.nodes, u.numbers, u.own, u.base, u.reading.at = u.nodes[:0], u.numbers[:0], u.own[:0], base{}, s.at
	u.ends = none
	read := len(words)
	if s.known {
		read--
	}
	for i := range words[:read] {
		w := &words[i]
		if i > 0 && i > raw.Kernel {
			u.known.words[w.node] = stateOf(w.pc)
		}
		u.word(w.word, w.marks, w.node, w.pc)
	}
	if s.known {
		u.readOn(&words[read])
	}
}

// readOn goes on with a caller that was read before.
func (u *Unwinder) readOn(w *readWord) {
	state := u.known.words[w.node]
	u.word(w.word, w.marks, w.node, state.pc())
	for node := w.node; ; {
		if state&isSettled != 0 && !u.known.Whole && u.ends == none && u.isCaller(len(u.raw.Words)-1) {
			u.base = base{node, true, state}
			return
		}
		if _, _, node = u.recorded.Stacks.Node(node); node < 0 {
			return
		}
		word, marks, _ := u.recorded.Stacks.Node(node)
		state = u.known.words[node]
		u.word(word, marks, node, state.pc())
	}
}

// word adds a word to those that are read.
func (u *Unwinder) word(word uint64, marks decode.WordMarks, node decode.WordNo, pc symbolize.PCNo) {
	raw := &u.raw
	i := int32(len(raw.Words))
	if marks&decode.MarkedExact != 0 {
		raw.Exact = append(raw.Exact, i)
	}
	if marks&decode.MarkedByFrame != 0 {
		raw.ByFrame = append(raw.ByFrame, i)
	}
	own := spot{location: program.None}
	if !isMarker(word) {
		own = u.at(pc, word)
	}
	raw.Words, u.nodes, u.numbers, u.own = append(raw.Words, word), append(u.nodes, node), append(u.numbers, pc), append(u.own, own)
	if u.ends == none && u.chainEnds(int(i)) {
		u.ends = int(i)
	}
}

// isCaller reports whether a word is a caller that no rule changes for what is above it:
// it was not interrupted, and what calls it is not a leaf that may be dropped.
func (u *Unwinder) isCaller(i int) bool {
	above := u.raw.Words[:i]
	if i == 0 || i <= u.raw.Kernel || isMarker(above[i-1]) || i > 1 && isMarker(above[i-2]) {
		return false
	}
	t := u.own[i-1].traits
	return t.kind() != pltKind && !t.has(isTrampoline|isInjected)
}

// canSettle reports whether the rules treat each frame of the stack by itself or with
// its neighbours, so that words settle at all.
func (u *Unwinder) canSettle() bool {
	return !u.openMP && u.raw.OMP == nil && u.raw.Java == nil && len(u.recorded.JavaThreads) == 0
}

// settles reports whether a frame of machine mode, which user mode shows as another one,
// stays as it is whatever is above it, and what is above it needs to know no more.
func (u *Unwinder) settles(f, user *Frame, machine []Frame) bool {
	w := int(f.Word)
	switch {
	case w <= 0, w <= u.raw.Kernel, w <= u.checked+1: // what follows a mark depends on the leaf
		return false
	case int(f.Place)+1 >= len(machine): // isWhole looks at two
		return false
	case f.Rule != schema.NoRule, user.Rule != schema.NoRule && user.Rule != schema.RuleJava:
		return false
	}
	if u.raw.Returns && u.pcs[w] == u.raw.Words[w] { // a signal interrupted it
		return false
	}
	t := u.traitsOf(f)
	switch t.kind() {
	case pltKind, outlineKind, cloneKind:
		return false
	}
	return !t.has(isLinker|isTrampoline|isInjected) && !u.resolver.IsKernel(u.pcs[w])
}
