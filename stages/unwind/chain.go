package unwind

import (
	"slices"
	"strings"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
	"stackmill/stages/symbolize"
)

// firstFunctions are those of starts that only others of them call.
var firstFunctions = []string{
	"_start", "__libc_start_main", "__libc_start_main_impl", "__libc_start_call_main",
	"start_thread", "clone", "clone3", "__clone", "__clone3", "__clone_internal", "__thread_start",
	"runtime.goexit", "runtime.goexit.abi0",
}

// lowestCode is the lowest address of code: nothing is mapped in the first page. A chain that
// reaches a list of the C library's goes round in it and reads zeros.
const lowestCode = 4096

// chainEnds reports whether a word of a chain of frame pointers, which is a caller, and all
// after it are none (S26). Code without frame pointers uses the register for anything else, so
// that a chain that reaches it goes on with any words: some are in no load object, others in
// its code, where nothing is called. The C library that runs the main function and
// threads is such code.
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
	meant := u.own[i]
	if meant.location < 0 || meant.traits.has(isTrampoline) {
		return false
	}
	if i-1 > raw.Kernel && u.own[i-1].traits.has(isFirst) && !meant.traits.has(isFirst) && meant.traits.kind() != staticKind {
		return true
	}
	return !u.wasInterrupted(i) && !u.followsCall(u.numbers[i], word, meant)
}

// followsCall reports whether a call ends at a return address, as far as is known.
func (u *Unwinder) followsCall(number symbolize.PCNo, word uint64, meant spot) bool {
	return meant.traits.has(isFirst|isContext) || !u.noCallBefore(number, word)
}

// isContextCode reports whether a function may be the code to which makecontext lets a stack
// return, at its start. In a stripped C library it may be any without a name. Other functions'
// starts are pointers to functions, to which the frame pointer led.
func (u *Unwinder) isContextCode(f *program.Function) bool {
	if f.Kind == funcinfo.Static {
		return hasAny(u.resolver.Program.Objects[f.Object].Name, cLibraries)
	}
	return f.Linkage == "__start_context"
}

// noCallBefore reports whether it is known that no call ends at a return address.
func (u *Unwinder) noCallBefore(number symbolize.PCNo, word uint64) bool {
	location := u.callBefore(number, word).location
	state := u.located(location).call
	if state == unasked {
		state = isCall
		if u.resolver.NoCallEnds(location) {
			state = isNoCall
		}
		u.located(location).call = state
	}
	return state == isNoCall
}

// isMade reports whether a word is the code to which makecontext lets a stack return: nothing
// called it.
func (u *Unwinder) isMade(i int) bool {
	return u.own[i].traits.has(isContext) && u.noCallBefore(u.numbers[i], u.raw.Words[i])
}

// callState is whether a call ends at a location.
type callState uint8

const (
	unasked callState = iota
	isCall            // as far as is known
	isNoCall
)

// isFirstFunction reports whether a function is one with which threads begin, and that only
// others like it call.
func isFirstFunction(f *program.Function) bool {
	return slices.ContainsFunc(symtab.Split(f.Aliases), func(alias string) bool {
		name, _, _ := strings.Cut(alias, ".isra")
		return slices.Contains(firstFunctions, name)
	})
}
