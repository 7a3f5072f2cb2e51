package disasm

import (
	"iter"

	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/isa"
)

// Item is an instruction. With an Err from Decode, it is Inst.Len bytes that are not an
// instruction.
type Item struct {
	Addr uint64
	Inst insn.Inst
	Err  error
}

// Walk iterates over the instructions of code, which lies at addr, without gaps. After bytes that
// are not an instruction, it continues at the next byte (x86) or word (A64).
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

// At returns the first item of Walk. code must not be empty.
func At(arch isa.Arch, code []byte, addr uint64) Item {
	inst, err := Decode(arch, code, addr)
	if err != nil {
		inst = insn.Inst{Len: min(arch.Step(), len(code))}
	}
	return Item{addr, inst, err}
}

// Pass returns the total length of the items of Walk that begin less than distance bytes into code.
func Pass(arch isa.Arch, code []byte, distance uint64) (n uint64) {
	for n < min(distance, uint64(len(code))) {
		n += uint64(At(arch, code[n:], 0).Inst.Len)
	}
	return n
}

// Exits iterates over a function's calls, and over its jumps that leave the function or whose
// target is unknown. code begins with the function; it may end before the function does.
func Exits(arch isa.Arch, code []byte, addr, size uint64) iter.Seq[Item] {
	return func(yield func(Item) bool) {
		for i := range Walk(arch, code, addr) {
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
