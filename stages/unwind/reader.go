package unwind

import (
	"math"
	"slices"
	"sync"

	"stackmill/stages/decode"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
	"stackmill/stages/symbolize"
	"stackmill/stages/symbolize/image"
)

// Reader reads the recorded stacks of a recording for an Unwinder: which of their words are
// new, what their PCs are, and for how long a stack means the same. It may be ahead of the
// unwinder, on a goroutine of its own.
type Reader struct {
	emit  func(*Readings)
	pcs   *symbolize.PCs
	paths stacktree.PathNo // how many stacks were read
	next  *Readings

	stacks *decode.Stacks // of the process whose stacks are read now, as all below
	of     *symbolize.ProcessPCs
	lives  wordLives
	latest int64 // of the times of stacks, since words were forgotten
	ended  bool  // a word means something else than at a time since then
	raw    decode.RawStack
}

// NewReader returns a reader; emit gets what it has read.
func NewReader(emit func(*Readings)) *Reader {
	return &Reader{emit: emit, pcs: symbolize.NewPCs(), next: newReadings()}
}

// Process goes on with the stacks of a process.
func (r *Reader) Process(process *symbolize.Process, stacks *decode.Stacks) {
	r.stacks, r.of = stacks, r.pcs.Process(process, stacks.Nodes())
	r.forget(&readStack{})
}

// Readings are recorded stacks, in the order of their paths. The unwinder may have them while
// further ones are read.
type Readings struct {
	stacks []readStack
	words  []readWord // of one stack after the other
}

// readStack is a recorded stack as of a time.
type readStack struct {
	number int32
	words  int32 // how many were read for it, from its leaf
	known  bool  // the last of these is a caller that was read before, as were all of its callers
	system bool  // of one of the JVM's own threads
	forget bool  // what was read before may have changed
	at     int64 // ns from the founder's start
}

// readWord is a word on a stack.
type readWord struct {
	word  uint64
	node  decode.WordNo
	pc    symbolize.PCNo // none for markers, and for a caller that was read before
	marks decode.WordMarks
}

// readings are those that an unwinder had: their memory serves the next ones.
var readings = sync.Pool{New: func() any { return &Readings{} }}

func newReadings() *Readings {
	r := readings.Get().(*Readings)
	r.stacks, r.words = r.stacks[:0], r.words[:0]
	return r
}

// fullReadings is how many words are handed out at once.
const fullReadings = 1 << 13

// Stack reads a stack as of time t. system says that it is one of the JVM's own threads. It
// returns the number of its path in the tree, and for how long the stack means the same.
func (r *Reader) Stack(number int32, system bool, t int64) (stacktree.PathNo, program.Life) {
	s := readStack{number: number, system: system, at: t}
	if r.ended && t < r.latest || r.lives.full {
		r.forget(&s)
	}
	r.stacks.Traits(number, &r.raw)
	life := r.words(&s)
	for _, word := range r.raw.OMP {
		_, l := r.of.Number(word, t)
		life = life.And(l)
	}
	r.latest = max(r.latest, t)
	r.next.stacks = append(r.next.stacks, s)
	if len(r.next.words) >= fullReadings {
		r.Flush()
	}
	r.paths++
	return r.paths - 1, life
}

// words reads the words of a stack down to the first caller that was read before. It returns
// for how long they and all below them mean the same.
func (r *Reader) words(s *readStack) program.Life {
	before, life := len(r.next.words), program.Life{From: math.MinInt64, Until: image.Never}
	for n := r.stacks.Leaf(s.number); n >= 0 && !s.known; {
		word, marks, caller := r.stacks.Node(n)
		if r.isCaller(len(r.next.words) - before) {
			switch l, read := r.lives.at(n); {
			case read && l.Has(s.at):
				s.known, life = true, l
			case read && s.at < r.latest:
				r.forget(s)
			case read:
				r.ended = true
			}
		}
		r.of.Fetch(word)
		r.next.words = append(r.next.words, readWord{word, n, none, marks})
		n = caller
	}
	words := r.next.words[before:]
	s.words = int32(len(words))
	if s.known {
		words = words[:len(words)-1]
	}
	for i, w := range slices.Backward(words) {
		words[i].pc, life = r.pc(i, &w, s.at, life)
		if r.isCaller(i) {
			r.lives.put(w.node, life)
		}
	}
	return life
}

// forget forgets which words were read, from a stack on. While times ascend, a word that means something else
// than before does so with all that it calls; when they begin anew, those may mean what they
// did before, but it does not.
func (r *Reader) forget(s *readStack) {
	r.lives.next(r.stacks.Nodes())
	r.latest, r.ended, s.forget = math.MinInt64, false, true
}

// isCaller reports whether a word is a caller whatever is above it: it was not interrupted.
func (r *Reader) isCaller(word int) bool { return word > 0 && word > r.raw.Kernel }

// pc returns the number of a word's PC, and for how long it means the same and life lasts.
func (r *Reader) pc(i int, w *readWord, t int64, life program.Life) (number symbolize.PCNo, both program.Life) {
	var own program.Life
	if r.raw.Returns && i > 0 && i != r.raw.Kernel && w.marks&decode.MarkedExact == 0 { // see Unwinder.calls
		number, own = r.of.Caller(w.word, t)
	} else {
		number, own = r.of.Number(w.word, t)
	}
	if isMarker(w.word) {
		number = none
	}
	return number, life.And(own)
}

// Flush hands out what was read since it was called last.
func (r *Reader) Flush() {
	if g := r.next; len(g.stacks) > 0 {
		r.next = newReadings()
		r.emit(g)
	}
}

// wordLives say how long words that were read as callers, and all of their own callers, mean
// the same. There are few lives and many words: of a word only the number of its life is kept.
type wordLives struct {
	words   []lifeNo // 0 of those that were not read
	lives   []program.Life
	numbers map[program.Life]lifeNo
	last    lifeNo // the number used last, 0 before
	full    bool   // a word was not kept, for there was no number left
}

// lifeNo is the number of a life, from 1.
type lifeNo uint16

// maxLives is how many lives have numbers.
const maxLives = 1<<16 - 1

// next forgets all, and is for a process that has so many words.
func (l *wordLives) next(words int) {
	l.words = append(l.words[:0], make([]lifeNo, words)...)
	l.lives, l.numbers, l.last, l.full = l.lives[:0], map[program.Life]lifeNo{}, 0, false
}

func (l *wordLives) at(n decode.WordNo) (life program.Life, read bool) {
	number := l.words[n]
	if number == 0 {
		return program.Life{}, false
	}
	return l.lives[number-1], true
}

func (l *wordLives) put(n decode.WordNo, life program.Life) {
	if l.last == 0 || l.lives[l.last-1] != life { // mostly it is the last
		number, known := l.numbers[life]
		switch {
		case known:
		case len(l.lives) == maxLives:
			l.words[n], l.full = 0, true
			return
		default:
			l.lives = append(l.lives, life)
			number = lifeNo(len(l.lives))
			l.numbers[life] = number
		}
		l.last = number
	}
	l.words[n] = l.last
}
