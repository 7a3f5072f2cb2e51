package perfdata

import (
	"slices"

	"stackmill/stages/decode"
)

// The bits of branch_sample_type that are used.
const (
	branchAny       = 1 << 3
	branchAnyCall   = 1 << 4
	branchAnyReturn = 1 << 5
	branchCallStack = 1 << 11
	branchTypes     = 1 << 16
	branchHWIndex   = 1 << 17
	branchCounters  = 1 << 19
)

// The types of branches that enter and leave functions; 0 is an unknown type.
const (
	typeUnknown  = 0
	typeCall     = 4
	typeIndCall  = 5
	typeReturn   = 6
	typeCondCall = 9
	typeCondRet  = 10
)

// branch is a branch stack entry (perf-data 6).
type branch struct {
	from, to uint64
	typ      uint8
}

// branchSize is the size of a branch stack entry, in bytes.
const branchSize = 24

// longestCall is the maximum size of a call instruction, in bytes.
const longestCall = 15

// straight is the maximum number of bytes of code between two taken branches.
const straight = 4096

// branches reads a branch stack and returns its entries, newest first.
func (c *cursor) branches(branchType uint64) []byte {
	n := c.U64()
	if n > uint64(len(c.Rest))/branchSize {
		c.Rest, c.Short = nil, true
		return nil
	}
	if branchType&branchHWIndex != 0 {
		c.U64()
	}
	entries := c.Bytes(branchSize * n)
	if branchType&branchCounters != 0 {
		c.Bytes(8 * n)
	}
	return entries
}

// branch reads an entry. A big-endian recording has the bit fields in reverse order, but the bits
// within each field in the usual order.
func (c *cursor) branch() branch {
	b := branch{from: c.U64(), to: c.U64()}
	flags := c.U64()
	if b.typ = uint8(flags >> 20 & 15); c.Big {
		b.typ = uint8(flags >> 40 & 15)
	}
	return b
}

// inUser reports whether a branch leads from user code to user code.
func (b *branch) inUser() bool { return (b.from|b.to)>>63 == 0 }

// usesBranches reports whether the stacks of an event use its branches: as the stack itself, or
// to find calls that have not returned.
func (a *attr) usesBranches() bool {
	const both = branchAnyCall | branchAnyReturn
	return a.branchType&branchCallStack != 0 ||
		a.branchType&branchTypes != 0 && (a.branchType&branchAny != 0 || a.branchType&both == both)
}

// hasBranches reports whether a sample's stack uses its branches.
func (p *recordParser) hasBranches(s *sample) bool {
	return len(s.branches) > 0 && !s.hasDump() && p.events[s.event].usesBranches()
}

// useBranches completes the user part of a stack with the branches that the
// processor recorded.
func (r *stackReader) useBranches(s *sample, raw *decode.RawStack) {
	if !hasUser(raw) {
		return
	}
	a := &r.events[s.event].attr
	taken := 0
	if raw.Kernel == 0 && s.exact && r.endsInLeaf(s) {
		s.branches, taken = s.branches[branchSize:], 1
	}
	if a.branchType&branchCallStack != 0 {
		r.callStack(s, raw, taken)
	} else if len(s.chain) > 0 {
		r.lastCall(s, raw, a.branchType&branchAny != 0)
	}
}

// endsInLeaf reports whether the newest branch is the sample's exact instruction: the processor has
// already taken that branch when the interrupt arrives.
func (p *recordParser) endsInLeaf(s *sample) bool {
	c := cursorOf(s.branches, p.big)
	return c.branch().from == s.ip
}

// callStack replaces the callers of the user PC by the calls in the processor's branch buffer,
// which have not returned (S21). If the buffer was full, outer calls are lost (S18). taken is the
// number of newer entries that were already removed from s.branches.
func (r *stackReader) callStack(s *sample, raw *decode.RawStack, taken int) {
	words, exact := raw.Words[:raw.Kernel+1], r.exact[:0]
	c := cursorOf(s.branches, r.big)
	n := taken
	for len(c.Rest) > 0 {
		b := c.branch()
		if b.from == 0 {
			break // the entries after it are unused
		}
		if n++; b.inUser() {
			exact = append(exact, int32(len(words)))
			words = append(words, b.from)
		}
	}
	if len(exact) == 0 {
		return
	}
	raw.Reason = "" // that reason was the call chain's
	if r.isBranchCapacity(n) {
		words = append(words, decode.MarkTruncated)
		raw.Reason = decode.ReasonBranches
	}
	raw.Words, raw.Exact, r.exact, raw.Callers = words, exact, exact, decode.CallersBranches
}

// isBranchCapacity reports whether n branches fill the processor's branch buffer.
func (p *recordParser) isBranchCapacity(n int) bool {
	if p.branchCapacity > 0 {
		return n == p.branchCapacity
	}
	return n == 16 || n == 32
}

// lastCall inserts the call that entered the leaf if a frame-pointer chain lacks it (S7): a leaf
// without a frame hides its caller (perf-data 12). all says that the branches include jumps.
func (r *stackReader) lastCall(s *sample, raw *decode.RawStack, all bool) {
	from, ok := r.openCall(s, raw.Words[raw.Kernel], all)
	if !ok {
		return
	}
	if next := raw.Kernel + 1; next < len(raw.Words) && returnsTo(from, raw.Words[next]) {
		return
	}
	raw.Exact = append(r.exact[:0], int32(raw.Kernel+2))
	r.exact = raw.Exact
	r.putCaller(raw, decode.MarkCall, from)
}

// openCall returns the newest call that had not returned when user code reached pc. It returns
// false if a return leads to an address that is not right after its call: that return belongs to a
// signal handler or a thread switch.
func (p *recordParser) openCall(s *sample, pc uint64, all bool) (from uint64, ok bool) {
	var returned [64]uint64 // targets of returns whose calls were not read yet, since they are older
	depth, newest := 0, true
	c := cursorOf(s.branches, p.big)
	for len(c.Rest) > 0 {
		b := c.branch()
		if b.typ == typeUnknown || b.from == 0 {
			return 0, false
		}
		if !b.inUser() {
			continue
		}
		// Some processors record branches that are newer than the PC.
		if newest && all && pc-b.to > straight {
			return 0, false
		}
		newest = false
		switch b.typ {
		case typeReturn, typeCondRet:
			if depth == len(returned) {
				return 0, false
			}
			returned[depth] = b.to
			depth++
		case typeCall, typeIndCall, typeCondCall:
			if depth == 0 {
				return b.from, true
			}
			if depth--; !returnsTo(b.from, returned[depth]) {
				return 0, false
			}
		}
	}
	return 0, false
}

// returnsTo reports whether an address can be the return address of a call.
func returnsTo(call, address uint64) bool { return address-call-1 < longestCall }

// hasUser reports whether a stack has a frame of user code.
func hasUser(raw *decode.RawStack) bool {
	return raw.Kernel < len(raw.Words) && raw.Words[raw.Kernel] != decode.MarkTruncated
}

// putCaller inserts a marker and a word after the leaf of the user part.
func (r *stackReader) putCaller(raw *decode.RawStack, mark, word uint64) {
	raw.Words = slices.Insert(raw.Words, raw.Kernel+1, mark, word)
	r.words = raw.Words
}
