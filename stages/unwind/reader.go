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

// StackReader reads a recording's stacks for an Unwinder. It numbers their PCs, leaves out the
// callers that were read before, and finds for how long each stack means the same code. It may run
// ahead of the unwinder, on another goroutine.
type StackReader struct {
	emit  func(*StackBatch)
	pcs   *symbolize.PCs
	count stacktree.PathNo // the number of stacks read
	batch *StackBatch

	// These belong to the current process.
	stacks  *decode.Stacks
	numbers *symbolize.ProcessPCs
	lives   lifeTable
	latest  int64 // the latest time of a stack since the last reset
	changed bool  // since the last reset, some word began to mean other code
	raw     decode.RawStack
}

// NewStackReader returns a reader that calls emit with batches of stacks.
func NewStackReader(emit func(*StackBatch)) *StackReader {
	return &StackReader{emit: emit, pcs: symbolize.NewPCs(), batch: newStackBatch()}
}

// Process makes the reader read stacks of another process.
func (r *StackReader) Process(process *symbolize.Process, stacks *decode.Stacks) {
	r.stacks, r.numbers = stacks, r.pcs.Process(process, stacks.Nodes())
	r.reset(&batchStack{})
}

// StackBatch holds recorded stacks, in the order of the numbers of their paths.
type StackBatch struct {
	stacks []batchStack
	words  []batchWord // of one stack after the other
}

// batchStack is a recorded stack at the time of a sample.
type batchStack struct {
	number     int32
	words      int32 // how many of StackBatch.words, from the leaf
	joinsKnown bool  // the last word is a caller that was read before; its callers are left out
	system     bool  // of one of the JVM's own threads
	reset      bool  // forget the callers that were read before: they may have changed
	at         int64 // ns from the founder's start
}

// batchWord is a word of a recorded stack.
type batchWord struct {
	word  uint64
	node  decode.WordNo
	pc    symbolize.PCNo // none for markers and for callers that were read before
	marks decode.WordMarks
}

// stackBatches reuses the memory of batches.
var stackBatches = sync.Pool{New: func() any { return &StackBatch{} }}

func newStackBatch() *StackBatch {
	b := stackBatches.Get().(*StackBatch)
	b.stacks, b.words = b.stacks[:0], b.words[:0]
	return b
}

// flushWords is the number of words at which a batch is emitted.
const flushWords = 1 << 13

// Stack reads the stack with this number, of a sample at time t. system says that the thread is one
// of the JVM's own. It returns the number of the stack's path in the tree, and the time during which
// no word of the stack changes the code that it means.
func (r *StackReader) Stack(number int32, system bool, t int64) (stacktree.PathNo, program.Life) {
	s := batchStack{number: number, system: system, at: t}
	if r.changed && t < r.latest || r.lives.full {
		r.reset(&s)
	}
	r.stacks.Traits(number, &r.raw)
	life := r.readWords(&s)
	for _, word := range r.raw.OMP {
		_, l := r.numbers.Number(word, t)
		life = life.Intersect(l)
	}
	r.latest = max(r.latest, t)
	r.batch.stacks = append(r.batch.stacks, s)
	if len(r.batch.words) >= flushWords {
		r.Flush()
	}
	r.count++
	return r.count - 1, life
}

// readWords reads the words of a stack from the leaf to the first caller that was read before. It
// returns the time during which no word of the stack changes the code that it means.
func (r *StackReader) readWords(s *batchStack) program.Life {
	before, life := len(r.batch.words), program.Life{From: math.MinInt64, Until: image.Never}
	for n := r.stacks.Leaf(s.number); n >= 0 && !s.joinsKnown; {
		word, marks, caller := r.stacks.Node(n)
		if r.isCaller(len(r.batch.words) - before) {
			switch l, read := r.lives.get(n); {
			case read && l.Contains(s.at):
				s.joinsKnown, life = true, l
			case read && s.at < r.latest:
				r.reset(s)
			case read:
				r.changed = true
			}
		}
		r.numbers.Fetch(word)
		r.batch.words = append(r.batch.words, batchWord{word, n, none, marks})
		n = caller
	}
	words := r.batch.words[before:]
	s.words = int32(len(words))
	if s.joinsKnown {
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

// reset makes the reader and, from stack s on, the unwinder forget the callers that were read. As
// long as stacks come in order of time, a word that begins to mean other code is read again, and so
// are all its callees. If time jumps back, a callee may have been read for the new time, but its
// caller only for a later one.
func (r *StackReader) reset(s *batchStack) {
	r.lives.reset(r.stacks.Nodes())
	r.latest, r.changed, s.reset = math.MinInt64, false, true
}

// isCaller reports whether the word with this index is a caller: neither the leaf nor the word that
// the kernel interrupted. Then it is one in all stacks that contain it.
func (r *StackReader) isCaller(word int) bool { return word > 0 && word > r.raw.Kernel }

// pc returns the number that the PC of word i has at time t, and the part of life in which it means
// the same code.
func (r *StackReader) pc(i int, w *batchWord, t int64, life program.Life) (number symbolize.PCNo, both program.Life) {
	var own program.Life
	if r.raw.Returns && i > 0 && i != r.raw.Kernel && w.marks&decode.MarkedExact == 0 { // see Unwinder.callPCs
		number, own = r.numbers.Caller(w.word, t)
	} else {
		number, own = r.numbers.Number(w.word, t)
	}
	if isMarker(w.word) {
		number = none
	}
	return number, life.Intersect(own)
}

// Flush emits the stacks since the last batch as a batch.
func (r *StackReader) Flush() {
	if b := r.batch; len(b.stacks) > 0 {
		r.batch = newStackBatch()
		r.emit(b)
	}
}

// lifeTable holds, for each word that was read as a caller, the time in which it and all its
// callers mean the same code. It stores these times once, since few differ, and a number for each
// word.
type lifeTable struct {
	words   []lifeNo // 0 for words that were not read
	lives   []program.Life
	numbers map[program.Life]lifeNo
	last    lifeNo // the number used last, 0 before
	full    bool   // some word has no life because all numbers are in use
}

// lifeNo is an index in lifeTable.lives plus 1.
type lifeNo uint16

const maxLives = 1<<16 - 1

// reset empties the table for a process with this many words.
func (l *lifeTable) reset(words int) {
	l.words = append(l.words[:0], make([]lifeNo, words)...)
	l.lives, l.numbers, l.last, l.full = l.lives[:0], map[program.Life]lifeNo{}, 0, false
}

func (l *lifeTable) get(n decode.WordNo) (life program.Life, read bool) {
	number := l.words[n]
	if number == 0 {
		return program.Life{}, false
	}
	return l.lives[number-1], true
}

func (l *lifeTable) put(n decode.WordNo, life program.Life) {
	if l.last == 0 || l.lives[l.last-1] != life { // usually it is the last one
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
