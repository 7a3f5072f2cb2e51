package perfdata

import (
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/isa"
)

// The numbers of arm64 registers, both in perf's masks and in dumps.
const (
	arm64LR = 30
	arm64SP = 31
	arm64IP = 32
)

// anyStack replaces the stack pointer, which the samples lack: whether the return address is
// still in the link register does not depend on it. Nothing is mapped there.
const anyStack = 1 << 63

// hasLinkRegister reports whether a sample has, besides its chain, arm64's link register but no
// stack. A leaf that has not saved the register has no frame, so that the chain lacks its caller
// (perf-data 12).
func (p *recordParser) hasLinkRegister(s *sample) bool {
	a := &p.events[s.event].attr
	return p.arm64() && len(s.regs) > 0 && s.abi != abi32 && a.regsUser>>arm64LR&1 != 0 &&
		len(s.chain) > 0 && a.sampleType&sampleStackUser == 0 && !a.usesBranches()
}

// linkRegister fills in a dump with the link register, by which the unwinder finds the leaf's
// caller, and no stack.
func (p *recordParser) linkRegister(s *sample, dump *decode.StackDump) {
	dump.Reason, dump.Known, dump.Stack, dump.Full = "", 0, nil, false
	value, ok := p.register(s, arm64LR)
	raw := &dump.Recorded
	if !ok || !hasUser(raw) {
		return
	}
	dump.Machine = decode.Machine{Arch: isa.ARM64, Big: p.big}
	dump.Registers[arm64IP], dump.Registers[arm64SP], dump.Registers[arm64LR] = raw.Words[raw.Kernel], anyStack, value
	dump.Known = 1<<arm64IP | 1<<arm64SP | 1<<arm64LR // not more: saved registers must not be found
}
