package unwind

import (
	"slices"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/program"
	"stackmill/stages/symbolize"
)

// threadStartFunctions are those of the startFunctions that are called only by each other.
var threadStartFunctions = []string{
	"_start", "__libc_start_main", "__libc_start_main_impl", "__libc_start_call_main",
	"start_thread", "clone", "clone3", "__clone", "__clone3", "__clone_internal", "__thread_start",
	"runtime.goexit", "runtime.goexit.abi0",
}

// lowestCode is the lowest address of code: nothing is mapped in the first page. A chain of frame
// pointers that strays into a linked list of the C library goes round in circles and reads zeros.
const lowestCode = 4096

// chainEnds reports whether word i of a stack, which was recorded as a chain of frame pointers, is
// no caller any more (S26). Code without frame pointers, such as the C library's that runs main and
// threads, uses the register for other values. Once a chain reaches such code, it continues with
// arbitrary words: some lie in no load object, others in code, but not after a call.
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

// mayBeContextCode reports whether makecontext may let a stack return to the start of a function.
// In a stripped C library, that may be any function without a name. If a stack has the start of any
// other function, the chain of frame pointers led to a function pointer.
func (u *Unwinder) mayBeContextCode(f *program.Function) bool {
	if f.Kind == funcinfo.Static {
		return hasAnyPrefix(u.resolver.Program.Objects[f.Object].Name, cLibraryPrefixes)
	}
	return f.Linkage == "__start_context"
}

// noCallBefore reports whether machine code proves that word cannot be a return address: no call
// instruction ends just before it.
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

// isContextStart reports whether word i is not a return address, but the start of the code to which
// makecontext lets a stack return: no call instruction ends just before it.
func (u *Unwinder) isContextStart(i int) bool {
	return u.resolved[i].traits.has(isContextCode) && u.noCallBefore(u.numbers[i], u.raw.Words[i])
}

// callEvidence says whether the machine code has a call that ends at a location.
type callEvidence uint8

const (
	evidenceUnknown callEvidence = iota
	isCall                       // or the code is unknown
	isNoCall
)
