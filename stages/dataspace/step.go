package dataspace

import (
	"math/bits"

	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/types"
)

// applyKnown sets the registers whose values debug information gives at an instruction, whatever
// ran before: the register from which the CFA is computed, and those that hold variables.
func (f *function) applyKnown(s *state, n int) {
	if b := &f.cfaBases[n]; b.value.kind == valueFrame {
		s.registers[b.register] = b.value
	}
	for _, p := range f.trustedValues[n] {
		if p.value.kind == valueUnknown { // variables contradict each other
			s.registers[p.register] = value{}
		} else {
			s.registers[p.register] = f.types.moreSpecific(p.value, s.registers[p.register])
		}
	}
}

// moreSpecific chooses between a variable's value by its declared type and the tracked value. The
// tracked one may say more: that a pointer to a scalar points into a structure.
func (t typeTable) moreSpecific(declared, tracked value) value {
	switch {
	case declared.kind == valueUnknown || tracked.kind == valueFrame || declared.kind == valueScalar && tracked.kind == valueNumber:
		return tracked
	case declared.kind == valueScalar && tracked.kind == valueScalar:
		tracked.typ = declared.typ
		return tracked
	case declared.kind != valueAddress && tracked.kind == valueAddress:
		return tracked
	case declared.kind != valueAddress || tracked.kind != valueAddress || t.Types[declared.typ].Kind.Aggregate():
		return declared
	}
	use := types.Use{Size: int(t.Types[declared.typ].Size), Float: t.Types[declared.typ].Float}
	if way := t.Descend(tracked.typ, tracked.offset, use); len(way) > 0 && t.element(way[len(way)-1].Type) == declared.typ {
		return tracked
	}
	return declared
}

// step applies an instruction to a state (perf-data 17.2).
func (f *function) step(s *state, n int) {
	f.applyKnown(s, n)
	x := &f.code[n]
	if !x.valid {
		*s = state{}
		return
	}
	s.assignOrigin(x.Source, n)
	s.assignOrigin(x.Second, n)
	dest, second := f.results(s, n)
	var base value
	if x.Base != insn.NoRegister {
		base = f.types.plus(s.register(x.Base), x.Update)
	}
	f.store(s, n)
	f.clobber(s, n)
	if x.Kind == insn.Call {
		f.call(s, x)
	} else {
		s.put(x.Base, base)
	}
	if x.Op == insn.LoadPair {
		s.put(x.Second, second)
	}
	if x.Op != insn.Opaque && x.Op != insn.Store && !f.movesStack(x) {
		s.put(x.Dest, f.resultValue(n, dest))
	}
}

// assignOrigin gives an unknown integer in a register an origin. Values computed from it can then
// be compared.
func (s *state) assignOrigin(r insn.Register, n int) {
	if r < 0 || r >= registers {
		return
	}
	v := &s.registers[r]
	switch {
	case v.kind == valueUnknown, v.kind == valueNumber && v.step != 0, v.kind == valueScalar && v.integer().origin == unknownOrigin:
		*v = value{kind: valueScalar, typ: v.typ, offset: v.offset, step: max(v.step, 1), origin: unknownOrigin - 1 - int32(n)*registers - int32(r)}
	}
}

// results returns the values that an instruction loads or computes for its destination register
// and, if it loads two registers, for the second one.
func (f *function) results(s *state, n int) (dest, second value) {
	t, x := f.types, &f.code[n]
	switch x.Op {
	case insn.Move:
		dest = s.register(x.Source)
	case insn.Extend: // assume that the value did not overflow
		if dest = s.register(x.Source); dest.isAddress() || x.Value == 1 {
			dest = value{}
		}
	case insn.SetConst:
		dest = f.constantValue(x.Value)
	case insn.Load:
		if len(x.Accesses) > 0 {
			dest = f.loadValue(s, n, &x.Accesses[0])
		}
	case insn.LoadPair:
		if len(x.Accesses) > 1 {
			dest, second = f.loadValue(s, n, &x.Accesses[0]), f.loadValue(s, n, &x.Accesses[1])
		}
	case insn.ThreadBase:
		dest = value{kind: valueThread}
	case insn.AddConst:
		if dest = t.plus(s.register(x.Source), x.Value); dest.kind == valueNumber && dest.step == 0 {
			dest = f.constantValue(dest.offset)
		}
	case insn.AddRegister:
		dest = f.addRegisters(s, n)
	case insn.MultiplyAdd:
		dest = f.multiply(s, n)
	case insn.Choose:
		dest = f.chooseValue(s, n)
	}
	return dest, second
}

