package cfi

import "stackmill/stages/loadobject/dwop"

// compute runs the operations on the one or two numbers on top of the stack.
func (e *evaluation) compute(op uint8) bool {
	a := e.pop()
	switch op {
	case dwop.Abs:
		if int64(a) < 0 {
			a = -a
		}
		return e.push(a)
	case dwop.Neg:
		return e.push(-a)
	case dwop.Not:
		return e.push(^a)
	}
	b := a
	a = e.pop()
	if v, ok := calculate(op, a, b); ok {
		return e.push(v)
	}
	v, ok := compare(op, int64(a), int64(b))
	if !ok {
		return false
	}
	if v {
		return e.push(1)
	}
	return e.push(0)
}

// calculate computes a number of two, false for other operations and for
// divisions by 0. Div and Shra are signed.
func calculate(op uint8, a, b uint64) (uint64, bool) {
	switch op {
	case dwop.And:
		return a & b, true
	case dwop.Or:
		return a | b, true
	case dwop.Xor:
		return a ^ b, true
	case dwop.Plus:
		return a + b, true
	case dwop.Minus:
		return a - b, true
	case dwop.Mul:
		return a * b, true
	case dwop.Div:
		if b != 0 {
			return uint64(int64(a) / int64(b)), true
		}
	case dwop.Mod:
		if b != 0 {
			return a % b, true
		}
	case dwop.Shl:
		return a << b, true
	case dwop.Shr:
		return a >> b, true
	case dwop.Shra:
		return uint64(int64(a) >> b), true
	}
	return 0, false
}

// compare compares two numbers, false for other operations.
func compare(op uint8, a, b int64) (v, ok bool) {
	switch op {
	case dwop.Eq:
		return a == b, true
	case dwop.Ne:
		return a != b, true
	case dwop.Ge:
		return a >= b, true
	case dwop.Gt:
		return a > b, true
	case dwop.Le:
		return a <= b, true
	case dwop.Lt:
		return a < b, true
	}
	return false, false
}
