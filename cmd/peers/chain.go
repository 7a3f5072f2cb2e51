package main

import (
	"path/filepath"
	"slices"

	"stackmill/cmd/acceptance/perftext"
)

// unwinder explains stacks in which perf's own unwinder contradicts the machine code.
const unwinder = "unwinder"

// corruptChain explains call chains that perf discards because of a word that is neither an address
// nor a marker.
const corruptChain = "corrupt-chain"

// chain compares the frames that perf shows for a sample with the recorded ones. The first n are
// the same; reason explains why the others differ, "" if nothing does. Only stacks that perf has
// unwound may differ. For that, the machine code must confirm the store's frames (each calls the
// one above it). Besides, perf's next frame must be no caller, or perf's frames must end before the
// root, which the store's reach. wrong is the recorded frame that the machine code does not
// confirm.
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

// passedOver returns those of perf's frames that match none of the recorded words, in order. perf's
// unwinder may have skipped words.
func (c *comparison) passedOver(p []perftext.Frame, words []rawFrame) []perftext.Frame {
	for _, w := range words {
		if len(p) > 0 && c.here(p[0], w) {
			p = p[1:]
		}
	}
	return p
}

// here reports whether perf's frame is a recorded word: by the address in memory, or by the offset
// in the object's file.
func (c *comparison) here(p perftext.Frame, r rawFrame) bool {
	if p.Address == r.word || p.Address == r.word-1 {
		return true
	}
	if r.function.kind == "unknown" {
		return c.inData(p, r.word) || p.Symbol == unknown && samePage(p, r.word) && c.files.object(p.Object) == nil // a file that exists only in memory
	}
	if filepath.Base(p.Object) != filepath.Base(r.object) {
		return false
	}
	return int64(p.Address) == r.offset || int64(p.Address) == r.offset-1
}

// returnsTo checks the recorded words from n on: each must follow a call that may have led to the
// function above. It returns the index of the first that does not. A signal's trampoline,
// interrupted code and the callers of a restored frame need no call. Nor does the outermost frame
// if a runtime made it return to the second byte of a function (Go's goexit). Generated code cannot
// be checked: it passes if its caller does.
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

// calling returns, by recorded word, the function that it is in. For a return address, that is the
// function of the call before it.
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

// trampoline reports whether a word is in the code to which signal handlers return.
func (c *comparison) trampoline(r rawFrame) bool {
	o := c.files.object(r.object)
	return o != nil && (o.returnsFromSignal(r.offset) || o.returnsFromSignal(r.function.offset))
}

// injected reports whether Go's signal handlers insert calls of a function into interrupted code.
func injected(f *function) bool {
	return slices.Contains([]string{"runtime.asyncPreempt", "runtime.asyncPreempt.abi0", "runtime.sigpanic"}, f.name)
}

// afterCall reports whether perf's frame is a return address: the instruction before it is a call.
func (c *comparison) afterCall(p perftext.Frame) bool {
	o := c.files.object(p.Object)
	if o == nil {
		return false
	}
	_, ok := o.call(int64(p.Address) + 1)
	return ok
}

// executing reports whether a sample was taken during exec: the store shows the system call in the
// old program, and perf shows the same address in the new program, where there is no system call
// (S1).
func (c *comparison) executing(p perftext.Frame, s *stack, n int) bool {
	if n == 0 || !s.raw[n-1].kernel() || p.Object == s.raw[n].object {
		return false
	}
	ours, theirs := c.files.object(s.raw[n].object), c.files.object(p.Object)
	return ours != nil && theirs != nil && ours.afterSystemCall(s.raw[n].offset) && !theirs.afterSystemCall(int64(p.Address))
}

// inData reports whether perf's frame is a word that points into the data of a file. The store does
// not show such words as code (S15).
func (c *comparison) inData(p perftext.Frame, word uint64) bool {
	o := c.files.object(p.Object)
	return o != nil && samePage(p, word) && !o.inCode(int64(p.Address)) && !o.inTable(int64(p.Address))
}

// samePage reports whether a word may be perf's address: both have the same offset within a page.
func samePage(p perftext.Frame, word uint64) bool {
	const page = 1<<12 - 1
	return p.Address&page == word&page || p.Address&page == (word-1)&page
}