// resultValue returns what a register holds after an instruction put v into it.
func (f *function) resultValue(n int, v value) value {
	if f.code[n].Width < 8 && v.kind != valueNumber && v.kind != valueScalar && v.kind != valueFloat && !f.object.is32Bit {
		v = value{} // a part of an address is not an address
	}
	if v.kind == valueUnknown || v.kind == valueScalar && v.integer().origin == unknownOrigin {
		v = value{kind: valueScalar, typ: v.typ, offset: v.offset, step: max(v.step, 1), origin: int32(n) + 1}
	}
	return v
}

// clobber discards the values of the registers that an instruction writes.
func (f *function) clobber(s *state, n int) {
	x := &f.code[n]
	sp := f.object.stackPointer()
	aligned := s.registers[sp].kind == valueFrame && (x.Op == insn.Opaque || f.movesStack(x)) && x.Written == 1<<sp && len(x.Accesses) == 0
	for left := x.Written & (1<<registers - 1); left != 0; left &= left - 1 {
		r := bits.TrailingZeros64(left)
		// A register that is computed in an unknown way may hold any multiple of a number. But if
		// the register was 0, the instruction only sets a part of it.
		computed := x.Op == insn.Opaque && s.registers[r] != value{kind: valueNumber}
		if s.registers[r] = (value{}); computed {
			s.registers[r] = value{kind: valueScalar, step: 1}
		}
	}
	if aligned { // moves it by an unknown amount
		s.registers[sp] = value{kind: valueFrame, origin: int32(n) + 1}
	}
}

// movesStack reports whether an instruction moves the stack pointer by an unknown amount.
func (f *function) movesStack(x *instruction) bool {
	return x.Op == insn.AddRegister && x.Dest == insn.Register(f.object.stackPointer())
}

// addRegisters returns the sum of a register and either another register or memory.
func (f *function) addRegisters(s *state, n int) value {
	x := &f.code[n]
	a, b := value{kind: valueNumber}, s.register(x.Second)
	if x.Source != insn.NoRegister {
		a = s.register(x.Source)
	}
	switch {
	case x.Second == insn.NoRegister && len(x.Accesses) > 0:
		b = f.loadValue(s, n, &x.Accesses[0])
	case x.Source == x.Second && !a.isAddress():
		return f.types.sum(value{kind: valueNumber}, b, 1+x.Scale, x.Value)
	}
	return f.types.sum(a, b, x.Scale, x.Value)
}

// multiply returns the product of two registers plus a third one.
func (f *function) multiply(s *state, n int) value {
	x := &f.code[n]
	by, of, to := s.register(x.Source), s.register(x.Second), value{kind: valueNumber}
	if by.kind != valueNumber || by.step != 0 {
		by, of = of, by
	}
	if x.Addend != insn.NoRegister {
		to = s.register(x.Addend)
	}
	if by.kind != valueNumber || by.step != 0 || of.isAddress() {
		return f.types.sum(to, value{kind: valueScalar, step: 1}, 1, 0) // a multiple of an unknown value
	}
	return f.types.sum(to, of, by.offset*x.Scale, 0)
}

// chooseValue returns the result of a conditional move: either a register's value, or another
// register's or memory's.
func (f *function) chooseValue(s *state, n int) value {
	x := &f.code[n]
	other := s.register(x.Second)
	if x.Second == insn.NoRegister {
		other = s.register(x.Dest)
	}
	one := s.register(x.Source)
	if x.Source == insn.NoRegister && len(x.Accesses) > 0 {
		one = f.loadValue(s, n, &x.Accesses[0])
	}
	return f.types.merge(one, other)
}

// maxAhead bounds how many instructions after an access are searched for a variable in its base
// register: debug information may describe the variable only later.
const maxAhead = 64

// upcomingValues returns the variables' values that debug information has for register r only after
// instruction n, as long as r, or a register to which r is copied, keeps its content.
func (f *function) upcomingValues(n int, r insn.Register) (list []registerValue) {
	same := f.copies(n, r)
	for i := n; i < min(n+maxAhead, len(f.code)) && same != 0 && list == nil; i++ {
		x := &f.code[i]
		copied := x.Op == insn.Move && int64(x.Width) == f.object.word() && x.Source >= 0 && same>>x.Source&1 != 0
		same &^= x.Written
		if x.Kind == insn.Call {
			same &^= f.object.clobbered()
		}
		if copied {
			same |= 1 << x.Dest
		}
		if k := x.Kind; k == insn.Jump || k == insn.Return || k == insn.Trap || i+1 == len(f.code) {
			break
		}
		for _, p := range f.variableValues[i+1] {
			if same>>p.register&1 != 0 && p.value.kind == valueAddress {
				list = append(list, p)
			}
		}
	}
	return list
}

