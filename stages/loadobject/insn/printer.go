package insn

import (
	"encoding/binary"
	"fmt"
	"strings"

	"stackmill/stages/loadobject/isa"
)

// Printer disassembles as Text does, faster: programs repeat few instructions
// many times. It is not safe for concurrent use.
type Printer struct {
	arch  isa.Arch
	known map[string]string // texts by bytes; of branches up to the target by bytes up to the displacement
}

// maxKnown bounds a Printer's memory, to some 10 MB.
const maxKnown = 100_000

// NewPrinter returns a printer for an instruction set.
func NewPrinter(arch isa.Arch) *Printer { return &Printer{arch, map[string]string{}} }

// Text is the text of one step of Walk, whose bytes start code.
func (p *Printer) Text(item Item, code []byte) string {
	code = code[:item.Inst.Len]
	if item.Err != nil {
		return bytesText(code)
	}
	key, branch := code, false
	switch {
	case p.arch == isa.ARM64:
		if relativeARM64(item.Inst, code) {
			return textARM64(code, item.Addr)
		}
	case item.Inst.HasTarget:
		n := displacement(code)
		if n == 0 {
			return textX86(p.arch, code, item.Addr)
		}
		key, branch = code[:len(code)-n], true
	}
	text, ok := p.known[string(key)]
	if !ok {
		text = p.text(code, item.Addr)
		if branch {
			text = text[:strings.LastIndexByte(text, ' ')+1]
		}
		if len(p.known) >= maxKnown {
			clear(p.known)
		}
		p.known[string(key)] = text
	}
	if branch {
		return fmt.Sprintf("%s%#x", text, item.Inst.Target)
	}
	return text
}

func (p *Printer) text(code []byte, addr uint64) string {
	if p.arch == isa.ARM64 {
		return textARM64(code, addr)
	}
	return textX86(p.arch, code, addr)
}

// displacement returns how many bytes the displacement of a direct x86 branch
// takes, 0 for one with prefixes, which are rare.
func displacement(code []byte) int {
	switch {
	case len(code) == 2 && (code[0] == 0xeb || code[0]&0xf0 == 0x70):
		return 1
	case len(code) == 5 && (code[0] == 0xe8 || code[0] == 0xe9):
		return 4
	case len(code) == 6 && code[0] == 0x0f && code[1]&0xf0 == 0x80:
		return 4
	}
	return 0
}

// relativeARM64 tells the instructions whose text depends on where they are:
// branches, adr and adrp, loads of literals.
func relativeARM64(inst Inst, code []byte) bool {
	w := binary.LittleEndian.Uint32(code)
	return inst.HasTarget || w&0x1f000000 == 0x10000000 || w&0x3b000000 == 0x18000000
}
