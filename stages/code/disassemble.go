package code

import (
	"runtime"
	"sync/atomic"

	"stackmill/internal/ordered"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/program"
	"stackmill/stages/symbolize"
)

// Disassembling is slow compared to everything else, so it is bounded: functions come
// in the order of their values, and after wholeInstructions the others get only those
// on stacks.
const (
	wholeInstructions = 25_000
	// Longer functions are interpreters and tables; a static region may be a whole
	// stripped library (S6). In both only what is near a PC matters.
	wholeBytes = 64 << 10
	nearBytes  = 64
	// partBytes is how much code is disassembled by one goroutine until others may go on.
	partBytes = 16 << 10
	// maxDisassemblers bounds the memory that they take: some MiB each.
	maxDisassemblers = 8
)

// disassembled is the part of a function that was asked for, with its instructions only if
// no earlier experiment of the batch has them.
type disassembled struct {
	within int
	symbolize.Disassembly
	memory []symbolize.Instruction
}

// disassemble calls take for functions in their order, of which parts are disassembled side
// by side. What it is given is valid until it returns.
func (r *Result) disassemble(functions []program.FunctionNo, pcs [][]uint64, take func(n program.FunctionNo, code *symbolize.Disassembly)) {
	workers := min(runtime.GOMAXPROCS(0), maxDisassemblers)
	parts := r.parts(functions)
	disassemblers := make([]*symbolize.Disassembler, workers+1) // the last one is take's
	defer func() {
		for _, d := range disassemblers {
			if d != nil {
				d.Close()
			}
		}
	}()
	fill := func(worker int, n program.FunctionNo, within int, to *disassembled) {
		d := disassemblers[worker]
		if d == nil {
			d = r.Disassembler()
			disassemblers[worker] = d
		}
		to.within = within
		var known bool
		if to.Disassembly, known = d.Known(n, pcs[n], within); known && (to.Count == 0 || r.Lists.Earlier(to.Content)) {
			return
		}
		to.Disassembly = d.Function(to.memory, n, pcs[n], within)
		to.memory = to.Instructions
	}
	left := wholeInstructions
	var spent atomic.Bool // nothing is left: whoever is ahead may not know it yet
	taken := 0            // parts
	ordered.Map(workers, len(parts), func(worker, number int, to *[]disassembled) {
		list := parts[number]
		if more := len(list) - len(*to); more > 0 {
			*to = append(*to, make([]disassembled, more)...)
		}
		for i, n := range list {
			fill(worker, n, r.within(n, spent.Load()), &(*to)[i])
		}
	}, func(from *[]disassembled) bool {
		for i, n := range parts[taken] {
			code := &(*from)[i]
			if within := r.within(n, left <= 0); within != code.within {
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

// within returns how near to PCs instructions of a function are asked for, when that is
// all that is wanted of most functions, or not yet.
func (r *Result) within(n program.FunctionNo, spent bool) int {
	f := &r.Program.Functions[n]
	switch {
	case spent:
		return 0
	case f.Kind == funcinfo.Static || f.Size > wholeBytes:
		return nearBytes
	}
	return symbolize.All
}

// parts divides a list of functions into those that are disassembled at a time.
func (r *Result) parts(functions []program.FunctionNo) (parts [][]program.FunctionNo) {
	first, size := 0, uint64(0)
	for i, n := range functions {
		if size += min(r.Program.Functions[n].Size, partBytes); size >= partBytes || i == len(functions)-1 {
			parts = append(parts, functions[first:i+1])
			first, size = i+1, 0
		}
	}
	return parts
}
