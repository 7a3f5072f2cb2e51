package insn

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/arch/arm64/arm64asm"
	"golang.org/x/arch/x86/x86asm"

	"stackmill/stages/loadobject/isa"
)

// Text disassembles the instruction at the start of code, which lies at addr,
// in the syntax of the GNU tools (AT&T for x86).
//
// It is for people to read, not for programs. What golang.org/x/arch cannot
// name, among it many of the newer extensions, reads as its bytes, such as
// `.byte 0xf3,0x0f,0xc7,0xf8` or `.inst 0x04e00c41`, and so do bytes that are no
// instruction. The text of no code is empty.
func Text(arch isa.Arch, code []byte, addr uint64) string {
	inst, err := Decode(arch, code, addr)
	if err != nil {
		return bytesText(code[:min(arch.Step(), len(code))])
	}
	code = code[:inst.Len]
	if arch == isa.ARM64 {
		return textARM64(code, addr)
	}
	return textX86(arch, code, addr)
}

func bytesText(code []byte) string {
	if len(code) == 0 {
		return ""
	}
	return ".byte 0x" + strings.ReplaceAll(fmt.Sprintf("% x", code), " ", ",0x")
}

// fixed names instructions without operands that x86asm takes for others.
var fixed = map[string]string{
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

// textX86 uses x86asm where it agrees about the instruction's length. Where
// it does not, it has taken the instruction for another one.
func textX86(arch isa.Arch, code []byte, addr uint64) string {
	if name := fixed[string(code)]; name != "" {
		return name
	}
	mode := 32
	if arch == isa.AMD64 {
		mode = 64
	}
	inst, err := x86asm.Decode(code, mode)
	if err != nil || inst.Op == 0 || inst.Len != len(code) {
		return bytesText(code)
	}
	if c := code[0]; c == 0xc4 || c == 0xc5 || c == 0x62 {
		inst.Prefix = x86asm.Prefixes{} // has parts of VEX and EVEX, which print as segments
	}
	for i, arg := range inst.Args {
		if m, ok := arg.(x86asm.Mem); ok {
			inst.Args[i] = repaired(m, ripRelative(mode == 64, code))
		}
	}
	text := strings.TrimSpace(x86asm.GNUSyntax(inst, addr, nil))
	switch inst.Op { // two that it prints in Intel's syntax
	case x86asm.CDQE:
		return "cltq"
	case x86asm.MOVSXD:
		return strings.Replace(text, "movsxd", "movslq", 1)
	}
	return text
}

// repaired undoes three errors of x86asm: an index register where there is none,
// a negative displacement as a large one, and no base where it is rip.
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
	d := x86{code: code, long: long}
	f, err := d.opcode()
	if err == nil && f&modRM != 0 {
		err = d.operand(f)
	}
	return err == nil && d.memory == relative && !d.adSize
}

// arm64asmMutex guards arm64asm.Decode, which writes to a global variable.
var arm64asmMutex sync.Mutex

func textARM64(code []byte, addr uint64) string {
	arm64asmMutex.Lock()
	inst, err := arm64asm.Decode(code)
	arm64asmMutex.Unlock()
	if err != nil {
		return fmt.Sprintf(".inst %#08x", binary.LittleEndian.Uint32(code))
	}
	text := strings.TrimSpace(arm64asm.GNUSyntax(inst))
	for _, arg := range inst.Args {
		if r, ok := arg.(arm64asm.PCRel); ok {
			from := addr
			if inst.Op == arm64asm.ADRP {
				from &^= 0xfff
			}
			text = strings.Replace(text, r.String(), fmt.Sprintf("%#x", from+uint64(r)), 1)
		}
	}
	return text
}
