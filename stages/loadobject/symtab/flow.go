package symtab

import (
	"bytes"

	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/insn/disasm"
	"stackmill/stages/loadobject/isa"
)

// maxFlow bounds the code of a function without a size that is looked at.
const maxFlow = 64 << 10

// extent returns how many bytes of code, which lies at addr, a function at its
// start takes: up to the first instruction after which nothing goes on and that
// nothing before it jumps over. It is all of code without such an instruction, or
// if only padding follows.
func extent(arch isa.Arch, code []byte, addr uint64) uint64 {
	var far uint64 // the farthest place that was jumped to
	for i := range disasm.Walk(arch, code[:min(len(code), maxFlow)], addr) {
		if i.Err != nil {
			break
		}
		end := i.Addr - addr + uint64(i.Inst.Len)
		if to := i.Inst.Target - addr; i.Inst.HasTarget && i.Inst.Kind != insn.Call && to < uint64(len(code)) {
			far = max(far, to)
		}
		if ends(i.Inst.Kind) && far < end {
			if padding(arch, code[end:], addr+end) {
				break
			}
			return end
		}
	}
	return uint64(len(code))
}

// padding reports whether code only fills up the place to the next function.
func padding(arch isa.Arch, code []byte, addr uint64) bool {
	for i := range disasm.Walk(arch, code, addr) {
		if i.Err != nil || i.Inst.Kind != insn.Nop && i.Inst.Kind != insn.Trap {
			return len(bytes.TrimLeft(code[i.Addr-addr:], "\x00")) == 0
		}
	}
	return true
}

// ends reports whether the code after an instruction is not reached from it.
func ends(k insn.Kind) bool { return k == insn.Jump || k == insn.Return || k == insn.Trap }

// continues reports whether a function's code, which lies at addr, goes on at the
// address at or after it, up to until: the last instruction before at goes on, a
// conditional jump leads there, or any jump leads beyond it. A call or system
// call at the end may be one that does not return.
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
		live = !ends(i.Inst.Kind)
		returns = i.Inst.Kind != insn.Call && i.Inst.Kind != insn.Syscall
	}
	return live && returns && addr+uint64(len(code)) == at
}
