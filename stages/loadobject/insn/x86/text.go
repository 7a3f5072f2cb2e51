package x86

import (
	"fmt"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// namesByCode has the names of instructions that x86asm confuses with other ones. They have no
// operands.
var namesByCode = map[string]string{
	"\xf3\x0f\x1e\xfa": "endbr64",
	"\xf3\x0f\x1e\xfb": "endbr32",
	"\xc5\xf8\x77":     "vzeroupper",
	"\xc5\xfc\x77":     "vzeroall",
	"\x0f\x01\xd0":     "xgetbv",
	"\x0f\x01\xd5":     "xend",
	"\x0f\x01\xd6":     "xtest",
	"\x0f\x01\xee":     "rdpkru",
	"\x0f\x01\xef":     "wrpkru",
}

// Text disassembles code, which is exactly one instruction, in AT&T syntax. It returns nothing if
// x86asm does not know the instruction, or confuses it with another one: then the length differs.
func Text(long bool, code []byte, addr uint64) string {
	if name := namesByCode[string(code)]; name != "" {
		return name
	}
	mode := 32
	if long {
		mode = 64
	}
	inst, err := x86asm.Decode(code, mode)
	if err != nil || inst.Op == 0 || inst.Len != len(code) {
		return ""
	}
	if c := code[0]; c == 0xc4 || c == 0xc5 || c == 0x62 {
		inst.Prefix = x86asm.Prefixes{} // bytes of VEX and EVEX, which would be printed as segments
	}
	for i, arg := range inst.Args {
		if m, ok := arg.(x86asm.Mem); ok {
			inst.Args[i] = repaired(m, ripRelative(long, code))
		}
	}
	text := strings.TrimSpace(x86asm.GNUSyntax(inst, addr, nil))
	if rel, ok := inst.Args[0].(x86asm.Rel); ok && addr == 0 { // x86asm takes address 0 for an unknown one
		text = fmt.Sprintf("%s%#x", text[:strings.LastIndexByte(text, ' ')+1], uint64(inst.Len)+uint64(rel))
	}
	switch inst.Op { // x86asm prints two in Intel's syntax
	case x86asm.CDQE:
		return "cltq"
	case x86asm.MOVSXD:
		return strings.Replace(text, "movsxd", "movslq", 1)
	}
	return text
}

// repaired corrects three errors of x86asm: an index register that does not exist, a negative
// displacement that became a large positive one, and a missing base rip.
func repaired(m x86asm.Mem, rip bool) x86asm.Mem {
	if rip {
		m.Base = x86asm.RIP
	}
	if m.Index == 0 && m.Base != 0 {
		m.Scale = 0
	}
	if m.Index != 0 || m.Base != 0 {
		m.Disp = int64(int32(m.Disp))
	}
	return m
}

// ripRelative reports whether the memory operand is relative to the 64-bit
// instruction pointer.
func ripRelative(long bool, code []byte) bool {
	d := decoder{code: code, long: long}
	if f := d.opcode(); f&modRM != 0 {
		d.operand(f)
	}
	return d.err == nil && d.memory == relative && !d.adSize
}
