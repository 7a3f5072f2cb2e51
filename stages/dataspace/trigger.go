package dataspace

import (
	"slices"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/insn"
)

// maxBack bounds how many instructions before the recorded PC are searched for the one that caused
// the event.
const maxBack = 32

// trigger finds the instruction that caused an event (S27): the instruction at the recorded PC, the
// one before it, or the nearest earlier one that accesses memory. candidate is the address that the
// profiler recorded for it, -1 if none. why is the reason if none is found.
func (f *function) trigger(pc uint64, how decode.Trigger, candidate int64) (n int, why Reason, ok bool) {
	n, at := f.at(pc)
	if !at {
		if how == decode.TriggerSkid {
			return 0, NoBranchTarget, false
		}
		return 0, NoMemoryReference, false
	}
	switch how {
	case decode.TriggerBehind:
		return f.precedingTrigger(n)
	case decode.TriggerSkid:
		if candidate >= 0 {
			return f.checkCandidate(n, uint64(candidate))
		}
		return f.searchBack(n)
	}
	return n, 0, true
}

// precedingTrigger returns the instruction before the n-th. It returns the n-th itself if that is a
// repeated instruction, which may be interrupted between repetitions.
func (f *function) precedingTrigger(n int) (int, Reason, bool) {
	if n > 0 && f.code[n-1].accessesMemory() && !endsBlock(f.code[n-1].Kind) {
		return n - 1, 0, true
	}
	if f.code[n].isRepeated() {
		return n, 0, true
	}
	switch {
	case n == 0:
		return 0, PreventedByJump, false // the instruction before was not executed last
	case f.targets[f.code[n].address]:
		return 0, CrossedBranchTarget, false
	case endsBlock(f.code[n-1].Kind) || f.code[n-1].Kind == insn.Call:
		return 0, PreventedByJump, false
	}
	return n - 1, 0, true
}

// accessesMemory reports whether an instruction has an explicit operand in memory.
func (x *instruction) accessesMemory() bool {
	return slices.ContainsFunc(x.Accesses, func(a insn.Access) bool { return !a.Implicit })
}

// isRepeated reports whether x is a string instruction with a repeat prefix.
func (x *instruction) isRepeated() bool {
	return slices.ContainsFunc(x.Accesses, func(a insn.Access) bool { return a.Repeated })
}

// checkCandidate returns the recorded trigger, unless a jump leads to one of the instructions after
// it, up to the recorded PC.
func (f *function) checkCandidate(n int, pc uint64) (int, Reason, bool) {
	c, ok := f.at(pc)
	if !ok || c > n {
		return 0, NoBranchTarget, false
	}
	for i := c + 1; i <= n; i++ {
		if f.targets[f.code[i].address] {
			return 0, CrossedBranchTarget, false
		}
	}
	return c, 0, true
}

// searchBack searches backwards from the recorded PC for an instruction that accesses memory. It
// stops where control may have come from elsewhere.
func (f *function) searchBack(n int) (int, Reason, bool) {
	for i := n; i > 0 && n-i < maxBack; i-- {
		if f.targets[f.code[i].address] {
			return 0, CrossedBranchTarget, false
		}
		x := &f.code[i-1]
		switch {
		case !x.valid:
			return 0, NoBranchTarget, false
		case endsBlock(x.Kind) || x.Kind == insn.Call || x.Kind == insn.Syscall:
			return 0, PreventedByJump, false
		case x.accessesMemory():
			return i - 1, 0, true
		}
	}
	return 0, NoTrigger, false
}
