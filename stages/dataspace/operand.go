package dataspace

import (
	"iter"
	"slices"

	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/types"
)

// operandTarget is what an operand accesses: an offset in a variable, or in an object of known type
// that a pointer points to.
type operandTarget struct {
	ok        bool
	typ       types.TypeNo
	variable  types.VariableNo // None if only the type is known
	offset    int64
	wholeOnly bool // the offset in the aggregate is unknown
	hint      types.Hint
	method    Method
}

// Details of the reason NotDetermined: why an operand shows no data object.
const (
	detailNoBase    = "no variable or type of the base register"
	detailStack     = "stack operation"
	detailStackSlot = "no variable in this part of the stack"
	detailConstant  = "no variable at this address of the load object"
	detailLiteral   = "constant without a name"
	detailThread    = "no thread-local variable at this place"
	detailCanary    = "stack protector"
	detailBeyond    = "outside of the type that its pointer points to"
	detailSize      = "the size of the type that its pointer points to is unknown"
	detailFit       = "the access does not fit the type that its pointer points to"
	detailSeveral   = "pointers of several types fit"
	detailDisagree  = "the data address is outside of what the code refers to"
)

// effectiveAddress returns the address of an access, given the values of its base and index
// registers.
func (f *function) effectiveAddress(a *insn.Access, base, index value) value {
	if a.Base == insn.NoRegister {
		base = value{kind: valueNumber}
	}
	var at value
	if a.Index == insn.NoRegister {
		at = f.types.plus(base, a.Disp)
	} else {
		at = f.types.sum(base, index, int64(a.Scale), a.Disp)
	}
	switch {
	case a.Thread && at.kind == valueNumber:
		at.kind = valueThread
	case a.Thread:
		return value{}
	case base.kind == valueNumber && at.kind == valueScalar: // an array at a known address
		if array := f.constantValue(at.offset); array.kind == valueAddress {
			return f.types.withIndex(array)
		}
	}
	return at
}

// addressOf returns the address of an access, given the registers in s.
func (f *function) addressOf(s *state, n int, a *insn.Access) value {
	return f.effectiveAddress(a, s.register(a.Base), s.register(a.Index))
}

// target returns the target of an operand (perf-data 17.1), or the reason why it is unknown.
func (f *function) target(s *state, n int, a *insn.Access) (operandTarget, string) {
	if f.types.Table == nil {
		return operandTarget{}, detailNoBase
	}
	at := f.addressOf(s, n, a)
	first, why := f.targetAt(s, n, a, at, false)
	if at.kind == valueFrame || at.kind == valueNumber {
		return first, why
	}
	first.method = f.methodOf(n, a, first.method)
	if first.ok && first.variable != types.None {
		return first, ""
	}
	c := candidates{types: f.types, use: f.use(s, n, a)}
	if !f.hasOffsetBase(s, n, a) {
		c.add(first, why)
	}
	for _, p := range f.variableValues[n] {
		switch {
		case p.computed && a.Index != insn.NoRegister:
			c.several = c.several || f.isContradicted(n, p)
		case p.register == int(a.Base):
			c.add(f.targetAt(s, n, a, f.effectiveAddress(a, p.value, s.register(a.Index)), true))
		case p.register == int(a.Index) && a.Scale == 1:
			c.add(f.targetAt(s, n, a, f.effectiveAddress(a, s.register(a.Base), p.value), true))
		}
	}
	if !c.best.ok && a.Base >= 0 && a.Base < registers {
		for _, p := range f.upcomingValues(n, a.Base) {
			if !p.computed || a.Index == insn.NoRegister {
				c.add(f.targetAt(s, n, a, f.effectiveAddress(a, p.value, s.register(a.Index)), true))
			}
		}
	}
	return c.found()
}

// hasOffsetBase reports whether an access has an index, and its base (or index) register is only
// known to hold a variable's value minus an offset. This may be wrong: if a loop recomputes a
// pointer, Clang's debug information omits the index.
func (f *function) hasOffsetBase(s *state, n int, a *insn.Access) bool {
	return a.Index != insn.NoRegister && slices.ContainsFunc(f.variableValues[n], func(p registerValue) bool {
		return p.computed && (p.register == int(a.Base) || p.register == int(a.Index)) && p.value == s.register(insn.Register(p.register))
	})
}

