package insn

// memoryRules are for loads and stores.
var memoryRules = []rule{
	{0xbf000000, 0x0c000000, (*Effect).structures},
	{0xbf000000, 0x0d000000, (*Effect).structure},
	{0x3f200000, 0x08000000, (*Effect).exclusive}, // also ldar, stlr
	{0x3fa00000, 0x08a00000, (*Effect).compareSwap},
	{0xbfa00000, 0x08200000, (*Effect).compareSwapPair},
	{0xbfa00000, 0x88200000, (*Effect).exclusivePair},
	{0x3b000000, 0x18000000, (*Effect).literal},
	{0x3f200c00, 0x19000000, (*Effect).unscaled}, // ldapur, stlur
	{0x3f200c00, 0x1d000800, (*Effect).unscaled}, // of vector registers
	{0x3b200c00, 0x19000400, (*Effect).copyMemory},
	{0xff200c00, 0x19200000, (*Effect).swapPair},
	{0xff200000, 0xd9200000, (*Effect).tags},
	{0x3a000000, 0x28000000, (*Effect).pair},
	{0x3b000000, 0x39000000, (*Effect).unsignedOffset},
	{0x3b200400, 0x38000400, (*Effect).indexed},
	{0x3b200400, 0x38000000, (*Effect).unscaled}, // also ldtr, sttr
	{0x3b200c00, 0x38200800, (*Effect).registerOffset},
	{0x3f200c00, 0x38200000, (*Effect).atomic},
	{0xff200400, 0xf8200400, (*Effect).authenticated},
}

// at adds an access to Rn + disp.
func (e *Effect) at(w word, disp int64, size int, load, store bool) *Access {
	e.Accesses = append(e.Accesses, Access{Base: w.regSP(5), Index: NoRegister, Disp: disp, Size: size, Load: load, Store: store})
	return &e.Accesses[len(e.Accesses)-1]
}

// update adds to Rn.
func (e *Effect) update(w word, n int64) {
	e.Base, e.Update = w.regSP(5), n
	e.write(e.Base)
}

// class is that of a value of n bytes in a vector register.
func class(n int) Class {
	if n >= 2 && n <= 8 {
		return Float
	}
	return Vector
}

// transfer is what a load or store of one register does, by its fields size, V and opc.
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

// single makes an access the one of a load or store of Rt.
func (e *Effect) single(w word, m Access) {
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
		e.Op, e.Source, e.Width = Store, w.reg(0), t.size
	}
}

// load makes a register the destination of a load.
func (e *Effect) load(to Register, width int) {
	if to != NoRegister {
		e.compute(Load, to, width)
	}
}

func (e *Effect) unsignedOffset(w word, _ uint64) {
	disp := int64(w.field(10, 12)) * int64(w.transfer().size)
	e.single(w, Access{Base: w.regSP(5), Index: NoRegister, Disp: disp})
}

func (e *Effect) unscaled(w word, _ uint64) {
	e.single(w, Access{Base: w.regSP(5), Index: NoRegister, Disp: w.signed(12, 9)})
}

// indexed does what adds the displacement to Rn: before the access or after it.
func (e *Effect) indexed(w word, _ uint64) {
	n := w.signed(12, 9)
	m := Access{Base: w.regSP(5), Index: NoRegister}
	if w.bit(11) {
		m.Disp = n
	}
	e.update(w, n)
	e.single(w, m)
}

// registerOffset does what adds Rm, or its lower half, to Rn.
func (e *Effect) registerOffset(w word, _ uint64) {
	m := Access{Base: w.regSP(5), Index: w.reg(16)}
	if m.Index != NoRegister {
		m.Scale = 1
		if w.bit(12) {
			m.Scale = uint8(w.transfer().size)
		}
	}
	e.single(w, m)
}

// literal does loads relative to the program counter.
func (e *Effect) literal(w word, addr uint64) {
	m := Access{Base: NoRegister, Index: NoRegister, Absolute: true, Load: true, Disp: int64(addr) + w.signed(5, 19)*4}
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

// pair does ldp, stp and their like.
func (e *Effect) pair(w word, _ uint64) {
	opc, load := w.field(30, 2), w.bit(22)
	n, scale := 4<<(opc>>1), int64(0)
	switch {
	case w.bit(26):
		n = 4 << opc
	case opc == 1 && !load: // stgp
		n, scale = 8, 16
	}
	if scale == 0 {
		scale = int64(n)
	}
	disp := w.signed(15, 7) * scale
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

// both adds the accesses of a pair of registers, Rt and another one.
func (e *Effect) both(w word, second Register, disp int64, n int, load bool) {
	e.Accesses = make([]Access, 0, 2)
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
		e.Op, e.Source, e.Second, e.Width = StorePair, first, second, n
	default:
		e.write(second)
		e.write(first)
		if first != NoRegister && second != NoRegister {
			e.compute(LoadPair, first, n)
			e.Second = second
		}
	}
}
