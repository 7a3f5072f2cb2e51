package disasm

import (
	"iter"

	"stackmill/stages/loadobject/insn"
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
			inst, err := Decode(arch, code, addr)
			if err != nil {
				inst = insn.Inst{Len: min(arch.Step(), len(code))}
			}
			if !yield(Item{addr, inst, err}) {
				return
			}
			code, addr = code[inst.Len:], addr+uint64(inst.Len)
		}
	}
}
