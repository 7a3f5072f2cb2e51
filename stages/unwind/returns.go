package unwind

import "stackmill/stages/decode"

// sigreturns are the signal trampolines: the functions to which signal handlers return.
var sigreturns = []string{"__restore_rt", "__restore", "__kernel_rt_sigreturn", "__kernel_sigreturn"}

// callPCs turns the words of a stack into PCs of calls (S21): a return address becomes the last
// byte of the call before it. It keeps words that are not return addresses: the leaf's PC; the PC
// where user code entered the kernel; the PC of a signal trampoline; the PC that a signal
// interrupted (known from call frame information or the trampoline's name; missing in a chain of
// frame pointers); 0 from a broken chain; and the start of the code to which makecontext lets a
// stack return.
func (u *Unwinder) callPCs(raw *decode.RawStack) []uint64 {
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
		trampoline := u.resolved[i].traits.has(isTrampoline)
		if w > 0 && i > 0 && i != raw.Kernel && !interrupted && !trampoline && !isMarker(w) && !u.isContextStart(i) && !u.wasInterrupted(i) {
			u.called[i]--
		}
		interrupted = trampoline && raw.Callers != decode.CallersChained
	}
	return u.called
}

// injectedFunctions are the functions that Go's signal handlers make interrupted code call. They
// return to the interrupted instruction.
var injectedFunctions = []string{"runtime.asyncPreempt", "runtime.sigpanic", "runtime.sigpanic0", "runtime.debugCallV2"}

// wasInterrupted reports whether word i is not a return address, but the interrupted instruction
// where a signal handler injected the call of its callee. If the callee is the leaf and has no
// frame yet, the chain of frame pointers skips that instruction, so machine code must show that no
// call ends before the word.
func (u *Unwinder) wasInterrupted(i int) bool {
	return i > 0 && u.resolved[i-1].traits.has(isInjectedCall) && (i-1 > u.raw.Kernel || u.noCallBefore(u.numbers[i], u.raw.Words[i]))
}
