package cfi

import "stackmill/stages/loadobject/dwop"

// compute runs an operation on the one or two values on top of the stack.
func (e *evaluator) compute(op uint8) bool {
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
	v, ok := calculate(op, e.pop(), a)
	return ok && e.push(v)
}

// calculate runs an operation on two values; false for other operations and for
// divisions by 0. Div, Shra and comparisons are signed.
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
	case dwop.Eq:
		return bit(a == b), true
	case dwop.Ne:
		return bit(a != b), true
	case dwop.Ge:
		return bit(int64(a) >= int64(b)), true
	case dwop.Gt:
		return bit(int64(a) > int64(b)), true
	case dwop.Le:
		return bit(int64(a) <= int64(b)), true
	case dwop.Lt:
		return bit(int64(a) < int64(b)), true
	}
	return 0, false
}

// bit returns 1 for true.
func bit(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}
