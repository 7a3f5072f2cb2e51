package perfdata

import (
	"fmt"
	"slices"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/isa"
)

// chainLimit is the kernel's default limit of the addresses in a call chain
// (kernel.perf_event_max_stack).
const chainLimit = 127

// userIP is the bit of the instruction pointer in x86's register masks.
const userIP = 8

// stackReader reads records a second time. Once all samples were read, several may work
// concurrently: they write no shared state then.
type stackReader struct {
	*reader
	raw     decode.RawStack // the current stack
	touched int             // bytes read since the files' pages were last released
	words   []uint64        // memory of raw.Words
	exact   []int32         // memory of raw.Exact
	spaces  uint64          // bits of the foreign address spaces on the stacks so far
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

// typeOf returns the type of a record.
func (r *reader) typeOf(at recordOffset) uint32 {
	c := cursorOf(r.in.segments[at>>segmentShift].data[at.offset():], r.big)
	return c.U32()
}

// stack returns the raw stack of a sample's call chain, valid until the next call. Without a chain,
// the stack is only the sampled address. If the sample has registers, the user part of the stack is
// only the PC at which the thread entered the kernel: the stack dump is unwound later.
func (r *stackReader) stack(s *sample, misc uint16) *decode.RawStack {
	raw := &r.raw
	*raw = decode.RawStack{OMPState: -1, Returns: true, Words: r.words[:0]}
	in := chainContext{kernel: misc&miscMode == miscKernel, space: spaceOf(misc)}
	r.spaces |= in.space
	addresses, last := r.chain(s, raw, in)
	switch {
	case s.hasDump():
		raw.Callers = decode.CallersUnwound
	case r.events[s.event].sampleType&sampleCallchain != 0, s.chain != nil:
		raw.Callers = decode.CallersChained
	default:
		raw.Callers = decode.CallersNone
	}
	r.setLeaf(s, raw, in)
	if s.regs != nil || s.stack != nil {
		r.userEntry(s, raw)
	}
	if e := r.events[s.event]; raw.Reason == "" && e.isOffCPU() && addresses >= offCPUFrames {
		raw.Reason = decode.ReasonOffCPULimit
	} else if raw.Reason == "" && addresses >= int(e.maxStack) && e.sampleType&sampleStackUser == 0 {
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

// userEntry adds the user PC to a stack that has only kernel frames.
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

// register returns the value of a user register. number is its bit in the register mask.
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

// lineage names a process by its pid, since perf does not record how it descends from the first
// process.
func lineage(p *process) string { return fmt.Sprintf("pid-%d", p.PID) }

// setLeaf makes the sampled address the leaf of a stack (S21, perf-data 6.2). The sampled address
// of a precise event is the instruction that caused it, but its chain begins where the interrupt
// arrived: mostly at the next instruction, sometimes in another function, or in the kernel instead
// of user code or vice versa. With `--user-callchains`, the chain lacks the kernel's leaf.
func (r *stackReader) setLeaf(s *sample, raw *decode.RawStack, in chainContext) {
	switch {
	case len(raw.Words) == 0:
		r.append(raw, s.ip, in)
	case raw.Words[0] == s.ip, !r.hasLeaf(s), in.space != 0: // guests and the hypervisor have no chains
	case in.kernel && raw.Kernel == 0:
		raw.Words, raw.Kernel = slices.Insert(raw.Words, 0, s.ip), 1
	case !in.kernel && raw.Kernel == len(raw.Words):
		raw.Words, raw.Kernel = append(raw.Words[:0], s.ip), 0
	case !in.kernel: // the kernel part of the chain is from after the event
		raw.Words, raw.Kernel = slices.Delete(raw.Words, 0, raw.Kernel), 0
		raw.Words[0] = s.ip
	default:
		raw.Words[0] = s.ip
	}
}

// hasLeaf reports whether a sample has an address that can be a leaf.
func (p *recordParser) hasLeaf(s *sample) bool {
	return p.events[s.event].sampleType&sampleIP != 0 && s.ip != 0 && s.ip < contextMax
}

// The numbers of arm64 registers, both in perf's masks and in dumps.
const (
	arm64LR = 30
	arm64SP = 31
	arm64IP = 32
)

// anyStack replaces the stack pointer, which the samples lack. The unwinder does not need the real
// one to see whether the return address is still in the link register. Nothing is mapped at
// anyStack.
const anyStack = 1 << 63

// hasLinkRegister reports whether a sample has a chain and arm64's link register, but no stack. A
// leaf that has not saved the link register has no frame, so the chain lacks the leaf's caller
// (perf-data 12).
func (p *recordParser) hasLinkRegister(s *sample) bool {
	a := &p.events[s.event].attr
	return p.arm64() && len(s.regs) > 0 && s.abi != abi32 && a.regsUser>>arm64LR&1 != 0 &&
		len(s.chain) > 0 && a.sampleType&sampleStackUser == 0 && !a.usesBranches()
}

// linkRegister fills in a dump with the link register but no stack. The unwinder finds the leaf's
// caller by the link register.
func (p *recordParser) linkRegister(s *sample, dump *decode.StackDump) {
	dump.Reason, dump.Known, dump.Stack, dump.Full = "", 0, nil, false
	value, ok := p.register(s, arm64LR)
	raw := &dump.Recorded
	if !ok || !hasUser(raw) {
		return
	}
	dump.Machine = decode.Machine{Arch: isa.ARM64, Big: p.big}
	dump.Registers[arm64IP], dump.Registers[arm64SP], dump.Registers[arm64LR] = raw.Words[raw.Kernel], anyStack, value
	dump.Known = 1<<arm64IP | 1<<arm64SP | 1<<arm64LR // no other registers: the unwinder must not find saved ones
}
