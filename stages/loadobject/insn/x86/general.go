package x86

import "stackmill/stages/loadobject/insn"

// effectDecoder computes an instruction's effect from its action.
type effectDecoder struct {
	*decoder
	e    *insn.Effect
	a    action
	size int
	form form
	next uint64
}

func (w *effectDecoder) decode() {
	switch w.a.verb {
	case verbNone:
	case verbMove, verbAdd, verbSub, verbXor, verbChange, verbRead, verbChoose, verbInc, verbDec, verbBit, verbTestBit,
		verbShift, verbTimes:
		w.operate()
	case verbSet, verbMultiply, verbCompareExchange:
		w.set()
	case verbWiden:
		w.widen()
	case verbExchange:
		w.exchange()
	case verbAddress:
		w.address()
	case verbFromFixed, verbToFixed:
		w.fixed()
	case verbThread:
		w.e.Compute(insn.ThreadBase, w.rm().reg, w.size)
	case verbPush, verbPop, verbPushAll, verbPopAll, verbCall, verbReturn, verbEnter, verbLeave:
		w.stack()
	case verbString:
		w.strings()
	case verbTranslate:
		w.translate()
	case verbMove64:
		w.move64()
	}
}

type location struct {
	kind locationKind
	reg  insn.Register
}

type locationKind uint8

const (
	inMemory locationKind = iota
	inRegister
	inSecondByte // ah and the like
	inCode       // an immediate
)

// rm returns the operand that ModRM.rm selects; modrmReg returns the register in ModRM.reg, and
// opcodeReg the register in the opcode.
func (w *effectDecoder) rm() location {
	if w.memory != register {
		return location{inMemory, insn.NoRegister}
	}
	return w.inReg(w.modrm&7 | w.rex&1<<3)
}

func (w *effectDecoder) modrmReg() location  { return w.inReg(w.reg() | w.rex&4<<1) }
func (w *effectDecoder) opcodeReg() location { return w.inReg(w.op&7 | w.rex&1<<3) }

func (w *effectDecoder) inReg(n byte) location {
	if w.size == 1 && w.rex == 0 && n >= 4 {
		return location{inSecondByte, w.general(n - 4)}
	}
	return location{inRegister, w.general(n)}
}

// operands returns the destination and the source.
func (w *effectDecoder) operands() (to, from location) {
	constant := location{inCode, insn.NoRegister}
	switch w.a.dest {
	case 'G':
		return w.modrmReg(), w.rm()
	case 'A':
		return location{inRegister, w.general(numberAX)}, constant
	case 'O':
		return w.opcodeReg(), constant
	}
	if w.form&immMask != bare {
		return w.rm(), constant
	}
	return w.rm(), w.modrmReg()
}

// touch adds an access of size bytes to the memory operand.
func (w *effectDecoder) touch(size int, load, store bool) {
	m := w.access(w.next)
	m.Size, m.Load, m.Store = size, load, store
	w.e.Accesses = append(w.e.Accesses, m)
}

// operate handles instructions with two operands, at most one of them in memory.
func (w *effectDecoder) operate() {
	to, from := w.operands()
	verb := w.a.verb
	write := verb != verbRead && verb != verbTestBit
	switch {
	case to.kind == inMemory:
		w.touch(w.size, verb != verbMove, write)
		w.e.Accesses[0].Inexact = (verb == verbBit || verb == verbTestBit) && from.kind != inCode
	case from.kind == inMemory:
		w.touch(w.size, true, false)
	}
	if !write {
		return
	}
	w.e.Write(to.reg)
	if to.kind != inSecondByte && from.kind != inSecondByte {
		w.follow(to, from)
	}
}

// follow sets Op and its operands, if there is an Op for how the destination is computed.
func (w *effectDecoder) follow(to, from location) {
	e := w.e
	switch verb := w.a.verb; {
	case to.kind == inMemory:
		if verb == verbMove {
			e.Op, e.Source, e.Value, e.Width = insn.Store, from.reg, w.imm, w.size
		}
	case verb == verbMove && from.kind == inMemory:
		e.Compute(insn.Load, to.reg, w.size)
	case verb == verbMove && from.kind == inCode:
		e.Compute(insn.SetConst, to.reg, w.size)
		e.Value = w.imm
		if w.size < 8 {
			e.Value &= 1<<(8*w.size) - 1
		}
	case verb == verbMove:
		e.Compute(insn.Move, to.reg, w.size)
		e.Source = from.reg
	case verb == verbInc, verb == verbDec:
		w.addConst(to.reg, 1)
	case verb == verbChoose:
		e.Compute(insn.Choose, to.reg, w.size)
		e.Source = from.reg
	case (verb == verbAdd || verb == verbSub) && from.kind == inCode:
		w.addConst(to.reg, w.imm)
	case (verb == verbSub || verb == verbXor) && from == to:
		e.Compute(insn.SetConst, to.reg, w.size)
	case verb == verbAdd, verb == verbSub:
		e.Compute(insn.AddRegister, to.reg, w.size)
		e.Source, e.Scale = to.reg, 1
		if verb == verbSub {
			e.Scale = -1
		}
		if from.kind == inRegister {
			e.Second = from.reg
		}
	case verb == verbTimes:
		e.Compute(insn.AddRegister, to.reg, w.size)
		if e.Scale = w.imm; w.rm().kind == inRegister {
			e.Second = w.rm().reg
		}
	case verb == verbShift:
		n := int64(1)
		if from.kind == inCode {
			n = w.imm & int64(max(8*w.size, 32)-1)
		}
		e.Compute(insn.AddRegister, to.reg, w.size)
		e.Second, e.Scale = to.reg, 1<<n
	}
}

