package perfdata

import (
	"fmt"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/isa"
)

// chainLimit is the kernel's default limit of addresses (kernel.perf_event_max_stack).
const chainLimit = 127

// userIP is the instruction pointer in x86's register masks.
const userIP = 8

// stackReader reads records again. Several may work concurrently once all samples were read: they
// write no shared state then.
type stackReader struct {
	*reader
	raw     decode.RawStack // the current stack
	touched int             // bytes read since it released the files' pages
	words   []uint64        // memory of raw.Words
	exact   []int32         // memory of raw.Exact
	spaces  uint64          // bits of the foreign address spaces on the stacks
}

func (r *stackReader) body(at recordOffset) (misc uint16, body []byte) {
	b := r.in.segments[at>>segmentShift].data[at.offset():]
	c := cursorOf(b, r.big)
	c.U32()
	misc = c.U16()
	size := int(c.U16())
	if r.touch(size, &r.touched) {
		r.release()
	}
	return misc, b[recordHeader:size]
}

// stack returns the raw stack of a sample's call chain, valid until the next call. Without a
// chain it is the sampled address alone. If the sample has registers, the user part is only the
// PC where it entered the kernel: the stack dump is unwound later.
func (r *stackReader) stack(s *sample, misc uint16) *decode.RawStack {
	raw := &r.raw
	*raw = decode.RawStack{OMPState: -1, Returns: true, Words: r.words[:0]}
	in := chainContext{kernel: misc&miscMode == miscKernel, space: spaceOf(misc)}
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

// userEntry adds the user PC to a stack of kernel frames only.
func (r *stackReader) userEntry(s *sample, raw *decode.RawStack) {
	if raw.Kernel < len(raw.Words) {
		return
	}
	if ip, ok := r.register(s, r.ipRegister()); ok && ip != 0 {
		r.append(raw, ip, chainContext{})
	}
}

// arm64 reports whether the recording is from an arm64 machine.
func (p *recordParser) arm64() bool { return isa.Named(p.rec.Arch, p.rec.WordBits) == isa.ARM64 }

func (p *recordParser) ipRegister() int {
	if p.arm64() {
		return arm64IP
	}
	return userIP
}

// register returns a user register by its number in the mask.
func (p *recordParser) register(s *sample, number int) (uint64, bool) {
	mask := p.events[s.event].regsUser
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
	c := cursorOf(s.regs[at:], p.big)
	return c.U64(), true
}

// lineage names a process by its pid: perf does not record its descent from the first process.
func lineage(p *process) string { return fmt.Sprintf("pid-%d", p.PID) }