// isContradicted reports whether another variable in p's register, which is not computed, has a
// type that contradicts p.
func (f *function) isContradicted(n int, p registerValue) bool {
	return slices.ContainsFunc(f.variableValues[n], func(q registerValue) bool {
		return q.register == p.register && !q.computed && f.types.contradict(q.value, p.value)
	})
}

// targetAt returns the target of an access at a known address, or the reason why the target is
// unknown. variable says that the address comes from a variable in a register.
func (f *function) targetAt(s *state, n int, a *insn.Access, at value, variable bool) (operandTarget, string) {
	switch at.kind {
	case valueNumber:
		return f.globalTarget(uint64(at.offset))
	case valueThread:
		return f.threadTarget(at.offset)
	case valueFrame:
		if v, off, ok := f.stackVariable(s, n, at); ok {
			return f.variableTarget(v, off, MethodStack), ""
		}
		if a.Implicit {
			return operandTarget{}, detailStack
		}
		return operandTarget{}, detailStackSlot
	case valueAddress:
		return f.pointedTarget(n, a, at, variable)
	}
	if a.Implicit {
		return operandTarget{}, detailStack
	}
	return operandTarget{}, detailNoBase
}

func (f *function) variableTarget(v types.VariableNo, offset int64, m Method) operandTarget {
	return operandTarget{ok: true, typ: f.types.Variables[v].Type, variable: v, offset: offset, method: m}
}

// globalTarget returns the variable at a link-time address.
func (f *function) globalTarget(at uint64) (operandTarget, string) {
	if v, off, ok := f.types.Global(at); ok {
		return f.variableTarget(v, off, MethodGlobal), ""
	}
	if f.object.isReadOnly(at) {
		return operandTarget{}, detailLiteral
	}
	return operandTarget{}, detailConstant
}

// threadTarget returns the thread-local variable at an offset from the thread pointer.
func (f *function) threadTarget(offset int64) (operandTarget, string) {
	if v, off, ok := f.types.Thread(f.object.threadAddress(offset)); ok {
		return f.variableTarget(v, off, MethodThread), ""
	}
	if f.object.isCanary(offset) {
		return operandTarget{}, detailCanary
	}
	return operandTarget{}, detailThread
}

// pointedTarget returns the target of an access through a pointer or to a variable's address.
func (f *function) pointedTarget(n int, a *insn.Access, at value, variable bool) (operandTarget, string) {
	if at.indexed && (at.variable == types.None || at.step != 0) {
		use := types.Use{Size: a.Size, Float: a.Class == insn.Float, Vector: a.Class == insn.Vector}
		if in, ok := f.types.resolveVariableIndex(at, use); ok {
			at = in
		} else {
			at.step = max(at.step, 1)
		}
	}
	r, why := f.checkBounds(at, variable)
	r.wholeOnly = at.step > 0
	if why == detailBeyond && at.variable == types.None {
		if c, ok := f.object.container(at, a, f.code[n].storesConstant()); ok {
			return c, ""
		}
	}
	return r, why
}

// methodOf returns MethodVariable if the base register of an access holds a variable, else m.
func (f *function) methodOf(n int, a *insn.Access, m Method) Method {
	if m != MethodRegister {
		return m
	}
	for _, p := range f.variableValues[n] {
		if p.register == int(a.Base) && p.value.kind == valueAddress {
			return MethodVariable
		}
	}
	return m
}

// checkBounds returns the target of an address, if it is inside the variable, or inside an element
// that the pointer may have been moved to.
func (f *function) checkBounds(at value, variable bool) (operandTarget, string) {
	t := f.types
	r := operandTarget{ok: true, typ: at.typ, variable: at.variable, offset: at.offset, method: MethodRegister}
	if variable {
		r.method = MethodVariable
	}
	x := &t.Types[t.Strip(at.typ)]
	inside := at.offset >= 0 && at.offset < x.Size
	if at.variable != types.None {
		global := t.isGlobal(at.variable)
		if global {
			r.method = MethodGlobal
		}
		if inside || x.Size < 0 || at.indexed {
			return r, ""
		}
		// Compilers may compute a variable's address from another variable's.
		if v, off, ok := t.Global(t.Variables[at.variable].Address + uint64(at.offset)); global && ok {
			return f.variableTarget(v, off, MethodGlobal), ""
		}
		return operandTarget{}, detailBeyond
	}
	switch {
	case x.Kind == types.Array:
		if size := t.Types[t.element(at.typ)].Size; size > 0 {
			r.offset = modulo(at.offset, size)
		}
	case x.Size <= 0:
		return operandTarget{}, detailSize
	case inside:
	case at.offset > 0 && len(t.Descend(at.typ, at.offset, types.Use{})) > 1: // a flexible array member
	case x.Kind.Aggregate() && !at.indexed:
		return operandTarget{}, detailBeyond // the access is in an enclosing object, or in the next element
	default:
		r.offset = modulo(at.offset, x.Size)
	}
	return r, ""
}

