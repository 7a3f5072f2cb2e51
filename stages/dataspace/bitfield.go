package dataspace

import (
	"slices"

	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/insn/disasm"
	"stackmill/stages/loadobject/types"
)

// Bounds of the analysis that finds which bits of memory are accessed: instructions before and
// after an access, paths that lead to it, and bits of the access.
const (
	maxBitsBefore = 64
	maxBitsBehind = 400
	maxBitWays    = 8
	maxBits       = 64 // of an access
)

// usedBits returns the bits that the program uses of a load, or changes by a store; 0 means all or
// unknown bits. ok is false if the program uses no bits, or only writes them back unchanged.
func (f *function) usedBits(n int) (bits uint64, ok bool) {
	x := &f.code[n]
	a := &x.Accesses[0]
	if _, ok := f.bits(n); !ok || len(x.Accesses) != 1 || a.Implicit || a.Repeated || a.Size > maxBits/8 {
		return 0, true
	}
	unknownUse, writesBack, dropped := false, false, false
	for _, way := range f.waysTo(n) {
		w := &bitFlow{f: f, n: n, access: a, load: a.Load, left: maxBitsBehind, seen: map[visit]bool{}}
		if a.Load {
			w.trackLoad(way)
		} else {
			w.trackStore(way)
		}
		bits |= w.used | w.changed
		unknownUse, writesBack, dropped = unknownUse || w.unknownUse, writesBack || w.writesBack, dropped || w.tracked && !w.merges
	}
	all := ^uint64(0) >> (64 - 8*a.Size)
	if bits &= all; bits == all && unknownUse {
		return 0, !writesBack
	}
	return bits, bits != 0 || !writesBack && !dropped
}

// invariantBits returns the content of register r if only one instruction writes it and always runs
// before instruction `before`: compilers move masks out of loops.
func (f *function) invariantBits(r int, before int) *bitVector {
	if f.writers == nil {
		f.writers = f.findWriters()
	}
	i := int(f.writers[r])
	if i < 0 || !f.dominates(i, before) {
		return nil
	}
	b, ok := f.bits(i)
	if !ok || b.Width < 4 || b.To.Kind != insn.BitRegister || b.To.High {
		return nil
	}
	known := func(o insn.BitOperand) *bitVector {
		switch o.Kind {
		case insn.BitNothing:
			return zeroBits()
		case insn.BitConst:
			return constantBits(o.Value)
		}
		return nil
	}
	return calculate(&b, known(b.From), known(b.With), nil)
}

// findWriters returns, for each register, the instruction that writes it, or -1 if none or several
// do.
func (f *function) findWriters() *[registers]int32 {
	var only [registers]int32
	seen := uint64(0)
	for r := range only {
		only[r] = -1
	}
	for i := range f.code {
		written := f.code[i].Written
		if f.code[i].Kind == insn.Call {
			written |= f.object.clobbered()
		}
		for r := range only {
			switch {
			case written>>r&1 == 0:
			case seen>>r&1 != 0:
				only[r] = -1
			default:
				only[r] = int32(i)
			}
		}
		seen |= written
	}
	return &only
}

// dominates reports whether instruction i is on every path from the function's entry to n.
func (f *function) dominates(i, n int) bool {
	at, to := f.blockOf(i), f.blockOf(n)
	if at == to {
		return i < n
	}
	seen := make([]bool, len(f.blocks))
	seen[at], seen[0] = true, true
	left := []int{0}
	for at != 0 && len(left) > 0 {
		b := left[len(left)-1]
		left = left[:len(left)-1]
		for _, next := range f.blocks[b].after {
			if next == to {
				return false
			}
			if !seen[next] {
				seen[next] = true
				left = append(left, next)
			}
		}
	}
	return to != 0
}

// loadsAll reports whether an integer load needs all its bytes, judging by how the program uses
// them. Compilers load a whole aligned word for one byte, and half a word for some bits of a word.
func (f *function) loadsAll(n int, a *insn.Access) bool {
	if a.Size < types.AnyLoad {
		return false
	}
	bits, ok := f.usedBits(n)
	return ok && (bits == 0 || bits == insn.Ones(8*a.Size))
}

// bits returns how an instruction computes the bits of its result.
func (f *function) bits(i int) (insn.Bits, bool) {
	x := &f.code[i]
	if !x.valid {
		return insn.Bits{}, false
	}
	return disasm.Bits(f.object.symbols.Arch, f.raw[x.address-f.address:])
}

