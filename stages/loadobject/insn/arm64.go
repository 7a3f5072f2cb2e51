package insn

import "encoding/binary"

// decodeARM64 decodes an A64 word into inst, which is zero. The groups are those
// of the Arm Architecture Reference Manual, C4.1. A word of an allocated group is
// taken as an instruction: new ones keep being added, and none changes its length.
func (inst *Inst) decodeARM64(code []byte, addr uint64) error {
	if len(code) < 4 {
		return ErrTruncated
	}
	w := binary.LittleEndian.Uint32(code)
	switch group := w >> 25 & 15; group {
	case 0: // reserved, SME
		if w>>16 == 0 {
			inst.Kind = Trap // udf
		} else if w>>31 == 0 {
			return ErrUndefined
		}
	case 1, 3:
		return ErrUndefined
	case 10, 11: // branches, exceptions, system
		inst.branch(w, addr)
	}
	inst.Len = 4
	return nil
}

// branch classifies a word of the group of branches, exception generating and
// system instructions.
func (inst *Inst) branch(w uint32, addr uint64) {
	switch {
	case w&0xfc000000 == 0x94000000: // bl
		inst.direct(Call, addr, w, 0, 26)
	case w&0xfc000000 == 0x14000000: // b
		inst.direct(Jump, addr, w, 0, 26)
	case w&0xff000000 == 0x54000000, // b.cond, bc.cond
		w&0x7e000000 == 0x34000000: // cbz, cbnz
		inst.direct(CondJump, addr, w, 5, 19)
	case w&0x7e000000 == 0x36000000: // tbz, tbnz
		inst.direct(CondJump, addr, w, 5, 14)
	case w&0x7e000000 == 0x74000000: // cbeq and the like, which compare themselves
		inst.direct(CondJump, addr, w, 5, 9)
	case w&0xfe000000 == 0xd6000000:
		inst.Kind = registerBranch(w >> 21 & 15)
	case w&0xff00001f == 0x5500001f: // retaasppc, retabsppc
		inst.Kind = Return
	case w&0xff000000 == 0xd4000000:
		inst.Kind = exception(w)
	case w == 0xd503201f:
		inst.Kind = Nop
	}
}

// direct sets the target of a branch whose distance in words is the n bits of w
// from bit lsb on.
func (inst *Inst) direct(kind Kind, addr uint64, w uint32, lsb, n uint) {
	distance := int64(w>>lsb) << (64 - n) >> (64 - n) * 4
	inst.Kind, inst.Target, inst.HasTarget = kind, addr+uint64(distance), true
}

// registerBranch classifies an unconditional branch to a register by its
// operation; the upper half are those that authenticate a pointer.
func registerBranch(opc uint32) Kind {
	switch opc {
	case 0, 8: // br, braa
		return Jump
	case 1, 9: // blr, blraa
		return Call
	case 2, 4, 5: // ret, eret, drps, and retaa, eretaa
		return Return
	}
	return Other
}

// exception classifies an instruction that makes an exception.
func exception(w uint32) Kind {
	switch w & 0xffe0001f {
	case 0xd4000001: // svc
		return Syscall
	case 0xd4200000, 0xd4400000: // brk, hlt
		return Trap
	}
	return Other
}
