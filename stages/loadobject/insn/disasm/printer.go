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
	arch      isa.Arch
	known     map[string]string   // texts by bytes; for branches, texts before the target by bytes before the displacement
	templates map[string]template // by bytes without the displacement of a memory operand
	key       []byte              // scratch
}

// template is a text before and after a displacement.
type template struct{ before, after string }

// maxKnown bounds a Printer's memory, to some 10 MB.
const maxKnown = 100_000

// NewPrinter returns a printer for an instruction set.
func NewPrinter(arch isa.Arch) *Printer {
	return &Printer{arch: arch, known: map[string]string{}, templates: map[string]template{}}
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
		text = p.text(code, item.Addr)
		if branch {
			text = text[:strings.LastIndexByte(text, ' ')+1]
		}
		if len(p.known) >= maxKnown {
			clear(p.known)
			clear(p.templates)
		}
		p.known[string(key)] = text
	}
	if branch {
		return text + string(strconv.AppendUint([]byte("0x"), item.Inst.Target, 16))
	}
	return text
}

// text is textOf. The texts of instructions that differ only in the displacement of a memory operand
// also differ only in that.
func (p *Printer) text(code []byte, addr uint64) string {
	if p.arch != isa.AMD64 {
		return textOf(p.arch, code, addr)
	}
	at, size, disp := x86.MemoryDisplacement(code)
	if size == 0 {
		return textOf(p.arch, code, addr)
	}
	p.key = append(append(p.key[:0], code[:at]...), code[at+size:]...)
	value := number(disp)
	if known, ok := p.templates[string(p.key)]; ok {
		return known.before + value + known.after
	}
	text := textOf(p.arch, code, addr)
	if strings.Count(text, value+"(") == 1 {
		before, after, _ := strings.Cut(text, value+"(")
		p.templates[string(p.key)] = template{before, "(" + after}
	}
	return text
}

// number formats a displacement.
func number(value int32) string {
	if value < 0 {
		return "-0x" + strconv.FormatUint(uint64(-int64(value)), 16)
	}
	return "0x" + strconv.FormatUint(uint64(value), 16)
}
