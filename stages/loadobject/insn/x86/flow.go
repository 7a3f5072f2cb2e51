package x86

import "stackmill/stages/loadobject/insn"

// classify sets inst's kind, target and slot.
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

// truncate cuts a target to the size of the instruction pointer. As in objdump, an operand size of
// 16 bits has no effect on branches whose distance has one byte.
func (d *decoder) truncate(target uint64) uint64 {
	switch {
	case d.table[d.op]&immMask != relB && d.sizeZ() == 2:
		return target & (1<<16 - 1)
	case !d.long:
		return target & (1<<32 - 1)
	}
	return target
}

// kinds has the kinds of one-byte opcodes, kinds0F the kinds of opcodes after 0f.
var (
	kinds = newKinds(map[insn.Kind]string{
		insn.Nop: "\x90", insn.Call: "\x9a\xe8", insn.Jump: "\xe9\xea\xeb", insn.Return: "\xc2\xc3\xca\xcb\xcf",
		insn.CondJump: "\x70\x71\x72\x73\x74\x75\x76\x77\x78\x79\x7a\x7b\x7c\x7d\x7e\x7f\xe0\xe1\xe2\xe3",
		insn.Trap:     "\xcc\xcd\xce\xf1\xf4",
	})
	kinds0F = newKinds(map[insn.Kind]string{
		insn.Nop: "\x1f", insn.Syscall: "\x05\x34", insn.Return: "\x07\x35", insn.Trap: "\x0b\xb9\xff",
		insn.CondJump: "\x80\x81\x82\x83\x84\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8d\x8e\x8f",
	})
)

func newKinds(opcodes map[insn.Kind]string) (kinds [256]insn.Kind) {
	for kind, list := range opcodes {
		for _, op := range []byte(list) {
			kinds[op] = kind
		}
	}
	return kinds
}

// kind classifies an opcode of one byte.
func (d *decoder) kind() insn.Kind {
	switch {
	case d.op == 0x90 && (d.rep == 0xf3 || d.rex&1 != 0): // pause, xchg %r8,%rax
		return insn.Other
	case d.op == 0xcd && d.code[d.pos-1] == 0x80:
		return insn.Syscall
	case d.op == 0xc7 && d.modrm == 0xf8: // xbegin
		return insn.CondJump
	case d.op == 0xff && (d.reg() == 2 || d.reg() == 3):
		return insn.Call
	case d.op == 0xff && (d.reg() == 4 || d.reg() == 5):
		return insn.Jump
	}
	return kinds[d.op]
}

// kind0F classifies an opcode after 0f.
func (d *decoder) kind0F() insn.Kind {
	if d.op == 0x01 && d.rep == 0xf3 && d.modrm == 0xec { // uiret
		return insn.Return
	}
	return kinds0F[d.op]
}
