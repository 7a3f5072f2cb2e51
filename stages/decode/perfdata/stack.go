package perfdata

import (
	"fmt"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/isa"
)

// chainLimit is how many addresses the kernel records unless told otherwise
// (kernel.perf_event_max_stack).
const chainLimit = 127

// userIP is the number of the instruction pointer in the register masks of x86.
const userIP = 8

// stackReader reads records again, one after the other. Several may be used at the same
// time once all samples were read: they note nothing new then.
type stackReader struct {
	*reader
	raw     decode.RawStack // the stack that is read
	touched int             // bytes read since the files' pages were given back
	words   []uint64        // its memory
	exact   []int32         // likewise
	spaces  uint64          // bits of the foreign address spaces that stacks led through
}

func (r *stackReader) body(at place) (misc uint16, body []byte) {
	b := r.pieces[at>>pieceShift].data[at.offset():]
	c := cursorOf(b, r.big)
	c.U32()
	misc = c.U16()
	size := int(c.U16())
	if r.touch(size, &r.touched) {
		r.release()
	}
	return misc, b[recordHeader:size]
}

// stack makes a raw stack of a sample's call chain, valid until the next call. Without
// a chain it is the sampled address alone. If the sample has registers, the user part is
// only the place where it entered the kernel; a dump of the user's stack is unwound
// later.
func (r *stackReader) stack(s *sample, misc uint16) *decode.RawStack {
	raw := &r.raw
	*raw = decode.RawStack{OMPState: -1, Returns: true, Words: r.words[:0]}
	in := context{kernel: misc&miscMode == miscKernel, space: spaceOf(misc)}
	r.spaces |= in.space
	addresses, last := r.chain(s, raw, in)
	switch {
	case s.hasDump():
		raw.Callers = decode.CallersUnwound
	case r.events[s.event].sampleType&sampleCallchain != 0:
		raw.Callers = decode.CallersChained
	default:
		raw.Callers = decode.CallersNone
	}
	r.setLeaf(s, raw, in)
	if s.regs != nil || s.stack != nil {
		r.userEntry(s, raw)
	}
	if e := r.events[s.event]; raw.Reason == "" && addresses >= int(e.maxStack) && e.sampleType&sampleStackUser == 0 {
		raw.Reason = decode.ReasonChainLimit
	}
	if raw.Reason != "" {
		raw.Words = append(raw.Words, decode.MarkTruncated)
	}
	r.words = raw.Words
	if r.hasBranches(s) && last.space == 0 {
		r.useBranches(s, raw)
		r.words = raw.Words
	}
	return raw
}

// userEntry adds the user's program counter to a stack of kernel frames only.
func (r *stackReader) userEntry(s *sample, raw *decode.RawStack) {
	if raw.Kernel < len(raw.Words) {
		return
	}
	if ip, ok := r.register(s, r.ipRegister()); ok && ip != 0 {
		r.append(raw, ip, context{})
	}
}

// arm64 reports whether the recorded machine was one of arm64.
func (r *reader) arm64() bool { return isa.Named(r.rec.Arch, r.rec.WordBits) == isa.ARM64 }

func (r *reader) ipRegister() int {
	if r.arm64() {
		return arm64IP
	}
	return userIP
}

// register returns a user register of a sample by its number in the mask.
func (r *reader) register(s *sample, number int) (uint64, bool) {
	mask := r.events[s.event].regsUser
	if s.regs == nil || mask>>number&1 == 0 {
		return 0, false
	}
	at := 0
	for i := range number {
		at += int(mask>>i&1) * 8
	}
	if at+8 > len(s.regs) {
		return 0, false
	}
	c := cursorOf(s.regs[at:], r.big)
	return c.U64(), true
}

// lineage names a process by its pid: perf does not record how it descends from the
// first.
func lineage(p *process) string { return fmt.Sprintf("pid-%d", p.PID) }
