package dataspace

import (
	"math"
	"sort"

	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/insn/disasm"
	"stackmill/stages/loadobject/isa"
	"stackmill/stages/loadobject/types"
)

// function is the decoded machine code of a function, with link-time addresses.
type function struct {
	object          *loadObject
	address         uint64
	offset          uint64 // offset in the file of the first byte
	raw             []byte
	code            []instruction
	targets         map[uint64]bool // targets of direct jumps within the function
	types           typeTable
	knownValues                       // set once the function is prepared
	isEntry         bool              // callers call it: it is not a part of another function
	hasPointerSlots bool              // debug information says that stack slots hold addresses of variables
	blocks          []basicBlock      // nil until needed
	slotLimit       int               // number of stack slots in a state
	analyses        int               // number of calls of analyze
	writers         *[registers]int32 // nil until needed
}

// knownValues holds, for each instruction, what debug information and call frame information say
// about registers there.
type knownValues struct {
	scopes         [][]types.ScopeNo // the scopes around it, the innermost first
	variableValues [][]registerValue // the values of registers
	trustedValues  [][]registerValue // at most one of variableValues for each register
	cfaBases       []registerValue   // the register from which the CFA is computed
}

type instruction struct {
	address uint64
	valid   bool
	insn.Effect
}

// disassemble decodes a function's code.
func disassemble(o *loadObject, code []byte, arch isa.Arch, address, offset uint64) *function {
	f := &function{object: o, address: address, offset: offset, raw: code, targets: map[uint64]bool{}}
	end := address + uint64(len(code))
	for at := address; at < end; {
		i := instruction{address: at}
		var err error
		if i.Effect, err = disasm.Effects(arch, code[at-address:], at); err == nil {
			i.valid = true
		} else {
			i.Effect = insn.Effect{Inst: insn.Inst{Len: 1}, Written: ^uint64(0), Dest: insn.NoRegister, Base: insn.NoRegister}
			if arch == isa.ARM64 {
				i.Len = 4
			}
		}
		f.code = append(f.code, i)
		if i.HasTarget && i.Kind != insn.Call && i.Target-address < uint64(len(code)) {
			f.targets[i.Target] = true
		}
		at += uint64(i.Len)
	}
	return f
}

// at returns the index of the instruction at an address.
func (f *function) at(address uint64) (int, bool) {
	n := sort.Search(len(f.code), func(i int) bool { return f.code[i].address >= address })
	return n, n < len(f.code) && f.code[n].address == address
}

// storesConstant reports whether the instruction stores an immediate that may be an integer or a
// floating-point number. A small integer other than 0 is taken for an integer: as a floating-point
// number it would be denormal.
func (x *instruction) storesConstant() bool {
	if x.Op != insn.Store || x.Source != insn.NoRegister || len(x.Accesses) == 0 {
		return false
	}
	switch v := x.Value; x.Accesses[0].Size {
	case 4:
		f := math.Float32frombits(uint32(v))
		return f == 0 || math.Abs(float64(f)) >= 0x1p-126
	case 8:
		f := math.Float64frombits(uint64(v))
		return f == 0 || math.Abs(f) >= 0x1p-1022
	}
	return false
}

func endsBlock(k insn.Kind) bool {
	return k == insn.Jump || k == insn.CondJump || k == insn.Return || k == insn.Trap
}

// prepare sets knownValues from debug information and call frame information.
func (f *function) prepare() {
	if f.variableValues == nil {
		f.findVariableValues()
		f.findCFABases()
	}
}

// findCFABases sets cfaBases from the call frame information.
func (f *function) findCFABases() {
	f.cfaBases = make([]registerValue, len(f.code))
	if f.object.frames == nil {
		return
	}
	for i := range f.code {
		if r, add, ok := f.object.frames.CFA(f.offset + (f.code[i].address - f.address)); ok && r < registers {
			f.cfaBases[i] = registerValue{register: int(r), value: value{kind: valueFrame, offset: -add}}
		}
	}
}
