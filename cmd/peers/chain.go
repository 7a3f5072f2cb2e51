package main

import (
	"path/filepath"
	"slices"

	"stackmill/cmd/acceptance/perftext"
)

// unwinder is the explanation of stacks that perf's own unwinder did not follow
// to where the machine code says they go on.
const unwinder = "unwinder"

// corruptChain explains chains that perf does not show at all, since one of their words is
// neither an address nor a marker.
const corruptChain = "corrupt-chain"

// chain pairs the frames that perf shows of a sample with the recorded ones: the first n match.
// reason explains the others. Only unwound stacks may differ, and only if the machine
// code confirms the store's frames: each calls the next, while perf's next frame is no caller,
// or perf's frames do not lead to the root as the store's do. wrong is the recorded frame that
// the machine code does not confirm.
func (c *comparison) chain(p []perftext.Frame, s *stack) (n int, reason string, wrong int) {
	for n < len(p) && n < len(s.raw) && (c.here(p[n], s.raw[n]) || c.executing(p[n], s, n)) {
		n++
	}
	if n == len(p) && n == len(s.raw) || !c.unwound || n == 0 {
		return n, "", n
	}
	if wrong = c.returnsTo(s, n); wrong < len(s.raw) {
		return n, "", wrong
	}
	rest := c.passedOver(p[n:], s.raw[n:])
	if whole := s.reason == "" && len(s.raw) > n; len(rest) > 0 && c.afterCall(rest[0]) && !whole {
		return n, "", n
	}
	return n, unwinder, n
}

// passedOver returns the frames that perf shows beyond those it shares with the
// recorded words, in order: its unwinder passed over the words between.
func (c *comparison) passedOver(p []perftext.Frame, words []rawFrame) []perftext.Frame {
	for _, w := range words {
		if len(p) > 0 && c.here(p[0], w) {
			p = p[1:]
		}
	}
	return p
}

// here reports whether perf means a recorded word: by its address in memory, or by
// that in the object's file.
func (c *comparison) here(p perftext.Frame, r rawFrame) bool {
	if p.Address == r.word || p.Address == r.word-1 {
		return true
	}
	if r.function.kind == "unknown" {
		return c.inData(p, r.word) || p.Symbol == unknown && samePage(p, r.word) && c.files.object(p.Object) == nil // as of memory files
	}
	if filepath.Base(p.Object) != filepath.Base(r.object) {
		return false
	}
	return int64(p.Address) == r.offset || int64(p.Address) == r.offset-1
}

// returnsTo checks that recorded word n, and all below it, stand after calls that may
// have led to the function above them, and returns the first that does not. A
// signal's trampoline and interrupted code need no call, nor do callers below one that was put back in, nor does the outermost
// frame if a runtime has put it there, to return to the second byte of a function
// (Go's goexit). Code made at run time cannot be checked: it counts if what called
// it can.
func (c *comparison) returnsTo(s *stack, n int) int {
	unchecked, restored, functions := len(s.raw), c.restored(s), calling(s)
	for ; n < len(s.raw); n++ {
		callee, caller := s.raw[n-1], s.raw[n]
		if restored[n] || callee.kernel() || c.trampoline(callee) || c.trampoline(caller) || injected(callee.function) || n == len(s.raw)-1 && caller.offset == caller.function.offset+1 {
			continue
		}
		o := c.files.object(caller.object)
		if o == nil {
			unchecked = min(unchecked, n)
			continue
		}
		target, ok := o.call(caller.offset)
		if ok && callee.object == caller.object {
			ok = o.reaches(target, functions[n-1].offset, functions[n-1].end)
		} else if ok {
			ok = target == -1 || o.reaches(target, -1, -1)
		}
		if !ok {
			return n
		}
		unchecked = len(s.raw)
	}
	return unchecked
}

// calling are the functions of the recorded words, by their calls where they are
// return addresses.
func calling(s *stack) []*function {
	list := make([]*function, len(s.raw))
	for i, f := range s.raw {
		list[i] = f.function
	}
	frames, _ := follow(s)
	for m, f := range frames {
		if f.raw >= 0 {
			list[f.raw] = s.machine[m].function
		}
	}
	return list
}

// trampoline reports whether a word is in the code to which a signal's handler returns.
func (c *comparison) trampoline(r rawFrame) bool {
	o := c.files.object(r.object)
	return o != nil && (o.returnsFromSignal(r.offset) || o.returnsFromSignal(r.function.offset))
}

// injected reports whether Go's signal handlers make interrupted code call a function.
func injected(f *function) bool {
	return slices.Contains([]string{"runtime.asyncPreempt", "runtime.asyncPreempt.abi0", "runtime.sigpanic"}, f.name)
}

// afterCall reports whether perf's frame stands after a call.
func (c *comparison) afterCall(p perftext.Frame) bool {
	o := c.files.object(p.Object)
	if o == nil {
		return false
	}
	_, ok := o.call(int64(p.Address) + 1)
	return ok
}

// executing reports whether a sample was taken while a program was executed: the store
// has the old program's system call, and perf finds none at the same address in the
// new one (S1).
func (c *comparison) executing(p perftext.Frame, s *stack, n int) bool {
	if n == 0 || !s.raw[n-1].kernel() || p.Object == s.raw[n].object {
		return false
	}
	ours, theirs := c.files.object(s.raw[n].object), c.files.object(p.Object)
	return ours != nil && theirs != nil && ours.afterSystemCall(s.raw[n].offset) && !theirs.afterSystemCall(int64(p.Address))
}

// inData reports whether perf means a word by a place in a file's data: the store says
// of these, too, that they are no code (S15).
func (c *comparison) inData(p perftext.Frame, word uint64) bool {
	o := c.files.object(p.Object)
	return o != nil && samePage(p, word) && !o.inCode(int64(p.Address)) && !o.inTable(int64(p.Address))
}

// samePage reports whether a word may be perf's address: they have the same place in
// their page.
func samePage(p perftext.Frame, word uint64) bool {
	const page = 1<<12 - 1
	return p.Address&page == word&page || p.Address&page == (word-1)&page
}
