package dataspace

import (
	"slices"
	"sort"

	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/isa"
	"stackmill/stages/loadobject/types"
)

// basicBlock is a sequence of instructions that runs as a whole: control enters only at the first
// one and leaves only at the last.
type basicBlock struct {
	first, end int    // range of its instructions [first, end)
	before     []int  // indexes of its predecessors
	after      []int  // indexes of its successors
	needed     bool   // the block has to be analyzed
	in         *state // state before its first instruction
}

// mergeValues returns a value that covers both a and b. For two addresses in one array on the
// stack, it is an address anywhere in the array.
func (f *function) mergeValues(n int, s *state, a, b value) value {
	if a.kind != valueFrame || b.kind != valueFrame || a == b {
		return f.types.merge(a, b)
	}
	va, _, oka := f.stackVariable(s, n, a)
	vb, _, okb := f.stackVariable(s, n, b)
	if !oka || !okb || va != vb || f.types.Types[f.types.Strip(f.types.Variables[va].Type)].Kind != types.Array {
		return value{}
	}
	a.indexed = true
	return a
}

// findBlocks divides the function into basic blocks.
func (f *function) findBlocks() {
	starts := map[uint64]bool{f.address: true}
	for a := range f.targets {
		starts[a] = true
	}
	for i := range f.code {
		if i == 0 || starts[f.code[i].address] || endsBlock(f.code[i-1].Kind) {
			if n := len(f.blocks); n > 0 {
				f.blocks[n-1].end = i
			}
			f.blocks = append(f.blocks, basicBlock{first: i, end: len(f.code)})
		}
	}
	for n := range f.blocks {
		f.blocks[n].after = f.successors(n)
		for _, to := range f.blocks[n].after {
			f.blocks[to].before = append(f.blocks[to].before, n)
		}
	}
}

// blockOf returns the number of the block that an instruction is in.
func (f *function) blockOf(n int) int {
	return sort.Search(len(f.blocks), func(i int) bool { return f.blocks[i].first > n }) - 1
}

// maxVisits bounds the work on a function: the number of its blocks times maxVisits may be
// analyzed.
const maxVisits = 16

// maxAsked: after this many analyses of some of a function's blocks, the next one analyzes all.
const maxAsked = 2

// markNeeded marks a block, and all blocks that may run before it, to be analyzed.
func (f *function) markNeeded(n int) {
	left := []int{n}
	for len(left) > 0 {
		b := &f.blocks[left[len(left)-1]]
		left = left[:len(left)-1]
		if !b.needed {
			b.needed = true
			left = append(left, b.before...)
		}
	}
}

// analyze finds what is known of registers and stack slots (the state) at the start of a block, and
// of all blocks that may run before it: it follows the jumps from the function's entry until no
// state changes (perf-data 17.2). Blocks that no known jump leads to begin with an empty state.
func (f *function) analyze(block int) {
	f.markNeeded(block)
	if f.analyses++; f.analyses > maxAsked {
		for i := range f.blocks {
			f.blocks[i].needed = true
		}
	}
	for i := range f.blocks {
		f.blocks[i].in = nil
	}
	f.slotLimit = min(maxSlots, max(allSlots/len(f.blocks), 1))
	f.blocks[0].in = f.entryState()
	left := worklist{blocks: []int{0}, has: make([]bool, len(f.blocks))}
	s := &state{} // scratch
	next := 0
	for steps := maxVisits * len(f.blocks); steps > 0; steps-- {
		if len(left.blocks) == 0 {
			if next = f.unreached(next); next == len(f.blocks) {
				return
			}
			f.blocks[next].in = &state{}
			if f.isPadding(next) {
				continue
			}
			left.add(next)
		}
		f.analyzeBlock(left.first(), s, &left)
	}
	for i := range f.blocks { // the states did not converge
		f.blocks[i].in = &state{}
	}
}

// worklist holds the blocks to analyze, each once: their initial state is new or has changed.
type worklist struct {
	blocks []int
	has    []bool // which blocks are in the list
}

func (w *worklist) add(n int) {
	if !w.has[n] {
		w.blocks, w.has[n] = append(w.blocks, n), true
	}
}

// first removes and returns the block with the lowest address.
func (w *worklist) first() int {
	n := slices.Min(w.blocks)
	at := slices.Index(w.blocks, n)
	w.blocks, w.has[n] = slices.Delete(w.blocks, at, at+1), false
	return n
}

// unreached returns the first block from `from` on that is needed and not reached yet.
func (f *function) unreached(from int) int {
	for from < len(f.blocks) && (f.blocks[from].in != nil || !f.blocks[from].needed) {
		from++
	}
	return from
}

// analyzeBlock applies the instructions of a block. It adds to left those successors whose initial
// state changes. s is scratch.
func (f *function) analyzeBlock(n int, s *state, left *worklist) {
	s.set(f.blocks[n].in)
	for i := f.blocks[n].first; i < f.blocks[n].end; i++ {
		f.step(s, i)
	}
	for _, to := range f.blocks[n].after {
		b := &f.blocks[to]
		switch {
		case !b.needed:
		case b.in == nil:
			b.in = s.clone()
			left.add(to)
		case f.merge(b.first, b.in, s):
			left.add(to)
		}
	}
}

// entryState returns what is known of registers when the function is called. With call frame
// information it returns nothing: such information gives the stack pointer everywhere, also in cold
// parts of functions, which are jumped to.
func (f *function) entryState() *state {
	s := &state{}
	if f.object.frames != nil {
		return s
	}
	pushed := int64(0) // bytes that the call pushed
	switch f.object.symbols.Arch {
	case isa.AMD64:
		pushed = 8
	case isa.X86:
		pushed = 4
	}
	s.registers[f.object.stackPointer()] = value{kind: valueFrame, offset: -pushed}
	return s
}

// isPadding reports whether a block consists of no-ops.
func (f *function) isPadding(n int) bool {
	for i := f.blocks[n].first; i < f.blocks[n].end; i++ {
		if f.code[i].Kind != insn.Nop {
			return false
		}
	}
	return true
}

// successors returns the blocks that may run after a block.
func (f *function) successors(n int) []int {
	var to []int
	last := &f.code[f.blocks[n].end-1]
	if k := last.Kind; k != insn.Jump && k != insn.Return && k != insn.Trap && n+1 < len(f.blocks) {
		to = append(to, n+1)
	}
	if (last.Kind == insn.Jump || last.Kind == insn.CondJump) && last.HasTarget {
		if i, ok := f.at(last.Target); ok {
			to = append(to, f.blockOf(i))
		}
	}
	return to
}

// stateBefore returns what is known of registers and stack slots before an instruction.
func (f *function) stateBefore(n int) *state {
	if f.blocks == nil {
		f.prepare()
		f.findBlocks()
	}
	number := f.blockOf(n)
	b := &f.blocks[number]
	if !b.needed {
		f.analyze(number)
	}
	s := &state{}
	if b.in != nil {
		s = b.in.clone()
	}
	for i := b.first; i < n; i++ {
		f.step(s, i)
	}
	f.applyKnown(s, n)
	return s
}