func (w *effectDecoder) addConst(r insn.Register, value int64) {
	if w.a.verb == verbSub || w.a.verb == verbDec {
		value = -value
	}
	w.e.Compute(insn.AddConst, r, w.size)
	w.e.Source, w.e.Value = r, value
}

// set handles instructions that write registers in a way that has no Op.
func (w *effectDecoder) set() {
	memory := w.memory != register
	switch w.a.dest {
	case 'E':
		if memory {
			w.touch(w.size, w.a.verb == verbCompareExchange, true)
		} else {
			w.e.Write(w.rm().reg)
		}
	case 'G':
		w.e.Write(w.modrmReg().reg)
		fallthrough
	case 'X':
		if memory {
			w.touch(w.size, true, w.a.verb == verbCompareExchange)
		}
	case 'O':
		w.e.Write(w.opcodeReg().reg)
	}
	for _, n := range implied[w.a.dest] {
		if n != numberDX || w.a.verb != verbMultiply || w.size > 1 {
			w.e.Write(w.general(n))
		}
	}
	if w.a.verb == verbCompareExchange {
		w.e.Write(w.general(numberAX))
	}
}

// implied maps the letters of destinations to the registers that are written without being
// operands.
var implied = [128][]byte{
	'A': {numberAX}, 'C': {numberCX}, 'D': {numberDX},
	'X': {numberAX, numberDX},
	'B': {numberAX, numberBX, numberCX, numberDX},
	'K': {numberAX, numberCX, 11}, // syscall saves the return address and the flags there
}

// widen handles movzx, movsx and movsxd, and the extension of the accumulator's lower half.
func (w *effectDecoder) widen() {
	if w.a.dest == 'A' {
		ax := w.general(numberAX)
		w.e.Write(ax)
		w.e.Compute(insn.Extend, ax, w.size)
		w.e.Source, w.e.Value = ax, int64(w.size/2)
		return
	}
	from := w.rm()
	of := w.size
	w.size = w.decoder.size('v')
	to := w.modrmReg().reg
	w.e.Write(to)
	switch {
	case from.kind == inMemory:
		w.touch(of, true, false)
		w.e.Compute(insn.Load, to, w.size)
	case from.kind == inRegister && of >= w.size:
		w.e.Compute(insn.Move, to, w.size)
		w.e.Source = from.reg
	case from.kind == inRegister:
		w.e.Compute(insn.Extend, to, w.size)
		w.e.Source, w.e.Value = from.reg, int64(of)
	}
}

// exchange handles xchg and xadd.
func (w *effectDecoder) exchange() {
	to, from := w.operands()
	if w.a.dest == 'O' {
		if w.rex&1 == 0 && w.op == 0x90 { // pause
			return
		}
		from = location{inRegister, w.general(numberAX)}
	}
	if to.kind == inMemory {
		w.touch(w.size, true, true)
	}
	w.e.Write(to.reg)
	w.e.Write(from.reg)
}

// address handles lea.
func (w *effectDecoder) address() {
	m, to := w.access(w.next), w.modrmReg().reg
	e := w.e
	e.Write(to)
	op := insn.AddRegister
	switch {
	case w.memory != computed:
		op = insn.SetConst
	case m.Index == insn.NoRegister:
		op = insn.AddConst
	}
	e.Compute(op, to, min(w.size, w.addressSize()))
	if e.Value = m.Disp; op == insn.SetConst {
		return
	}
	e.Source = m.Base
	if op == insn.AddRegister {
		e.Second, e.Scale = m.Index, int64(m.Scale)
	}
}

// fixed handles mov between the accumulator and an address in the instruction.
func (w *effectDecoder) fixed() {
	address := w.imm
	if n := w.addressSize(); n < 8 {
		address &= 1<<(8*n) - 1
	}
	load := w.a.verb == verbFromFixed
	w.e.Accesses = append(w.e.Accesses, insn.Access{Base: insn.NoRegister, Index: insn.NoRegister, Absolute: !w.segment, Thread: w.segment,
		Disp: address, Size: w.size, Load: load, Store: !load})
	ax := w.general(numberAX)
	if !load {
		w.e.Op, w.e.Source, w.e.Width = insn.Store, ax, w.size
		return
	}
	w.e.Write(ax)
	w.e.Compute(insn.Load, ax, w.size)
}
