package perfdata

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
)

// The context markers of call chains, which say where the following words are from (perf-data
// 6.2); kernel.go has the markers of other systems. Words from contextMax on are not addresses.
const (
	contextMax          = decode.NoAddress
	contextKernel       = ^uint64(0) - 127
	contextUser         = ^uint64(0) - 511
	contextUserDeferred = ^uint64(0) - 639 // a cookie follows
)

// chainContext is where words of a call chain are from: the kernel, user code, another address
// space, or unknown.
type chainContext struct {
	kernel, unknown bool
	space           uint64
}

// contextOf returns the context after a marker.
func contextOf(marker uint64) chainContext {
	switch space := contextSpace(marker); {
	case marker == contextKernel:
		return chainContext{kernel: true}
	case marker == contextUser:
		return chainContext{}
	case space != 0:
		return chainContext{space: space}
	}
	return chainContext{unknown: true}
}

// mayMark reports whether a word may be a context marker, including those of later kernels: all are
// multiples of 32. Other words above contextMax, such as -1, come from code that uses the frame
// pointer register for something else: the kernel records the register's content, and the chain
// ends before it.
func mayMark(w uint64) bool { return w%32 == 0 }

// append appends an address to a stack. It omits a word that cannot be an address.
func (r *stackReader) append(raw *decode.RawStack, w uint64, in chainContext) {
	if w ^= in.space; w >= contextMax {
		raw.Reason = decode.ReasonAddress
		return
	}
	if in.kernel {
		raw.Kernel++
	}
	raw.Words = append(raw.Words, w)
}

// chain appends the addresses of a sample's call chain to a stack. It returns the number of
// addresses in the chain, and the context at its end. It omits the words after an unknown marker,
// since they may be anything; the stack is then incomplete.
func (r *stackReader) chain(s *sample, raw *decode.RawStack, in chainContext) (addresses int, last chainContext) {
	c := cursorOf(s.chain, r.big)
	for len(c.Rest) > 0 {
		w := c.U64()
		switch {
		case w == contextUserDeferred:
			if !r.deferredWords(s, raw, c.U64()) && raw.Reason == "" {
				raw.Reason = decode.ReasonDeferred
			}
			in = chainContext{unknown: true}
		case w >= contextMax && addresses > 0 && in == (chainContext{}) && !mayMark(w):
			in = chainContext{unknown: true}
		case w >= contextMax:
			in = r.markedContext(w, raw)
		case !in.unknown:
			addresses++
			r.append(raw, w, in)
		}
	}
	return addresses, in
}

// markedContext returns the context after a marker, and notes unknown markers and foreign address
// spaces.
func (r *stackReader) markedContext(marker uint64, raw *decode.RawStack) chainContext {
	in := contextOf(marker)
	if in.unknown {
		if !r.unused.contexts[marker] {
			r.unused.contexts[marker] = true
		}
		raw.Reason = decode.ReasonContext
	}
	r.spaces |= in.space
	return in
}

// deferredWords appends the user chain that a cookie refers to; false if it is missing or empty.
func (r *stackReader) deferredWords(s *sample, raw *decode.RawStack, cookie uint64) bool {
	var in chainContext // words without a marker are user code
	n := len(raw.Words)
	c := cursorOf(r.findDeferred(cookie, s), r.big)
	if len(c.Rest)/8 >= deferredLimit && raw.Reason == "" {
		raw.Reason = decode.ReasonChainLimit
	}
	for len(c.Rest) > 0 {
		if w := c.U64(); w >= contextMax {
			in = r.markedContext(w, raw)
		} else if !in.unknown {
			r.append(raw, w, in)
		}
	}
	return len(raw.Words) > n
}

// judgeChains reports the words of call chains that were not used.
func (r *reader) judgeChains() {
	var markers []string
	for _, m := range slices.Sorted(maps.Keys(r.unused.contexts)) {
		markers = append(markers, fmt.Sprint(int64(m)))
	}
	r.count(diagnostic.Warning, r.stats.incomplete[decode.ReasonContext], "unknown-context", "samples have call chains with unknown markers ("+strings.Join(markers, ", ")+"); the words after those are left out")
	r.count(diagnostic.Error, r.stats.incomplete[decode.ReasonAddress], "bad-address", "samples have invalid addresses, which are left out: such values are markers in call chains")
	r.judgeDeferred()
}
