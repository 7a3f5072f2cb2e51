package perfdata

import (
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/isa"
)

// The numbers of arm64's registers, in perf's masks and in dumps alike.
const (
	arm64LR = 30
	arm64SP = 31
	arm64IP = 32
)

// anyStack stands for the stack pointer, which perf does not record here: whether the
// return address is still in its register does not depend on it. Nothing is mapped there.
const anyStack = 1 << 63

// hasLinkRegister reports whether a sample has, besides its chain, the register
// in which arm64 code gets its return address, and no stack. A leaf that has not saved
// the register has no frame, and hides its caller from the chain (perf-data 12).
func (r *reader) hasLinkRegister(s *sample) bool {
	a := &r.events[s.event].attr
	return r.arm64() && len(s.regs) > 0 && s.abi != abi32 && a.regsUser>>arm64LR&1 != 0 &&
		len(s.chain) > 0 && a.sampleType&sampleStackUser == 0 && !a.usesBranches()
}

// linkRegister fills in the return register, by which the leaf's caller can be found,
// but no stack.
func (r *reader) linkRegister(s *sample, dump *decode.StackDump) {
	dump.Reason, dump.Known, dump.Stack, dump.Full = "", 0, nil, false
	value, ok := r.register(s, arm64LR)
	raw := &dump.Recorded
	if !ok || !hasUser(raw) {
		return
	}
	dump.Machine = decode.Machine{Arch: isa.ARM64, Big: r.big}
	dump.Registers[arm64IP], dump.Registers[arm64SP], dump.Registers[arm64LR] = raw.Words[raw.Kernel], anyStack, value
	dump.Known = 1<<arm64IP | 1<<arm64SP | 1<<arm64LR // no other: a saved register must not be found
}
