package unwind

import (
	"slices"

	"stackmill/stages/decode"
	"stackmill/stages/symbolize"
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
		if w > 0 && i > 0 && i != raw.Kernel && !interrupted && !trampoline && !isMarker(w) && !u.isMade(i) {
			u.called[i]--
		}
		interrupted = trampoline && raw.Callers != decode.CallersChained
	}
	return u.called
}

// beginsTrampoline reports whether a signal trampoline begins at a location of a
// function.
func beginsTrampoline(l *symbolize.Location, f *symbolize.Function) bool {
	return l.Offset == f.Offset && slices.Contains(sigreturns, f.Linkage)
}
