package x86

import "stackmill/stages/loadobject/insn"

// movesX87 has letters as in moves, for the x87 instructions d8 to df with a memory operand. A
// string has a letter for each value of ModRM.reg.
var movesX87 = [8]string{
	"ssssssss",
	"s.SSzwZW",
	"dddddddd",
	"dDDD.l.L",
	"rrrrrrrr",
	"rQRRz.ZW",
	"wwwwwwww",
	"wWWWlqLQ",
}

// x87 sets the effect of an x87 instruction, which ends at next.
func (d *decoder) x87(e *insn.Effect, next uint64) {
	switch {
	case d.memory != register:
		if letter := movesX87[d.op&7][d.reg()]; letter != verbNone {
			d.move(e, letter, next)
		}
	case d.op == 0xdf && d.modrm == 0xe0: // fnstsw %ax
		e.Write(d.general(numberAX))
	}
}
