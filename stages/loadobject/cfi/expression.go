package cfi

import (
	"stackmill/internal/bytereader"
	"stackmill/stages/loadobject/dwop"
)

// maxSteps bounds the operations of all expressions in one walk (compilers write some ten per
// frame), maxStack the operands of one expression.
const (
	maxSteps = 32 * MaxFrames
	maxStack = 64
)

// expression evaluates expression number n (DWARF 5 section 2.5). It starts with the CFA on the
// stack if withCFA is set: in rules for registers, not in the rule for the CFA itself. It returns
// false if the expression is damaged, or needs a register or memory whose content is unknown.
func (w *Walker) expression(t *Table, n int32, cfa uint64, withCFA bool) (uint64, bool) {
	p := t.programs[n]
	e := evaluator{w: w, t: t, stack: w.operands[:0], program: p, r: bytereader.New(p, t.order)}
	if withCFA {
		e.push(cfa)
	}
	for ; len(e.r.Rest) > 0; w.steps++ {
		if w.steps >= maxSteps || !e.step() || e.failed || e.r.Short {
			return 0, false
		}
	}
	v := e.pop()
	return v, !e.failed
}

// evaluator evaluates an expression.
type evaluator struct {
	w       *Walker
	t       *Table
	program []byte
	r       bytereader.Reader // the rest of the expression's program
	stack   []uint64
	failed  bool // stack overflow or underflow
}

func (e *evaluator) push(v uint64) bool {
	if len(e.stack) == maxStack {
		e.failed = true
		return false
	}
	e.stack = append(e.stack, v)
	return true
}

func (e *evaluator) pop() uint64 {
	n := len(e.stack) - 1
	if n < 0 {
		e.failed = true
		return 0
	}
	v := e.stack[n]
	e.stack = e.stack[:n]
	return v
}

// pick pushes a copy of the value at a depth below the top.
func (e *evaluator) pick(depth int) bool {
	n := len(e.stack) - 1 - depth
	return n >= 0 && e.push(e.stack[n])
}

// register pushes a register's value plus an offset.
func (e *evaluator) register(n uint64, offset int64) bool {
	if n >= NumRegisters || e.w.regs.Known>>n&1 == 0 {
		return false
	}
	return e.push(e.w.regs.Value[n] + uint64(offset))
}

// load pushes a value of size bytes from memory.
func (e *evaluator) load(address uint64, size uint8) bool {
	if size < 1 || size > 8 {
		return false
	}
	b, ok := e.w.memory(address, int(size))
	value := bytereader.Reader{Rest: b, Big: e.w.big}
	return ok && e.push(value.Uint(int(size)))
}

// step runs an operation.
func (e *evaluator) step() bool {
	op := e.r.U8()
	switch {
	case dwop.Lit0 <= op && op <= dwop.Lit31:
		return e.push(uint64(op - dwop.Lit0))
	case dwop.Breg0 <= op && op <= dwop.Breg31:
		return e.register(uint64(op-dwop.Breg0), e.r.SLEB())
	case dwop.Dup <= op && op <= dwop.Rot:
		return e.move(op)
	}
	switch op {
	case dwop.Nop:
		return true
	case dwop.Addr:
		return e.address()
	case dwop.Deref:
		return e.load(e.pop(), 8)
	case dwop.DerefSize:
		size := e.r.U8()
		return e.load(e.pop(), size)
	case dwop.Bregx:
		n := e.r.ULEB()
		return e.register(n, e.r.SLEB())
	case dwop.Bra:
		to := int16(e.r.U16())
		return e.pop() == 0 || e.jump(to)
	case dwop.Skip:
		return e.jump(int16(e.r.U16()))
	case dwop.PlusUconst:
		v := e.r.ULEB()
		return e.push(e.pop() + v)
	}
	if v, ok := dwop.Constant(op, &e.r); ok {
		return e.push(uint64(v))
	}
	return e.compute(op)
}

// move runs the operations that only rearrange the stack.
func (e *evaluator) move(op uint8) bool {
	n := len(e.stack)
	switch op {
	case dwop.Dup:
		return e.pick(0)
	case dwop.Drop:
		e.pop()
	case dwop.Over:
		return e.pick(1)
	case dwop.Pick:
		return e.pick(int(e.r.U8()))
	case dwop.Swap:
		if n < 2 {
			return false
		}
		e.stack[n-1], e.stack[n-2] = e.stack[n-2], e.stack[n-1]
	case dwop.Rot:
		if n < 3 {
			return false
		}
		e.stack[n-1], e.stack[n-2], e.stack[n-3] = e.stack[n-2], e.stack[n-3], e.stack[n-1]
	}
	return true
}

// address reads a link-time address and pushes the run-time address for it.
func (e *evaluator) address() bool {
	linked, ok := e.t.address(e.w.code.offset)
	return ok && e.push(e.r.U64()+e.w.code.lookup-linked)
}

func (e *evaluator) jump(by int16) bool {
	to := len(e.program) - len(e.r.Rest) + int(by)
	if to < 0 || to > len(e.program) {
		return false
	}
	e.r.Rest = e.program[to:]
	return true
}
