package code

import (
	"runtime"
	"sync/atomic"

	"stackmill/internal/ordered"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/program"
	"stackmill/stages/symbolize"
)

// Disassembling is slow compared to everything else, so it is bounded. Functions are disassembled
// in descending order of their values: the first ones whole until they have wholeInstructions, the
// others only around the PCs on stacks.
const (
	wholeInstructions = 25_000
	// Functions with more bytes are interpreters and tables; a static region may be a whole
	// stripped library (S6). Of both, only nearBytes around each PC are disassembled.
	wholeBytes = 64 << 10
	nearBytes  = 64
	// chunkBytes is the size of the code that a goroutine disassembles at a time.
	chunkBytes = 16 << 10
	// maxDisassemblers bounds memory: each goroutine needs some MiB.
	maxDisassemblers = 8
)

// functionCode is the disassembly of a function. It has no instructions if an earlier experiment of
// the batch has stored the same list.
type functionCode struct {
	within int // the argument of symbolize.Disassembler.Function
	symbolize.Disassembly
	memory []symbolize.Instruction
}

// disassemble calls take with the code of each function, in order; the code is valid until take
// returns. Goroutines disassemble chunks of functions in parallel.
func (r *Result) disassemble(functions []program.FunctionNo, pcs [][]uint64, take func(n program.FunctionNo, code *symbolize.Disassembly)) {
	workers := min(runtime.GOMAXPROCS(0), maxDisassemblers)
	chunks := r.chunks(functions)
	disassemblers := make([]*symbolize.Disassembler, workers+1) // the last one is for the goroutine that calls take
	defer func() {
		for _, d := range disassemblers {
			if d != nil {
				d.Close()
			}
		}
	}()
	fill := func(worker int, n program.FunctionNo, within int, to *functionCode) {
		d := disassemblers[worker]
		if d == nil {
			d = r.Disassembler()
			disassemblers[worker] = d
		}
		to.within = within
		var known bool
		to.Disassembly, known = d.Cached(n, pcs[n], within)
		if known && (to.Count == 0 || r.Lists.IsCommitted(to.Content)) {
			return
		}
		to.Disassembly = d.Function(to.memory, n, pcs[n], within)
		to.memory = to.Instructions
	}
	left := wholeInstructions
	var spent atomic.Bool // the budget wholeInstructions is used up; workers may see that late
	taken := 0            // the number of chunks passed to take
	ordered.Map(workers, len(chunks), func(worker, number int, to *[]functionCode) {
		list := chunks[number]
		if more := len(list) - len(*to); more > 0 {
			*to = append(*to, make([]functionCode, more)...)
		}
		for i, n := range list {
			fill(worker, n, r.window(n, spent.Load()), &(*to)[i])
		}
	}, func(from *[]functionCode) bool {
		for i, n := range chunks[taken] {
			code := &(*from)[i]
			if within := r.window(n, left <= 0); within != code.within { // the worker saw spent late
				fill(workers, n, within, code)
			}
			if left -= code.Count; left <= 0 {
				spent.Store(true)
			}
			take(n, &code.Disassembly)
		}
		taken++
		return true
	})
}

// window returns how many bytes around each PC of a function are disassembled, or symbolize.All for
// the whole function. spent says that wholeInstructions is used up.
func (r *Result) window(n program.FunctionNo, spent bool) int {
	f := &r.Program.Functions[n]
	switch {
	case spent:
		return 0
	case f.Kind == funcinfo.Static || f.Size > wholeBytes:
		return nearBytes
	}
	return symbolize.All
}

// chunks divides functions into lists with about chunkBytes of code each.
func (r *Result) chunks(functions []program.FunctionNo) (chunks [][]program.FunctionNo) {
	first, size := 0, uint64(0)
	for i, n := range functions {
		if size += min(r.Program.Functions[n].Size, chunkBytes); size >= chunkBytes || i == len(functions)-1 {
			chunks = append(chunks, functions[first:i+1])
			first, size = i+1, 0
		}
	}
	return chunks
}