func (t typeTable) isGlobal(v types.VariableNo) bool {
	w := &t.Variables[v]
	at, off, ok := t.Global(w.Address)
	return ok && at == v && off == 0
}

// places iterates over the variables that debug information describes at an instruction, with their
// places (registers or memory), inner scopes first.
func (f *function) places(n int) iter.Seq2[types.VariableNo, *types.Place] {
	return func(yield func(types.VariableNo, *types.Place) bool) {
		t, pc := f.types, f.code[n].address
		for _, scope := range f.scopes[n] {
			for v := t.Scopes[scope].First; v < t.Scopes[scope].End(); v++ {
				for p := t.Variables[v].First; p < t.Variables[v].First+t.Variables[v].Places; p++ {
					if place := &t.Places[p]; place.Low <= pc && pc < place.High && !yield(v, place) {
						return
					}
				}
			}
		}
	}
}

// stackVariable returns the variable or parameter at an address of the stack, and the offset in it.
func (f *function) stackVariable(s *state, n int, at value) (variable types.VariableNo, in int64, ok bool) {
	t, base := f.types, f.frameBase(s, n)
	for v, place := range f.places(n) {
		start := f.stackAddress(s, base, place)
		if start.kind != valueFrame || start.origin != at.origin {
			continue
		}
		length := t.Types[t.Strip(t.Variables[v].Type)].Size
		if place.PieceSize > 0 {
			length = place.PieceSize
		}
		if in := at.offset - start.offset; in >= 0 && in < max(length, 1) {
			return v, place.Piece + in, true
		}
	}
	return 0, 0, false
}

// stackAddress returns the stack address at which a variable's place is, unknown if it is not on
// the stack. base is the frame base.
func (f *function) stackAddress(s *state, base value, p *types.Place) value {
	switch p.Kind {
	case types.AtCFA:
		return value{kind: valueFrame, offset: p.Offset}
	case types.AtRegister:
		return f.types.plus(s.register(insn.Register(p.Register)), p.Offset)
	case types.AtFrame:
		return f.types.plus(base, p.Offset)
	}
	return value{}
}

// frameBase returns the DWARF frame base at an instruction. Variables' places on the stack may be
// relative to it.
func (f *function) frameBase(s *state, n int) value {
	pc, scopes := f.code[n].address, f.scopes[n]
	if len(scopes) == 0 {
		return value{}
	}
	for _, p := range f.types.Scopes[scopes[len(scopes)-1]].FrameBase {
		if pc < p.Low || pc >= p.High {
			continue
		}
		if p.Kind == types.InRegister {
			p.Kind, p.Offset = types.AtRegister, 0
		}
		if p.Kind == types.AtFrame {
			return value{}
		}
		return f.stackAddress(s, value{}, &p)
	}
	return value{}
}

// storedPointer returns the address of a variable, if debug information says that the stack slot at
// `at` holds it.
func (f *function) storedPointer(s *state, n int, at value) (value, bool) {
	if !f.hasPointerSlots {
		return value{}, false
	}
	base := f.frameBase(s, n)
	for v, stored := range f.places(n) {
		place := *stored
		switch place.Kind {
		case types.PointedFrame:
			place.Kind = types.AtFrame
		case types.PointedRegister:
			place.Kind = types.AtRegister
		default:
			continue
		}
		if at == f.stackAddress(s, base, &place) {
			return value{kind: valueAddress, typ: f.types.Variables[v].Type, variable: v}, true
		}
	}
	return value{}, false
}
