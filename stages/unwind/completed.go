package unwind

import (
	"runtime"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/internal/ordered"
	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/cfi"
)

// Completed are the recorded stacks of a process, those that its dumps hold included.
type Completed struct {
	Stacks *decode.Stacks
	dumps  []int32 // numbers of stacks, by dump
}

// Bounds of how dumps are unwound at the same time.
const (
	// dumpsEach is how many a goroutine unwinds before their stacks are added.
	dumpsEach = 256
	// maxWalkers is how many goroutines one that adds stacks can keep up with.
	maxWalkers = 8
)

// Walker unwinds the dumps of a process, on one goroutine.
type Walker interface {
	// Unwind returns the stack that a dump holds, which is valid until the next call.
	Unwind(*decode.StackDump) *cfi.Stack
	// Report returns what reports, once it is its turn, what turned out to be wrong since
	// the last call; nil if nothing did.
	Report() func()
}

// Complete adds the stacks of a process's dumps to its stacks. Dumps are unwound on all
// processors by so many walkers as are asked for.
func Complete(p *decode.Process, walkers func(n int) []Walker) (*Completed, error) {
	if p.Dumps == nil {
		return &Completed{Stacks: p.Stacks}, nil
	}
	n := p.Dumps.Len()
	pieces := (n + dumpsEach - 1) / dumpsEach
	workers := min(pieces, runtime.GOMAXPROCS(0), maxWalkers)
	completers := make([]*completer, workers) // each by itself in memory: they are written all the time
	for i, w := range walkers(workers) {
		completers[i] = &completer{walker: w, reader: p.Dumps.Reader()}
	}
	numbers := make([]int32, 0, n)
	err := p.Dumps.Guard(func() {
		ordered.Each(workers, pieces, func(worker, piece int, to *unwound) {
			completers[worker].unwind(piece*dumpsEach, min((piece+1)*dumpsEach, n), to)
		}, func(some *unwound) bool {
			if some.report != nil {
				some.report()
			}
			for i := range some.stacks.Len() {
				numbers = append(numbers, p.Stacks.Number(some.stacks.At(i)))
			}
			return true
		})
	})
	if err != nil {
		return nil, err
	}
	return &Completed{p.Stacks, numbers}, nil
}

// unwound are the stacks of successive dumps.
type unwound struct {
	stacks decode.RawStacks
	report func() // Walker.Report
}

// Events returns a batch that refers to stacks where the decoder's refers to dumps.
// It releases the decoder's; the caller releases the one returned.
func (c *Completed) Events(events arrow.RecordBatch) arrow.RecordBatch {
	if len(c.dumps) == 0 {
		return events
	}
	defer events.Release()
	raw := events.Column(schema.EventStack).(*array.Int32).Int32Values()
	stacks := make([]int32, len(raw))
	for i, n := range raw {
		if d, ok := decode.DumpOfStack(n); ok {
			n = c.dumps[d]
		}
		stacks[i] = n
	}
	column := schema.Int32s(stacks)
	defer column.Release()
	columns := append([]arrow.Array{}, events.Columns()...)
	columns[schema.EventStack] = column
	return array.NewRecordBatch(events.Schema(), columns, events.NumRows())
}

// completer completes stacks by what dumps hold.
type completer struct {
	walker Walker
	reader decode.DumpReader

	words          []uint64
	exact, byFrame []int32
}

// unwind finds the stacks of some dumps.
func (c *completer) unwind(from, to int, found *unwound) {
	found.stacks.Reset(to - from)
	for n := from; n < to; n++ {
		raw := c.stack(c.reader.Dump(n))
		found.stacks.Add(&raw)
	}
	found.report = c.walker.Report()
}

// stack returns a dump's stack, which is valid until the next call.
func (c *completer) stack(d *decode.StackDump) decode.RawStack {
	raw := d.Recorded
	switch {
	case raw.Callers != decode.CallersUnwound:
		c.leafCaller(&raw, d)
	case d.Reason != "":
		c.replaceUser(&raw, d, &cfi.Stack{Words: raw.Words[raw.Kernel:], Reason: d.Reason})
	default:
		c.replaceUser(&raw, d, c.walker.Unwind(d))
	}
	return raw
}

// replaceUser puts the unwound stack in the place of a stack's user part. The
// sampled address stays the leaf: it may be more precise than the registers.
func (c *completer) replaceUser(raw *decode.RawStack, d *decode.StackDump, s *cfi.Stack) {
	words := append(append(c.words[:0], raw.Words[:raw.Kernel]...), s.Words...)
	if raw.Kernel == 0 && len(words) > 0 && d.Leaf < decode.NoAddress {
		words[0] = d.Leaf
	}
	if s.Reason != "" {
		raw.Reason = s.Reason
	}
	if n := len(words); raw.Reason != "" && (n == 0 || words[n-1] != decode.MarkTruncated) {
		words = append(words, decode.MarkTruncated)
	}
	raw.Words, c.words = words, words
	c.exact, c.byFrame = shifted(c.exact, s.Exact, raw.Kernel), shifted(c.byFrame, s.ByFrame, raw.Kernel)
	raw.Exact, raw.ByFrame = c.exact, c.byFrame
}

// shifted appends numbers of words after the kernel's to the emptied list to.
func shifted(to, numbers []int32, kernel int) []int32 {
	to = to[:0]
	for _, n := range numbers {
		to = append(to, n+int32(kernel))
	}
	return to
}

// leafCaller puts the return register in as the leaf's caller (S7) if the chain has
// not got it. The dump holds no stack: a caller is found only where call frame
// information says that the register has it.
func (c *completer) leafCaller(raw *decode.RawStack, d *decode.StackDump) {
	if d.Known == 0 {
		return
	}
	s := c.walker.Unwind(d)
	next := raw.Kernel + 1
	if len(s.Words) < 2 || len(s.Exact) > 0 || next < len(raw.Words) && raw.Words[next] == s.Words[1] {
		return
	}
	words := append(append(c.words[:0], raw.Words[:next]...), decode.MarkLeafCheck, s.Words[1])
	raw.Words = append(words, raw.Words[next:]...)
	c.words = raw.Words
}
