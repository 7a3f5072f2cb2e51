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

// CompleteStacks are all recorded stacks of a process, including those that were unwound from its
// stack dumps.
type CompleteStacks struct {
	Stacks *decode.Stacks
	dumps  []int32 // by dump: the number of its stack
}

const (
	dumpsPerPiece = 256 // number of dumps that a goroutine unwinds before it hands their stacks on
	maxWalkers    = 8   // with more, they would wait for the goroutine that adds their stacks
)

// Walker unwinds the dumps of a process, on one goroutine.
type Walker interface {
	// Unwind returns the stack in a dump. It is valid until the next call.
	Unwind(*decode.StackDump) *cfi.Stack
	// Report returns a function that reports the problems found since the last call of Report, nil
	// if there are none. The function is called when the stacks unwound since then are added.
	Report() func()
}

// Complete unwinds a process's dumps, and adds their stacks to its recorded stacks, in the order of
// the dumps. It calls walkers to get one walker for each goroutine that unwinds.
func Complete(p *decode.Process, walkers func(n int) []Walker) (*CompleteStacks, error) {
	if p.Dumps == nil {
		return &CompleteStacks{Stacks: p.Stacks}, nil
	}
	n := p.Dumps.Len()
	pieces := (n + dumpsPerPiece - 1) / dumpsPerPiece
	workers := min(pieces, runtime.GOMAXPROCS(0), maxWalkers)
	completers := make([]*dumpCompleter, workers) // separate allocations, to avoid false sharing
	for i, w := range walkers(workers) {
		completers[i] = &dumpCompleter{walker: w, reader: p.Dumps.Reader()}
	}
	numbers := make([]int32, 0, n)
	err := p.Dumps.Guard(func() {
		ordered.Map(workers, pieces, func(worker, piece int, to *stackPiece) {
			completers[worker].unwind(piece*dumpsPerPiece, min((piece+1)*dumpsPerPiece, n), to)
		}, func(some *stackPiece) bool {
			if some.report != nil {
				some.report()
			}
			for i := range some.stacks.Len() {
				numbers = append(numbers, p.Stacks.Intern(some.stacks.At(i)))
			}
			return true
		})
	})
	if err != nil {
		return nil, err
	}
	for _, w := range p.WaitStacks {
		numbers = append(numbers, p.Stacks.InternState(numbers[w.Dump], w.State))
	}
	return &CompleteStacks{p.Stacks, numbers}, nil
}

// stackPiece holds the stacks of some successive dumps.
type stackPiece struct {
	stacks decode.RawStacks
	report func() // Walker.Report
}

// Events replaces the numbers of dumps in a batch of the decoder's events by the numbers of their
// stacks. It releases the batch; the caller releases the returned one.
func (c *CompleteStacks) Events(events arrow.RecordBatch) arrow.RecordBatch {
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

// dumpCompleter makes stacks from dumps, on one goroutine.
type dumpCompleter struct {
	walker Walker
	reader decode.DumpReader

	words          []uint64
	exact, byFrame []int32
}

// unwind fills a piece with the stacks of the dumps [from, to).
func (c *dumpCompleter) unwind(from, to int, piece *stackPiece) {
	piece.stacks.Reset(to - from)
	for n := from; n < to; n++ {
		raw := c.stack(c.reader.Dump(n))
		piece.stacks.Add(&raw)
	}
	piece.report = c.walker.Report()
}

// stack returns a dump's stack. It is valid until the next call.
func (c *dumpCompleter) stack(d *decode.StackDump) decode.RawStack {
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

// replaceUser replaces the user part of a stack by the unwound stack s. The sampled address stays
// the leaf: it may be more precise than the registers.
func (c *dumpCompleter) replaceUser(raw *decode.RawStack, d *decode.StackDump, s *cfi.Stack) {
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

// shifted writes the indices of user words to the list to, raised by the number of kernel words
// before them.
func shifted(to, numbers []int32, kernel int) []int32 {
	to = to[:0]
	for _, n := range numbers {
		to = append(to, n+int32(kernel))
	}
	return to
}

// leafCaller inserts the caller of the leaf (S7) if the recorded chain of frame pointers lacks it.
// The dump holds only registers. So the caller is found only if, by the call frame information, the
// return register holds it.
func (c *dumpCompleter) leafCaller(raw *decode.RawStack, d *decode.StackDump) {
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
