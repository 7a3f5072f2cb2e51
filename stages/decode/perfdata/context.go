package perfdata

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
)

// The words in a call chain that say what follows (perf-data 6.2); those of other
// systems are in guest.go. Words from contextMax on are not addresses.
const (
	contextMax          = decode.NoAddress
	contextKernel       = ^uint64(0) - 127
	contextUser         = ^uint64(0) - 511
	contextUserDeferred = ^uint64(0) - 639 // a cookie follows
)

// context is what the words of a call chain are: addresses of the kernel, of user
// code, or of another address space, or something unknown.
type context struct {
	kernel, unknown bool
	space           uint64
}

// contextOf is what follows a marker.
func contextOf(marker uint64) context {
	switch space := contextSpace(marker); {
	case marker == contextKernel:
		return context{kernel: true}
	case marker == contextUser:
		return context{}
	case space != 0:
		return context{space: space}
	}
	return context{unknown: true}
}

// mayMark reports whether a word can be a marker, also one of a later kernel: all are multiples
// of 32. Another one, such as -1, is what the frame pointer led to in code that uses it for
// something else: the kernel records whatever is there, and the chain ends before it.
func mayMark(w uint64) bool { return w%32 == 0 }

// append appends an address to a stack, unless it cannot be one.
func (r *stackReader) append(raw *decode.RawStack, w uint64, in context) {
	if w ^= in.space; w >= contextMax {
		raw.Reason = decode.ReasonAddress
		return
	}
	if in.kernel {
		raw.Kernel++
	}
	raw.Words = append(raw.Words, w)
}

// chain appends the addresses of a sample's call chain to a stack. It returns how
// many were recorded with the sample, and what the last word was. Words after an
// unknown marker may be anything: they are left out, and the stack is incomplete.
func (r *stackReader) chain(s *sample, raw *decode.RawStack, in context) (addresses int, last context) {
	c := cursorOf(s.chain, r.big)
	for len(c.Rest) > 0 {
		w := c.U64()
		switch {
		case w == contextUserDeferred:
			if !r.deferredWords(s, raw, c.U64()) && raw.Reason == "" {
				raw.Reason = decode.ReasonDeferred
			}
			in = context{unknown: true}
		case w >= contextMax && addresses > 0 && in == (context{}) && !mayMark(w):
			in = context{unknown: true}
		case w >= contextMax:
			in = r.context(w, raw)
		case !in.unknown:
			addresses++
			r.append(raw, w, in)
		}
	}
	return addresses, in
}

// context is contextOf for the words of a stack.
func (r *stackReader) context(marker uint64, raw *decode.RawStack) context {
	in := contextOf(marker)
	if in.unknown {
		if !r.unknownContexts[marker] {
			r.unknownContexts[marker] = true
		}
		raw.Reason = decode.ReasonContext
	}
	r.spaces |= in.space
	return in
}

// deferredWords appends the user chain that a cookie stands for; false if it was
// not recorded or is empty.
func (r *stackReader) deferredWords(s *sample, raw *decode.RawStack, cookie uint64) bool {
	var in context // the kernel need not say that it is user code
	n := len(raw.Words)
	c := cursorOf(r.deferredChain(cookie, s), r.big)
	if len(c.Rest)/8 >= deferredLimit && raw.Reason == "" {
		raw.Reason = decode.ReasonChainLimit
	}
	for len(c.Rest) > 0 {
		if w := c.U64(); w >= contextMax {
			in = r.context(w, raw)
		} else if !in.unknown {
			r.append(raw, w, in)
		}
	}
	return len(raw.Words) > n
}

// judgeChains records which parts of the samples' call chains were not used.
func (r *reader) judgeChains() {
	var markers []string
	for _, m := range slices.Sorted(maps.Keys(r.unknownContexts)) {
		markers = append(markers, fmt.Sprint(int64(m)))
	}
	r.count(diagnostic.Warning, r.cutChains, "unknown-context", "samples have call chains with unknown markers ("+strings.Join(markers, ", ")+"); the words after those are left out")
	r.count(diagnostic.Error, r.badAddresses, "bad-address", "samples have invalid addresses, which are left out: such values are markers in call chains")
	r.judgeDeferred()
}

// countReason counts a sample by why its stack is incomplete.
func (r *reader) countReason(reason string) {
	switch reason {
	case decode.ReasonDeferred:
		r.missingDeferred++
	case decode.ReasonContext:
		r.cutChains++
	case decode.ReasonAddress:
		r.badAddresses++
	}
}
