package disasm

import (
	"iter"

	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/insn/x86"
	"stackmill/stages/loadobject/isa"
)

// Item is a step of Walk: an instruction, or Inst.Len bytes that are not one, with
// the error of Decode for them.
type Item struct {
	Addr uint64
	Inst insn.Inst
	Err  error
}

// Walk iterates over the instructions of code, which lies at addr, in order of
// address and without gaps. Where bytes are not an instruction, it goes on
// after one byte (x86) or word (A64).
func Walk(arch isa.Arch, code []byte, addr uint64) iter.Seq[Item] {
	return func(yield func(Item) bool) {
		for len(code) > 0 {
			i := At(arch, code, addr)
			if !yield(i) {
				return
			}
			code, addr = code[i.Inst.Len:], addr+uint64(i.Inst.Len)
		}
	}
}

// At is the first step of Walk. Code must not be empty.
func At(arch isa.Arch, code []byte, addr uint64) Item {
	inst, err := Decode(arch, code, addr)
	if err != nil {
		inst = insn.Inst{Len: min(arch.Step(), len(code))}
	}
	return Item{addr, inst, err}
}

// Pass returns how many bytes Walk passes, in whole steps, that begin before a distance.
func Pass(arch isa.Arch, code []byte, distance uint64) (n uint64) {
	for n < min(distance, uint64(len(code))) {
		length := 0
		if arch == isa.AMD64 {
			length = x86.Length(code[n:])
		}
		if length == 0 {
			i := At(arch, code[n:], 0)
			length = i.Inst.Len
		}
		n += uint64(length)
	}
	return n
}

// Exits iterates over the calls that Walk comes to in a function of a size, and the jumps
// that leave it or do not say where they go, much faster. Code begins with the function,
// and may end before it.
func Exits(arch isa.Arch, code []byte, addr, size uint64) iter.Seq[Item] {
	return func(yield func(Item) bool) {
		for at := uint64(0); at < uint64(len(code)); {
			if arch == isa.AMD64 {
				at += uint64(x86.Inside(code[at:], at, size))
			}
			i := At(arch, code[at:], addr+at)
			at += uint64(i.Inst.Len)
			switch i.Inst.Kind {
			case insn.Jump, insn.CondJump:
				if i.Inst.HasTarget && i.Inst.Target-addr < size {
					continue
				}
			case insn.Call:
			default:
				continue
			}
			if !yield(i) {
				return
			}
		}
	}
}
