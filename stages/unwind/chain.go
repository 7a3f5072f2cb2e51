package unwind

import (
	"slices"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/program"
	"stackmill/stages/symbolize"
)

// threadStartFunctions are the startFunctions that nothing but another one of them calls.
var threadStartFunctions = []string{
	"_start", "__libc_start_main", "__libc_start_main_impl", "__libc_start_call_main",
	"start_thread", "clone", "clone3", "__clone", "__clone3", "__clone_internal", "__thread_start",
	"runtime.goexit", "runtime.goexit.abi0",
}

// lowestCode is the lowest address of code: nothing is mapped in the first page. A chain that
// reaches a linked list of the C library goes round in it and reads zeros.
const lowestCode = 4096

// chainEnds reports whether a word of a chain of frame pointers, and all after it, are no
// callers (S26). Code without frame pointers uses the register for other values, so that the
// chain continues with arbitrary words once it reaches such code: some lie in no load object,
// others in code, but not after a call. The C library's code that runs the main function and
// threads is of this kind.
func (u *Unwinder) chainEnds(i int) bool {
	raw := &u.raw
	if raw.Callers != decode.CallersChained || !raw.Returns || i == 0 || i <= raw.Kernel {
		return false
	}
	word, above := raw.Words[i], raw.Words[i-1]
	if isMarker(word) || isMarker(above) || slices.Contains(raw.Exact, int32(i)) {
		return false
	}
	if word < lowestCode {
		return true
	}
	pc := u.resolved[i]
	if pc.location < 0 || pc.traits.has(isTrampoline) {
		return false
	}
	if i-1 > raw.Kernel && u.resolved[i-1].traits.has(isThreadStart) && !pc.traits.has(isThreadStart) && pc.traits.kind() != staticKind {
		return true
	}
	return !u.wasInterrupted(i) && !pc.traits.has(isThreadStart|isContextCode) && u.noCallBefore(u.numbers[i], word)
}

// mayBeContextCode reports whether a function may be the code at whose start makecontext lets
// a stack return. In a stripped C library, this may be any function without a name. The start
// of another function on a stack is a function pointer that the frame pointer led to.
func (u *Unwinder) mayBeContextCode(f *program.Function) bool {
	if f.Kind == funcinfo.Static {
		return hasAnyPrefix(u.resolver.Program.Objects[f.Object].Name, cLibraryPrefixes)
	}
	return f.Linkage == "__start_context"
}

// noCallBefore reports whether machine code proves that no call ends at a return address.
func (u *Unwinder) noCallBefore(number symbolize.PCNo, word uint64) bool {
	location := u.resolveCallBefore(number, word).location
	state := u.locationEntry(location).returnsTo
	if state == evidenceUnknown {
		state = isCall
		if u.resolver.NoCallEnds(location) {
			state = isNoCall
		}
		u.locationEntry(location).returnsTo = state
	}
	return state == isNoCall
}

// isContextStart reports whether a word is the start of the code to which makecontext lets a
// stack return: no call precedes it.
func (u *Unwinder) isContextStart(i int) bool {
	return u.resolved[i].traits.has(isContextCode) && u.noCallBefore(u.numbers[i], u.raw.Words[i])
}

// callEvidence says whether machine code has a call that ends at a location.
type callEvidence uint8

const (
	evidenceUnknown callEvidence = iota
	isCall                       // or the code is unknown
	isNoCall
)
