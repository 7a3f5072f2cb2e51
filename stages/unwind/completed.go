package unwind

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/cfi"
)

// Completed are the recorded stacks of a process, those that its dumps hold included.
type Completed struct {
	Stacks *decode.Stacks
	dumps  []int32 // numbers of stacks, by dump
}

// Complete adds the stacks of a process's dumps to its stacks. walk returns what a dump holds;
// the result needs to be valid until the next call only.
func Complete(p *decode.Process, walk func(*decode.StackDump) *cfi.Stack) (*Completed, error) {
	if p.Dumps == nil {
		return &Completed{Stacks: p.Stacks}, nil
	}
	c := completer{walk: walk, stacks: p.Stacks}
	var numbers []int32
	dumps := p.Dumps()
	err := dumps.Guard(func() {
		for d := dumps.Next(); d != nil; d = dumps.Next() {
			numbers = append(numbers, c.number(d))
		}
	})
	if err != nil {
		return nil, err
	}
	return &Completed{p.Stacks, numbers}, nil
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

// completer puts what dumps hold into stacks.
type completer struct {
	walk   func(*decode.StackDump) *cfi.Stack
	stacks *decode.Stacks

	words          []uint64
	exact, byFrame []int32
}

// number returns the number of a dump's stack.
func (c *completer) number(d *decode.StackDump) int32 {
	raw := d.Recorded
	switch {
	case raw.Callers != decode.CallersUnwound:
		c.leafCaller(&raw, d)
	case d.Reason != "":
		c.replaceUser(&raw, d, &cfi.Stack{Words: raw.Words[raw.Kernel:], Reason: d.Reason})
	default:
		c.replaceUser(&raw, d, c.walk(d))
	}
	return c.stacks.Number(&raw)
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
	s := c.walk(d)
	next := raw.Kernel + 1
	if len(s.Words) < 2 || len(s.Exact) > 0 || next < len(raw.Words) && raw.Words[next] == s.Words[1] {
		return
	}
	words := append(append(c.words[:0], raw.Words[:next]...), decode.MarkLeafCheck, s.Words[1])
	raw.Words = append(words, raw.Words[next:]...)
	c.words = raw.Words
}
