package disasm

import (
	"stackmill/stages/loadobject/insn/arm64"
	"stackmill/stages/loadobject/isa"
)

// Printer disassembles in the syntax of the GNU tools (AT&T for x86). It caches texts, because
// programs repeat few instructions many times. It is not safe for concurrent use.
//
// The text is for people, not for programs. Instructions that golang.org/x/arch does not
// know, including many newer extensions, and bytes that are not an instruction are printed as
// bytes, such as `.byte 0xf3,0x0f,0xc7,0xf8` or `.inst 0x04e00c41`.
type Printer struct {
	arch  isa.Arch
	known map[string]string // texts by bytes, unless they depend on the address
}

// maxKnown bounds a Printer's cache: it takes some 10 MB.
const maxKnown = 100_000

// NewPrinter returns a printer for an instruction set.
func NewPrinter(arch isa.Arch) *Printer {
	return &Printer{arch: arch, known: map[string]string{}}
}

// Text returns the text of an item of Walk, whose bytes are at the start of code.
func (p *Printer) Text(item *Item, code []byte) string {
	code = code[:item.Inst.Len]
	switch {
	case item.Err != nil:
		return bytesText(code)
	case item.Inst.HasTarget, p.arch == isa.ARM64 && arm64.Relative(code):
		return textOf(p.arch, code, item.Addr)
	}
	text, ok := p.known[string(code)]
	if !ok {
		if len(p.known) >= maxKnown {
			clear(p.known)
		}
		text = textOf(p.arch, code, item.Addr)
		p.known[string(code)] = text
	}
	return text
}
