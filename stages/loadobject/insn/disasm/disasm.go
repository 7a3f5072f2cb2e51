// Package disasm decodes machine code of the supported instruction sets. It selects
// the decoder, x86 or arm64, whose results have the types of package insn.
package disasm

import (
	"fmt"
	"strings"

	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/insn/arm64"
	"stackmill/stages/loadobject/insn/x86"
	"stackmill/stages/loadobject/isa"
)

// Decode decodes the instruction at the start of code, which lies at addr. It does not read beyond
// the instruction's end. It fails with insn.ErrTruncated if code ends before that, and with
// insn.ErrUndefined if there is no such instruction.
//
// Lengths are the hardware's, and objdump's as well, except that objdump prints `fwait` and the x87
// instruction after it as one. The x86 extension APX (prefix REX2, EVEX map 4) is not supported.
func Decode(arch isa.Arch, code []byte, addr uint64) (insn.Inst, error) {
	switch arch {
	case isa.ARM64:
		return arm64.Decode(code, addr)
	case isa.AMD64, isa.X86:
		return x86.Decode(arch == isa.AMD64, code, addr)
	}
	return insn.Inst{}, insn.ErrUndefined
}

// Effects decodes the instruction at the start of code, which lies at addr, and
// returns its effect. It fails like Decode.
func Effects(arch isa.Arch, code []byte, addr uint64) (insn.Effect, error) {
	switch arch {
	case isa.ARM64:
		return arm64.Effects(code, addr)
	case isa.AMD64, isa.X86:
		return x86.Effects(arch == isa.AMD64, code, addr)
	}
	return insn.NoEffect, insn.ErrUndefined
}

// Bits decodes the instruction at the start of code and returns its effect on bits; false if it is
// unknown. An instruction without effect on general registers and memory has no operands.
func Bits(arch isa.Arch, code []byte) (insn.Bits, bool) {
	switch arch {
	case isa.ARM64:
		return arm64.Bits(code)
	case isa.AMD64, isa.X86:
		return x86.Bits(arch == isa.AMD64, code)
	}
	return insn.Bits{}, false
}

// StubSlot decodes an entry of a procedure linkage table, which lies at addr. It returns the
// address of the entry's slot in the global offset table; the slot's relocation names the function
// (S23). It returns false for other code, and for 32-bit x86 entries that address the global offset
// table through a register.
//
//	x86      [endbr64] jmp *slot
//	mold     endbr64; mov $n,%r11d; jmp *slot
//	lld      mov slot,%r11; jmp thunk                -z retpolineplt
//	         mov slot,%r11; call thunk; jmp loop     the same, bound at the first call
//	A64      [bti c] adrp x16, page; ldr x17, [x16, #n]; [add x16, x16, #n]; [autia1716] br x17
func StubSlot(arch isa.Arch, code []byte, addr uint64) (slot uint64, ok bool) {
	switch arch {
	case isa.ARM64:
		return arm64.StubSlot(code, addr)
	case isa.AMD64, isa.X86:
		return x86.StubSlot(arch == isa.AMD64, code, addr)
	}
	return 0, false
}

// textOf disassembles code, which is exactly one instruction.
func textOf(arch isa.Arch, code []byte, addr uint64) string {
	if arch == isa.ARM64 {
		return arm64.Text(code, addr)
	}
	if text := x86.Text(arch == isa.AMD64, code, addr); text != "" {
		return text
	}
	return bytesText(code)
}

func bytesText(code []byte) string {
	if len(code) == 0 {
		return ""
	}
	return ".byte 0x" + strings.ReplaceAll(fmt.Sprintf("% x", code), " ", ",0x")
}
