package disasm

import (
	"strconv"
	"strings"

	"stackmill/stages/loadobject/insn/arm64"
	"stackmill/stages/loadobject/insn/x86"
	"stackmill/stages/loadobject/isa"
)

// Printer disassembles like Text, but caches texts, since programs repeat few instructions
// many times. It is not safe for concurrent use.
type Printer struct {
	arch  isa.Arch
	known map[string]string // texts by bytes; for branches, texts before the target by bytes before the displacement
}

// maxKnown bounds a Printer's memory, to some 10 MB.
const maxKnown = 100_000

// NewPrinter returns a printer for an instruction set.
func NewPrinter(arch isa.Arch) *Printer {
	return &Printer{arch: arch, known: map[string]string{}}
}

// Text returns the text of an item of Walk, whose bytes are at the start of code.
func (p *Printer) Text(item *Item, code []byte) string {
	code = code[:item.Inst.Len]
	if item.Err != nil {
		return bytesText(code)
	}
	key, branch := code, false
	switch {
	case p.arch == isa.ARM64:
		if arm64.Relative(item.Inst, code) {
			return textOf(p.arch, code, item.Addr)
		}
	case item.Inst.HasTarget:
		n := x86.Displacement(code)
		if n == 0 {
			return textOf(p.arch, code, item.Addr)
		}
		key, branch = code[:len(code)-n], true
	}
	text, ok := p.known[string(key)]
	if !ok {
		text = textOf(p.arch, code, item.Addr)
		if branch {
			text = text[:strings.LastIndexByte(text, ' ')+1]
		}
		if len(p.known) >= maxKnown {
			clear(p.known)
		}
		p.known[string(key)] = text
	}
	if branch {
		return text + string(strconv.AppendUint([]byte("0x"), item.Inst.Target, 16))
	}
	return text
}
