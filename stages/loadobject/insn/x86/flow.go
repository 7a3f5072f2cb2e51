package x86

import "stackmill/stages/loadobject/insn"

// classify sets the result for the decoded instruction.
func (d *decoder) classify(inst *insn.Inst, addr uint64) {
	inst.Len = d.pos
	switch d.table {
	case legacy, legacy64:
		inst.Kind = d.kind()
	case map0F:
		inst.Kind = d.kind0F()
	}
	if inst.Kind != insn.Call && inst.Kind != insn.Jump && inst.Kind != insn.CondJump {
		return
	}
	next := addr + uint64(d.pos)
	switch {
	case d.op != 0xff && d.op != 0x9a && d.op != 0xea:
		inst.Target, inst.HasTarget = d.truncate(next+uint64(d.imm)), true
	case d.segment:
	case d.memory == relative:
		inst.Slot, inst.HasSlot = next+uint64(int64(d.disp)), true
		if d.adSize {
			inst.Slot &= 1<<32 - 1
		}
	case d.memory == absolute:
		inst.Slot, inst.HasSlot = uint64(int64(d.disp)), true
		if !d.long || d.adSize {
			inst.Slot &= 1<<32 - 1
		}
	}
}

// truncate limits a target to the instruction pointer's size. A distance of one
// byte ignores operand size 16, as in objdump.
func (d *decoder) truncate(target uint64) uint64 {
	switch {
	case d.table[d.op]&immMask != relB && d.sizeZ() == 2:
		return target & (1<<16 - 1)
	case !d.long:
		return target & (1<<32 - 1)
	}
	return target
}

// kind classifies an opcode of one byte.
func (d *decoder) kind() insn.Kind {
	switch op := d.op; op {
	case 0x90:
		if d.rep != 0xf3 && d.rex&1 == 0 { // not pause, not xchg %r8,%rax
			return insn.Nop
		}
	case 0x9a, 0xe8:
		return insn.Call
	case 0xe9, 0xea, 0xeb:
		return insn.Jump
	case 0xe0, 0xe1, 0xe2, 0xe3:
		return insn.CondJump
	case 0xc2, 0xc3, 0xca, 0xcb, 0xcf:
		return insn.Return
	case 0xcd:
		if d.code[d.pos-1] == 0x80 {
			return insn.Syscall
		}
		return insn.Trap
	case 0xcc, 0xce, 0xf1, 0xf4:
		return insn.Trap
	case 0xc7:
		if d.modrm == 0xf8 { // xbegin
			return insn.CondJump
		}
	case 0xff:
		switch d.reg() {
		case 2, 3:
			return insn.Call
		case 4, 5:
			return insn.Jump
		}
	default:
		if op&0xf0 == 0x70 {
			return insn.CondJump
		}
	}
	return insn.Other
}

// kind0F classifies an opcode after 0f.
func (d *decoder) kind0F() insn.Kind {
	switch op := d.op; op {
	case 0x05, 0x34:
		return insn.Syscall
	case 0x07, 0x35:
		return insn.Return
	case 0x0b, 0xb9, 0xff:
		return insn.Trap
	case 0x1f:
		return insn.Nop
	case 0x01:
		if d.rep == 0xf3 && d.modrm == 0xec { // uiret
			return insn.Return
		}
	default:
		if op&0xf0 == 0x80 {
			return insn.CondJump
		}
	}
	return insn.Other
}
