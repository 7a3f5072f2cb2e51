package symtab

import (
	"bytes"

	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/insn/disasm"
	"stackmill/stages/loadobject/isa"
)

// maxFlow bounds how many bytes of a function without a size are decoded.
const maxFlow = 64 << 10

// Extent returns the size of a function at the start of code, which is at address addr. The function ends
// with the first instruction after which control does not continue, and beyond which no earlier
// jump leads. If there is no such instruction, or only padding follows it, the function is all of
// code.
func Extent(arch isa.Arch, code []byte, addr uint64) uint64 {
	var far uint64 // the farthest target of a jump so far
	for i := range disasm.Walk(arch, code[:min(len(code), maxFlow)], addr) {
		if i.Err != nil {
			break
		}
		end := i.Addr - addr + uint64(i.Inst.Len)
		if to := i.Inst.Target - addr; i.Inst.HasTarget && i.Inst.Kind != insn.Call && to < uint64(len(code)) {
			far = max(far, to)
		}
		if endsFlow(i.Inst.Kind) && far < end {
			if padding(arch, code[end:], addr+end) {
				break
			}
			return end
		}
	}
	return uint64(len(code))
}

func padding(arch isa.Arch, code []byte, addr uint64) bool {
	for i := range disasm.Walk(arch, code, addr) {
		if i.Err != nil || i.Inst.Kind != insn.Nop && i.Inst.Kind != insn.Trap {
			return len(bytes.TrimLeft(code[i.Addr-addr:], "\x00")) == 0
		}
	}
	return true
}

// endsFlow reports whether control never continues after an instruction.
func endsFlow(k insn.Kind) bool { return k == insn.Jump || k == insn.Return || k == insn.Trap }

// continues reports whether a function, whose code lies at addr, continues in [at, until). It does
// if control falls through to at, a conditional jump leads into the range, or any jump leads into
// the range beyond at. A call or system call just before at does not count as falling through,
// because it may not return.
func continues(arch isa.Arch, code []byte, addr, at, until uint64) bool {
	targets := map[uint64]bool{}
	for i := range disasm.Walk(arch, code, addr) {
		if i.Inst.HasTarget && i.Inst.Kind != insn.Call {
			targets[i.Inst.Target] = true
		}
	}
	live, returns := true, true
	for i := range disasm.Walk(arch, code, addr) {
		live = live || targets[i.Addr]
		if i.Err != nil {
			return false
		}
		if !live || i.Inst.Kind == insn.Nop {
			continue
		}
		if t := i.Inst.Target; i.Inst.HasTarget && i.Inst.Kind != insn.Call && at <= t && t < until {
			if t > at || i.Inst.Kind == insn.CondJump {
				return true
			}
		}
		live = !endsFlow(i.Inst.Kind)
		returns = i.Inst.Kind != insn.Call && i.Inst.Kind != insn.Syscall
	}
	return live && returns && addr+uint64(len(code)) == at
}
