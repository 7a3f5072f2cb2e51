package arm64

import (
	"cmp"

	"stackmill/stages/loadobject/insn"
)

// memoryRules are for loads and stores.
var memoryRules = []rule{
	{0xbf000000, 0x0c000000, (*effect).structures},
	{0xbf000000, 0x0d000000, (*effect).structure},
	{0x3f200000, 0x08000000, (*effect).exclusive}, // also ldar, stlr
	{0x3fa00000, 0x08a00000, (*effect).compareSwap},
	{0xbfa00000, 0x08200000, (*effect).compareSwapPair},
	{0xbfa00000, 0x88200000, (*effect).exclusivePair},
	{0x3b000000, 0x18000000, (*effect).literal},
	{0x3f200c00, 0x19000000, (*effect).unscaled}, // ldapur, stlur
	{0x3f200c00, 0x1d000800, (*effect).unscaled}, // of vector registers
	{0x3b200c00, 0x19000400, (*effect).copyMemory},
	{0xff200c00, 0x19200000, (*effect).swapPair},
	{0xff200000, 0xd9200000, (*effect).tags},
	{0x3a000000, 0x28000000, (*effect).pair},
	{0x3b000000, 0x39000000, (*effect).unsignedOffset},
	{0x3b200400, 0x38000400, (*effect).indexed},
	{0x3b200400, 0x38000000, (*effect).unscaled}, // also ldtr, sttr
	{0x3b200c00, 0x38200800, (*effect).registerOffset},
	{0x3f200c00, 0x38200000, (*effect).atomic},
	{0xff200400, 0xf8200400, (*effect).authenticated},
}

// at adds an access at register Rn + disp.
func (e *effect) at(w word, disp int64, size int, load, store bool) *insn.Access {
	e.Accesses = append(e.Accesses, insn.Access{Base: w.regSP(5), Index: insn.NoRegister, Disp: disp, Size: size, Load: load, Store: store})
	return &e.Accesses[len(e.Accesses)-1]
}

// update records that the instruction adds n to register Rn.
func (e *effect) update(w word, n int64) {
	e.Base, e.Update = w.regSP(5), n
	e.Write(e.Base)
}

// class returns the class of a value of n bytes that is in a vector register.
func class(n int) insn.Class {
	if n >= 2 && n <= 8 {
		return insn.Float
	}
	return insn.Vector
}

// transfer is a load or store of one register, decoded from the fields size, V and opc.
type transfer struct {
	size  int // bytes moved
	width int // bytes of the register that are defined
	load  bool
	float bool
	none  bool // a prefetch
}

func (w word) transfer() transfer {
	size, opc := w.field(30, 2), w.field(22, 2)
	if w.bit(26) {
		size |= opc >> 1 << 2
		return transfer{size: 1 << size, load: opc&1 != 0, float: true}
	}
	t := transfer{size: 1 << size, width: 4, load: opc != 0}
	switch {
	case size == 3 && opc >= 2:
		t.none = true
	case size == 3 || opc == 2:
		t.width = 8
	}
	return t
}

// single adds access m of an instruction that loads or stores register Rt, and sets the operation.
func (e *effect) single(w word, m insn.Access) {
	t := w.transfer()
	if t.none {
		return
	}
	m.Size, m.Load, m.Store = t.size, t.load, !t.load
	if t.float {
		m.Class = class(t.size)
	}
	e.Accesses = append(e.Accesses, m)
	switch {
	case t.float:
	case t.load:
		e.load(w.reg(0), t.width)
	default:
		e.Op, e.Source, e.Width = insn.Store, w.reg(0), t.size
	}
}

// load makes a register the destination of a load.
func (e *effect) load(to insn.Register, width int) {
	if to != insn.NoRegister {
		e.Compute(insn.Load, to, width)
	}
}

func (e *effect) unsignedOffset(w word, _ uint64) {
	disp := int64(w.field(10, 12)) * int64(w.transfer().size)
	e.single(w, insn.Access{Base: w.regSP(5), Index: insn.NoRegister, Disp: disp})
}

func (e *effect) unscaled(w word, _ uint64) {
	e.single(w, insn.Access{Base: w.regSP(5), Index: insn.NoRegister, Disp: w.signed(12, 9)})
}

// indexed handles pre- and post-indexed accesses, which add the displacement to Rn.
func (e *effect) indexed(w word, _ uint64) {
	n := w.signed(12, 9)
	m := insn.Access{Base: w.regSP(5), Index: insn.NoRegister}
	if w.bit(11) {
		m.Disp = n
	}
	e.update(w, n)
	e.single(w, m)
}

// registerOffset handles accesses at Rn + Rm, or Rn + the lower half of Rm.
func (e *effect) registerOffset(w word, _ uint64) {
	m := insn.Access{Base: w.regSP(5), Index: w.reg(16)}
	if m.Index != insn.NoRegister {
		m.Scale = 1
		if w.bit(12) {
			m.Scale = uint8(w.transfer().size)
		}
	}
	e.single(w, m)
}

// literal handles loads relative to the program counter.
func (e *effect) literal(w word, addr uint64) {
	m := insn.Access{Base: insn.NoRegister, Index: insn.NoRegister, Absolute: true, Load: true, Disp: int64(addr) + w.signed(5, 19)*4}
	opc := w.field(30, 2)
	switch {
	case w.bit(26):
		m.Size = 4 << opc
		m.Class = class(m.Size)
	case opc == 3: // prfm
		return
	case opc == 1:
		m.Size = 8
	default:
		m.Size = 4
	}
	e.Accesses = append(e.Accesses, m)
	if !w.bit(26) {
		e.load(w.reg(0), 4<<min(opc, 1))
	}
}

// pair handles ldp, stp and similar instructions.
func (e *effect) pair(w word, _ uint64) {
	opc, load := w.field(30, 2), w.bit(22)
	n, scale := 4<<(opc>>1), int64(0)
	switch {
	case w.bit(26):
		n = 4 << opc
	case opc == 1 && !load: // stgp
		n, scale = 8, 16
	}
	disp := w.signed(15, 7) * cmp.Or(scale, int64(n))
	mode := w.field(23, 2)
	if mode&1 != 0 {
		e.update(w, disp)
	}
	if mode == 1 { // post-indexed
		disp = 0
	}
	e.both(w, w.reg(10), disp, n, load)
	if opc == 1 && load && !w.bit(26) { // ldpsw
		e.Width = 8
	}
}

// both adds the accesses for a pair of registers, Rt and second: of n bytes each, from disp on.
func (e *effect) both(w word, second insn.Register, disp int64, n int, load bool) {
	e.Accesses = make([]insn.Access, 0, 2)
	for i := range 2 {
		m := e.at(w, disp+int64(i*n), n, load, !load)
		if w.bit(26) {
			m.Class = class(n)
		}
	}
	first := w.reg(0)
	switch {
	case w.bit(26):
	case !load:
		e.Op, e.Source, e.Second, e.Width = insn.StorePair, first, second, n
	default:
		e.Write(second)
		e.Write(first)
		if first != insn.NoRegister && second != insn.NoRegister {
			e.Compute(insn.LoadPair, first, n)
			e.Second = second
		}
	}
}