// copies returns, as bits, the registers that hold the same value as r before instruction n,
// because earlier instructions copied the value.
func (f *function) copies(n int, r insn.Register) uint64 {
	same := uint64(1) << r
	holders, written := same, uint64(0) // for the way back: registers that hold the value, and registers written since
	for i := n - 1; i >= 0 && n-i <= maxAhead && holders != 0 && !f.targets[f.code[i+1].address]; i-- {
		x := &f.code[i]
		if x.Kind != insn.Other && x.Kind != insn.Nop {
			break
		}
		if x.Op == insn.Move && int64(x.Width) == f.object.word() && x.Source >= 0 && x.Source < registers {
			from, to := uint64(1)<<x.Source, uint64(1)<<x.Dest
			if holders&to != 0 && written&from == 0 {
				same, holders = same|from, holders|from
			}
			if holders&from != 0 && written&to == 0 {
				same |= to
			}
		}
		written |= x.Written
		holders &^= x.Written
	}
	return same
}

// constantValue returns the value of a constant, which may be the address of a variable.
func (f *function) constantValue(n int64) value {
	if v, off, ok := f.global(uint64(n)); ok {
		return value{kind: valueAddress, typ: f.types.Variables[v].Type, variable: v, offset: off}
	}
	return value{kind: valueNumber, offset: n}
}

// global returns the variable at a link-time address.
func (f *function) global(at uint64) (variable types.VariableNo, offset int64, ok bool) {
	if f.types.Table == nil {
		return 0, 0, false
	}
	return f.types.Global(at)
}

// loadValue returns the value that an access loads.
func (f *function) loadValue(s *state, n int, a *insn.Access) value {
	t := f.types
	if a.Thread && a.Base == insn.NoRegister && a.Index == insn.NoRegister && a.Disp == 0 {
		return value{kind: valueThread} // the thread control block points to itself
	}
	at := f.addressOf(s, n, a)
	if at.kind == valueFrame {
		if v, ok := f.storedPointer(s, n, at); ok {
			return v
		}
	}
	var followed value
	if at.kind == valueFrame && !at.indexed {
		followed = s.slot(at)
	}
	root, _ := f.target(s, n, a)
	if root.ok {
		way := t.Descend(root.typ, root.offset, types.Use{Size: a.Size, Float: a.Class == insn.Float})
		if len(way) > 0 && t.beginsAt(way, root.offset) && (!root.wholeOnly || f.nextHasType(root, way[len(way)-1].Type, int64(a.Size))) {
			return t.moreSpecific(t.valueAt(root.typ, root.offset, int64(a.Size)), followed)
		}
	}
	if at.kind == valueNumber && f.object.isReadOnly(uint64(at.offset)) && (a.Size == 4 || a.Size == 8) {
		return value{kind: valueFloat} // compilers put no other constants into memory
	}
	return followed
}

// nextHasType reports whether the next member of an aggregate has the same type. Then it does not
// matter which of the two an index selects.
func (f *function) nextHasType(r operandTarget, typ types.TypeNo, size int64) bool {
	way := f.types.Descend(r.typ, r.offset+size, types.Use{Size: int(size)})
	return len(way) > 0 && way[len(way)-1].Type == typ
}

// store applies an instruction's writes to stack slots.
func (f *function) store(s *state, n int) {
	x := &f.code[n]
	for i := range x.Accesses {
		a := &x.Accesses[i]
		if !a.Store {
			continue
		}
		at := f.addressOf(s, n, a)
		if at.kind != valueFrame || at.indexed || x.Kind == insn.Call {
			continue
		}
		s.overwrite(at, a, f.object.word())
		v := value{}
		switch {
		case int64(a.Size) != f.object.word():
		case x.Op == insn.Store, x.Op == insn.StorePair && i == 0:
			v = s.register(x.Source)
		case x.Op == insn.StorePair:
			v = s.register(x.Second)
		}
		s.keep(at, v, f.slotLimit)
	}
}

// call discards the registers that a callee may change, and sets the register with the returned
// value.
func (f *function) call(s *state, x *instruction) {
	for left := f.object.clobbered(); left != 0; left &= left - 1 {
		s.registers[bits.TrailingZeros64(left)] = value{}
	}
	if f.types.Table == nil {
		return
	}
	s.registers[0] = f.types.value(f.object.returnType(x.Inst))
}
