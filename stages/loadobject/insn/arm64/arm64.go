// Package arm64 decodes the instructions of A64.
//
// It prints them with golang.org/x/arch/arm64/arm64asm, but does not decode with it. arm64asm does
// not describe effects on registers and bits, rejects 5,659 of the 296,099 instructions of Go's own
// gofmt, takes 230 ns per instruction where Decode takes 20, and writes to a global variable.
//
// Start reading with Decode.
package arm64

import (
	"encoding/binary"

	"stackmill/stages/loadobject/insn"
)

// Decode decodes the instruction at the start of code, which lies at addr. See
// disasm.Decode.
func Decode(code []byte, addr uint64) (inst insn.Inst, err error) {
	err = decode(&inst, code, addr)
	return inst, err
}

// Effects decodes an instruction and returns its effect on memory and registers.
func Effects(code []byte, addr uint64) (insn.Effect, error) {
	e := effect{insn.NoEffect}
	if err := decode(&e.Inst, code, addr); err != nil {
		return e.Effect, err
	}
	e.decode(word(binary.LittleEndian.Uint32(code)), addr)
	return e.Effect, nil
}

// Bits decodes an instruction and returns its effect on bits; false if unknown.
func Bits(code []byte) (insn.Bits, bool) {
	if _, err := Decode(code, 0); err != nil {
		return insn.Bits{}, false
	}
	return word(binary.LittleEndian.Uint32(code)).bits()
}

// decode decodes an A64 word into inst, which is zero. The groups are from the Arm Architecture
// Reference Manual, C4.1. Every word of an allocated group counts as an instruction, because Arm
// keeps adding instructions, and all instructions have the same length.
func decode(inst *insn.Inst, code []byte, addr uint64) error {
	if len(code) < 4 {
		return insn.ErrTruncated
	}
	w := binary.LittleEndian.Uint32(code)
	switch group := w >> 25 & 15; group {
	case 0: // reserved, SME
		if w>>16 == 0 {
			inst.Kind = insn.Trap // udf
		} else if w>>31 == 0 {
			return insn.ErrUndefined
		}
	case 1, 3:
		return insn.ErrUndefined
	case 10, 11: // branches, exceptions, system
		branch(inst, w, addr)
	}
	inst.Len = 4
	return nil
}

// branch classifies a word of the group of branches, exception generating and
// system instructions.
func branch(inst *insn.Inst, w uint32, addr uint64) {
	switch {
	case w&0xfc000000 == 0x94000000: // bl
		direct(inst, insn.Call, addr, w, 0, 26)
	case w&0xfc000000 == 0x14000000: // b
		direct(inst, insn.Jump, addr, w, 0, 26)
	case w&0xff000000 == 0x54000000, // b.cond, bc.cond
		w&0x7e000000 == 0x34000000: // cbz, cbnz
		direct(inst, insn.CondJump, addr, w, 5, 19)
	case w&0x7e000000 == 0x36000000: // tbz, tbnz
		direct(inst, insn.CondJump, addr, w, 5, 14)
	case w&0x7e000000 == 0x74000000: // cbeq and the like, which compare themselves
		direct(inst, insn.CondJump, addr, w, 5, 9)
	case w&0xfe000000 == 0xd6000000:
		inst.Kind = registerBranch(w >> 21 & 15)
	case w&0xff00001f == 0x5500001f: // retaasppc, retabsppc
		inst.Kind = insn.Return
	case w&0xff000000 == 0xd4000000:
		inst.Kind = exception(w)
	case w == 0xd503201f:
		inst.Kind = insn.Nop
	}
}

// direct sets the kind and target of a direct branch. The n bits of w from bit lsb on are the
// distance in words.
func direct(inst *insn.Inst, kind insn.Kind, addr uint64, w uint32, lsb, n uint) {
	distance := int64(w>>lsb) << (64 - n) >> (64 - n) * 4
	inst.Kind, inst.Target, inst.HasTarget = kind, addr+uint64(distance), true
}

// registerBranch returns the kind of an unconditional branch to a register, given its operation.
// Operations of 8 and more authenticate a pointer.
func registerBranch(opc uint32) insn.Kind {
	switch opc {
	case 0, 8: // br, braa
		return insn.Jump
	case 1, 9: // blr, blraa
		return insn.Call
	case 2, 4, 5: // ret, eret, drps, and retaa, eretaa
		return insn.Return
	}
	return insn.Other
}

// exception classifies an instruction that raises an exception.
func exception(w uint32) insn.Kind {
	switch w & 0xffe0001f {
	case 0xd4000001: // svc
		return insn.Syscall
	case 0xd4200000, 0xd4400000: // brk, hlt
		return insn.Trap
	}
	return insn.Other
}
