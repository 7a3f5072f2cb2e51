package insn

// classify makes the result of an instruction that is decoded.
func (d *x86) classify(inst *Inst, addr uint64) {
	inst.Len = d.pos
	switch d.table {
	case legacy, legacy64:
		inst.Kind = d.kind()
	case map0F:
		inst.Kind = d.kind0F()
	}
	if inst.Kind != Call && inst.Kind != Jump && inst.Kind != CondJump {
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
// byte leaves it alone even with operand size 16, as in objdump.
func (d *x86) truncate(target uint64) uint64 {
	switch {
	case d.table[d.op]&immMask != relB && d.sizeZ() == 2:
		return target & (1<<16 - 1)
	case !d.long:
		return target & (1<<32 - 1)
	}
	return target
}

// kind classifies an opcode of one byte.
func (d *x86) kind() Kind {
	switch op := d.op; op {
	case 0x90:
		if d.rep != 0xf3 && d.rex&1 == 0 { // not pause, not xchg %r8,%rax
			return Nop
		}
	case 0x9a, 0xe8:
		return Call
	case 0xe9, 0xea, 0xeb:
		return Jump
	case 0xe0, 0xe1, 0xe2, 0xe3:
		return CondJump
	case 0xc2, 0xc3, 0xca, 0xcb, 0xcf:
		return Return
	case 0xcd:
		if d.code[d.pos-1] == 0x80 {
			return Syscall
		}
		return Trap
	case 0xcc, 0xce, 0xf1, 0xf4:
		return Trap
	case 0xc7:
		if d.modrm == 0xf8 { // xbegin
			return CondJump
		}
	case 0xff:
		switch d.reg() {
		case 2, 3:
			return Call
		case 4, 5:
			return Jump
		}
	default:
		if op&0xf0 == 0x70 {
			return CondJump
		}
	}
	return Other
}

// kind0F classifies an opcode behind 0f.
func (d *x86) kind0F() Kind {
	switch op := d.op; op {
	case 0x05, 0x34:
		return Syscall
	case 0x07, 0x35:
		return Return
	case 0x0b, 0xb9, 0xff:
		return Trap
	case 0x1f:
		return Nop
	case 0x01:
		if d.rep == 0xf3 && d.modrm == 0xec { // uiret
			return Return
		}
	default:
		if op&0xf0 == 0x80 {
			return CondJump
		}
	}
	return Other
}
