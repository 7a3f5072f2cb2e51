package cfi

// Bounds of expressions: of the operations for one stack, of which compilers use
// some ten in a frame, and of the operands of one expression.
const (
	maxSteps = 32 * MaxFrames
	maxStack = 64
)

// expression computes expression number n (DWARF 5, 2.5). Its stack begins with
// the CFA for rules of registers, empty for the CFA's own. It is false when the
// expression is damaged, or needs a register or memory that is not known.
func (w *Walker) expression(t *Table, n int32, cfa uint64, withCFA bool) (uint64, bool) {
	e := evaluation{w: w, t: t, stack: w.operands[:0], r: reader{b: t.programs[n], order: t.order}}
	if withCFA {
		e.push(cfa)
	}
	for ; e.r.left() > 0; w.steps++ {
		if w.steps >= maxSteps || !e.step() || e.failed || e.r.short {
			return 0, false
		}
	}
	v := e.pop()
	return v, !e.failed
}

// evaluation is an expression while it is computed.
type evaluation struct {
	w      *Walker
	t      *Table
	r      reader
	stack  []uint64
	failed bool // the stack ran over or empty
}

func (e *evaluation) push(v uint64) bool {
	if len(e.stack) == maxStack {
		e.failed = true
		return false
	}
	e.stack = append(e.stack, v)
	return true
}

func (e *evaluation) pop() uint64 {
	n := len(e.stack) - 1
	if n < 0 {
		e.failed = true
		return 0
	}
	v := e.stack[n]
	e.stack = e.stack[:n]
	return v
}

// pick pushes what stands a number of places below the top.
func (e *evaluation) pick(depth int) bool {
	n := len(e.stack) - 1 - depth
	return n >= 0 && e.push(e.stack[n])
}

// register pushes a register's value plus an offset.
func (e *evaluation) register(n uint64, offset int64) bool {
	if n >= NumRegisters || e.w.regs.Known>>n&1 == 0 {
		return false
	}
	return e.push(e.w.regs.Value[n] + uint64(offset))
}

// load pushes what stands in memory, of a size in bytes.
func (e *evaluation) load(address uint64, size uint8) bool {
	var v uint64
	ok := size >= 1 && size <= 8
	if !ok {
		return false
	}
	word, read := e.w.memory(address, int(size))
	for i, b := range word {
		if e.w.big {
			v = v<<8 | uint64(b)
		} else {
			v |= uint64(b) << (8 * i)
		}
	}
	return read && e.push(v)
}

func (e *evaluation) step() bool {
	op := e.r.u8()
	switch {
	case op >= 0x30 && op <= 0x4f: // lit
		return e.push(uint64(op - 0x30))
	case op >= 0x70 && op <= 0x8f: // breg
		return e.register(uint64(op-0x70), e.r.sleb())
	case op >= 0x08 && op <= 0x11:
		return e.constant(op)
	case op >= 0x12 && op <= 0x17 || op == 0x96:
		return e.move(op)
	}
	switch op {
	case 0x03: // addr
		return e.address()
	case 0x06: // deref
		return e.load(e.pop(), 8)
	case 0x94: // deref_size
		size := e.r.u8()
		return e.load(e.pop(), size)
	case 0x92: // bregx
		n := e.r.uleb()
		return e.register(n, e.r.sleb())
	case 0x28: // bra
		to := int16(e.r.u16())
		return e.pop() == 0 || e.jump(to)
	case 0x2f: // skip
		return e.jump(int16(e.r.u16()))
	case 0x19: // abs
		if v := int64(e.pop()); v < 0 {
			return e.push(uint64(-v))
		} else {
			return e.push(uint64(v))
		}
	case 0x1f:
		return e.push(-e.pop())
	case 0x20:
		return e.push(^e.pop())
	case 0x23: // plus_uconst
		v := e.r.uleb()
		return e.push(e.pop() + v)
	}
	b, a := e.pop(), e.pop()
	v, ok := binary2(op, a, b)
	return ok && e.push(v)
}

// constant runs const1u to consts.
func (e *evaluation) constant(op uint8) bool {
	switch op {
	case 0x08:
		return e.push(uint64(e.r.u8()))
	case 0x09:
		return e.push(uint64(int64(int8(e.r.u8()))))
	case 0x0a:
		return e.push(uint64(e.r.u16()))
	case 0x0b:
		return e.push(uint64(int64(int16(e.r.u16()))))
	case 0x0c:
		return e.push(uint64(e.r.u32()))
	case 0x0d:
		return e.push(uint64(int64(int32(e.r.u32()))))
	case 0x0e, 0x0f:
		return e.push(e.r.u64())
	case 0x10:
		return e.push(e.r.uleb())
	}
	return e.push(uint64(e.r.sleb()))
}

// move runs the operations that only move what is on the stack, and nop.
func (e *evaluation) move(op uint8) bool {
	n := len(e.stack)
	switch op {
	case 0x12: // dup
		return e.pick(0)
	case 0x13: // drop
		e.pop()
	case 0x14: // over
		return e.pick(1)
	case 0x15:
		return e.pick(int(e.r.u8()))
	case 0x16: // swap
		if n < 2 {
			return false
		}
		e.stack[n-1], e.stack[n-2] = e.stack[n-2], e.stack[n-1]
	case 0x17: // rot
		if n < 3 {
			return false
		}
		e.stack[n-1], e.stack[n-2], e.stack[n-3] = e.stack[n-2], e.stack[n-3], e.stack[n-1]
	}
	return true
}

// address pushes a link-time address as it was at run time.
func (e *evaluation) address() bool {
	linked, ok := e.t.address(e.w.code.offset)
	return ok && e.push(e.r.u64()+e.w.code.lookup-linked)
}

func (e *evaluation) jump(by int16) bool {
	to := e.r.at + int(by)
	if to < 0 || to > len(e.r.b) {
		return false
	}
	e.r.at = to
	return true
}

// binary2 computes the operations on two numbers; comparisons are signed.
func binary2(op uint8, a, b uint64) (uint64, bool) {
	truth := func(v bool) (uint64, bool) {
		if v {
			return 1, true
		}
		return 0, true
	}
	switch op {
	case 0x1a:
		return a & b, true
	case 0x1b: // div
		if b == 0 {
			return 0, false
		}
		return uint64(int64(a) / int64(b)), true
	case 0x1c:
		return a - b, true
	case 0x1d: // mod
		if b == 0 {
			return 0, false
		}
		return a % b, true
	case 0x1e:
		return a * b, true
	case 0x21:
		return a | b, true
	case 0x22:
		return a + b, true
	case 0x24:
		return a << b, true
	case 0x25:
		return a >> b, true
	case 0x26: // shra
		return uint64(int64(a) >> b), true
	case 0x27:
		return a ^ b, true
	case 0x29:
		return truth(a == b)
	case 0x2a:
		return truth(int64(a) >= int64(b))
	case 0x2b:
		return truth(int64(a) > int64(b))
	case 0x2c:
		return truth(int64(a) <= int64(b))
	case 0x2d:
		return truth(int64(a) < int64(b))
	case 0x2e:
		return truth(a != b)
	}
	return 0, false
}