// trackStore finds the bits that a store changes, from the instructions on a path to it. It follows
// the path twice: the first pass finds the address of the store.
func (w *bitFlow) trackStore(way []int) {
	for range 2 {
		s := w.initialState(way)
		w.used, w.changed, w.fresh, w.atAccess, w.writesBack = 0, 0, 0, false, false
		for _, i := range way {
			w.step(s, i)
		}
		w.atAccess = true
		w.step(s, w.n)
	}
	w.used = 0
}

// initialState returns the state at the start of a path: the constants that registers hold, such as
// masks loaded before a loop.
func (w *bitFlow) initialState(way []int) *bitState {
	s := newBitState()
	first := w.n
	if len(way) > 0 {
		first = way[0]
	}
	for r, v := range w.f.stateBefore(first).registers {
		if v.kind == valueNumber && v.step == 0 && v.offset >= 0 { // the width of negative ones is unknown
			s.registers[r] = constantBits(uint64(v.offset))
		} else {
			s.registers[r] = w.f.invariantBits(r, first)
		}
	}
	return s
}

// trackLoad finds the bits of a load that the program uses, and those that a later store changes
// while it writes the others back.
func (w *bitFlow) trackLoad(way []int) {
	s := w.initialState(way)
	for _, i := range way {
		w.step(s, i)
	}
	w.atAccess = true
	w.follow(s, w.n)
}

// follow applies instructions from the i-th on, until no register or flag depends on the tracked
// access any more.
func (w *bitFlow) follow(s *bitState, i int) {
	f := w.f
	for ; i < len(f.code) && w.left > 0; i++ {
		w.left--
		w.step(s, i)
		w.tracked = w.tracked || i == w.n && s.isLive()
		x := &f.code[i]
		to, inside := 0, false
		if x.HasTarget && x.Kind != insn.Call {
			to, inside = f.at(x.Target)
		}
		switch {
		case x.Kind == insn.Trap, !s.isLive() && (w.used|w.changed != 0 || x.Kind != insn.Other && x.Kind != insn.Nop):
			return
		case !s.isLive(): // nothing was used yet, but a later instruction may store to the memory
		case x.Kind == insn.Return:
			w.useResult(s, i)
			return
		case x.Kind == insn.Jump && !inside:
			w.leaveFunction(s, x)
			return
		case x.Kind == insn.CondJump && !inside:
			w.leaveFunction(s, x)
		case x.Kind == insn.CondJump && w.isNewVisit(s, to):
			w.follow(s.clone(), to)
		case x.Kind == insn.Jump && !w.isNewVisit(s, to):
			return
		case x.Kind == insn.Jump:
			i = to - 1
		}
	}
	w.useAll(s)
}

// isNewVisit reports whether a jump leads to an instruction for the first time, or for the first
// time with these registers and flags depending on the tracked access.
func (w *bitFlow) isNewVisit(s *bitState, to int) bool {
	k := visit{instruction: to, flags: s.flags | s.carry}
	for r, b := range &s.registers {
		k.from[r] = b.dependencies()
	}
	if w.seen[k] {
		return false
	}
	w.seen[k] = true
	return true
}

// leaveFunction handles a jump out of the function: a tail call, or a jump to another part of its
// code.
func (w *bitFlow) leaveFunction(s *bitState, x *instruction) {
	t := w.f.types
	if n := t.Function(x.Target); x.HasTarget && n != 0 && t.startsAt(n, x.Target) {
		w.useMask(s, w.f.object.arguments())
		return
	}
	w.useAll(s)
}

// waysTo returns the paths that lead to an instruction, each as a list of instructions, within the
// bounds above.
func (f *function) waysTo(n int) (ways [][]int) {
	type start struct {
		block int
		way   []int // instructions from the target back to the block's start
	}
	first := f.blockOf(n)
	var begun []int
	for i := n - 1; i >= f.blocks[first].first; i-- {
		begun = append(begun, i)
	}
	left := []start{{first, begun}}
	for len(left) > 0 {
		s := left[len(left)-1]
		left = left[:len(left)-1]
		before := f.blocks[s.block].before
		if len(s.way) >= maxBitsBefore || len(before) == 0 || len(left)+len(ways)+len(before) > maxBitWays {
			s.way = s.way[:min(len(s.way), maxBitsBefore)]
			slices.Reverse(s.way)
			ways = append(ways, s.way)
			continue
		}
		for _, b := range before {
			way := slices.Clone(s.way)
			for i := f.blocks[b].end - 1; i >= f.blocks[b].first; i-- {
				way = append(way, i)
			}
			left = append(left, start{b, way})
		}
	}
	return ways
}
