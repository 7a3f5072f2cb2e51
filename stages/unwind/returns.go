package unwind

import (
	"stackmill/stages/decode"
)

// sigreturns are the functions to which signal handlers return.
var sigreturns = []string{"__restore_rt", "__restore", "__kernel_rt_sigreturn", "__kernel_sigreturn"}

// calls turns the words of a stack into PCs of calls (S21): a return address
// becomes the last byte of the call before it. The leaf's PC is exact, and so
// are the PC where user code entered the kernel, the PC of a signal trampoline,
// which nothing called, and that of the code which a signal interrupted: call frame
// information or the trampoline's name shows it. A chain of frame pointers lacks
// the interrupted code. 0, which a broken chain may hold, returns to nothing, and a
// stack that makecontext made returns to the start of code that did not call it.
func (u *Unwinder) calls(raw *decode.RawStack) []uint64 {
	if !raw.Returns {
		return raw.Words
	}
	u.called = append(u.called[:0], raw.Words...)
	interrupted := false
	exact := raw.Exact
	for i, w := range raw.Words {
		if len(exact) > 0 && int(exact[0]) == i {
			exact, interrupted = exact[1:], false
			continue
		}
		trampoline := u.own[i].traits.has(isTrampoline)
		if w > 0 && i > 0 && i != raw.Kernel && !interrupted && !trampoline && !isMarker(w) && !u.isMade(i) && !u.wasInterrupted(i) {
			u.called[i]--
		}
		interrupted = trampoline && raw.Callers != decode.CallersChained
	}
	return u.called
}

// injected are the functions that Go's signal handlers make the interrupted code call: they
// return to the interrupted instruction.
var injected = []string{"runtime.asyncPreempt", "runtime.sigpanic", "runtime.sigpanic0", "runtime.debugCallV2"}

// wasInterrupted reports whether a word is where code was interrupted that a signal handler
// made call the function above. Before a leaf has its frame, the chain begins with a caller.
func (u *Unwinder) wasInterrupted(i int) bool {
	return i > 0 && u.own[i-1].traits.has(isInjected) && (i-1 > u.raw.Kernel || u.noCallBefore(u.numbers[i], u.raw.Words[i]))
}
