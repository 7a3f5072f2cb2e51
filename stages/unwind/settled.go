package unwind

import (
	"math"

	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/symbolize"
	"stackmill/stages/symbolize/image"
)

// settled is what the rules made of a word and all of its callers, for some time, in
// all stacks in which the word is the caller of what is above it: then nothing above it
// changes that. The zero value is none.
type settled struct { // few fields at each level: it is passed in registers
	word decode.WordNo
	how
	life
}

// how says how a word is settled.
type how struct {
	is      bool
	whole   bool // the path begins where threads begin
	byFrame bool // a caller on it was found by the frame pointer
}

// life is from when until when something holds, in ns from the founder's start.
type life struct{ from, until int64 }

// settledWords are the settled words of a process. There are few lives and many words,
// which are asked for in no order: what is kept of one is small.
type settledWords struct {
	words   []packedSettled
	lives   []life
	numbers map[life]packedSettled // of lives, from 1
	last    packedSettled          // the number used last, 0 before
}

// packedSettled is 0 for none, else the number of the life, from 1, above two flags.
type packedSettled uint32

const (
	packedWhole packedSettled = 1 << iota
	packedByFrame
	packedLife
)

// next is for the next process, which has so many words.
func (s *settledWords) next(words int) {
	s.words = append(s.words[:0], make([]packedSettled, words)...)
	s.lives, s.numbers, s.last = s.lives[:0], map[life]packedSettled{}, 0
}

func (s *settledWords) at(n decode.WordNo) settled {
	p := s.words[n]
	if p == 0 {
		return settled{}
	}
	return settled{n, how{true, p&packedWhole != 0, p&packedByFrame != 0}, s.lives[p/packedLife-1]}
}

func (s *settledWords) put(w settled) {
	if s.last == 0 || s.lives[s.last-1] != w.life { // mostly it is the last
		number, known := s.numbers[w.life]
		if !known {
			s.lives = append(s.lives, w.life)
			number = packedSettled(len(s.lives))
			s.numbers[w.life] = number
		}
		s.last = number
	}
	p := s.last * packedLife
	if w.whole {
		p |= packedWhole
	}
	if w.byFrame {
		p |= packedByFrame
	}
	s.words[w.word] = p
}

// reading is a recorded stack whose words pass the rules: all of them, or those above
// a settled one and that one itself, as the last.
type reading struct {
	raw   decode.RawStack  // Words, Exact and ByFrame as far as they are read
	nodes []decode.WordNo  // by word
	own   []symbolize.Span // what each word means by itself, markers nothing
	// calling is what the PC of a word's call means, where that is not the word itself;
	// known once the native frames are made.
	calling []symbolize.Span
	base    settled
}

// read reads a stack from its leaf to the first settled word.
func (u *Unwinder) read(number int32, t int64) {
	stacks, raw := u.recorded.Stacks, &u.raw
	stacks.Traits(number, raw)
	u.nodes, u.own, u.base = u.nodes[:0], u.own[:0], settled{}
	for n := stacks.Leaf(number); n >= 0; {
		word, marks, caller := stacks.Node(n)
		i := len(raw.Words)
		if marks&decode.MarkedExact != 0 {
			raw.Exact = append(raw.Exact, int32(i))
		}
		if marks&decode.MarkedByFrame != 0 {
			raw.ByFrame = append(raw.ByFrame, int32(i))
		}
		raw.Words, u.nodes = append(raw.Words, word), append(u.nodes, n)
		own := symbolize.Span{From: math.MinInt64, Until: image.Never, Location: symbolize.None}
		if !isMarker(word) {
			own = u.at(word, t)
		}
		u.own = append(u.own, own)
		if s := u.known.settled.at(n); s.is && !u.known.Whole && s.from <= t && t < s.until && u.isCaller(i) {
			u.base = s
			break
		}
		n = caller
	}
	u.calling = append(u.calling[:0], u.own...)
}

// isCaller reports whether a word is a caller that no rule changes for what is above it:
// it was not interrupted, and what calls it is not a leaf that may be dropped.
func (u *Unwinder) isCaller(i int) bool {
	above := u.raw.Words[:i]
	if i == 0 || i <= u.raw.Kernel || isMarker(above[i-1]) || i > 1 && isMarker(above[i-2]) {
		return false
	}
	k := u.traits(u.own[i-1].Location)
	return k.kind != pltKind && !k.trampoline
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
	k := u.traits(f.Location)
	switch k.kind {
	case pltKind, outlineKind, cloneKind:
		return false
	}
	return !k.linker && !k.trampoline && !u.resolver.IsKernel(u.pcs[w])
}
