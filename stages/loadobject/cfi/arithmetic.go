package cfi

import "stackmill/stages/loadobject/dwop"

// compute runs an operation on the top one or two values of the stack.
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

// calculate runs an operation on two values; false for an unknown operation or a division by 0.
func calculate(op uint8, a, b uint64) (uint64, bool) {
	f := operations[op]
	if f == nil || b == 0 && (op == dwop.Div || op == dwop.Mod) {
		return 0, false
	}
	return f(a, b), true
}

// operations are the operations on two values. Div, Shra and comparisons are signed.
var operations = [256]func(a, b uint64) uint64{
	dwop.And:   func(a, b uint64) uint64 { return a & b },
	dwop.Or:    func(a, b uint64) uint64 { return a | b },
	dwop.Xor:   func(a, b uint64) uint64 { return a ^ b },
	dwop.Plus:  func(a, b uint64) uint64 { return a + b },
	dwop.Minus: func(a, b uint64) uint64 { return a - b },
	dwop.Mul:   func(a, b uint64) uint64 { return a * b },
	dwop.Div:   func(a, b uint64) uint64 { return uint64(int64(a) / int64(b)) },
	dwop.Mod:   func(a, b uint64) uint64 { return a % b },
	dwop.Shl:   func(a, b uint64) uint64 { return a << b },
	dwop.Shr:   func(a, b uint64) uint64 { return a >> b },
	dwop.Shra:  func(a, b uint64) uint64 { return uint64(int64(a) >> b) },
	dwop.Eq:    func(a, b uint64) uint64 { return bit(a == b) },
	dwop.Ne:    func(a, b uint64) uint64 { return bit(a != b) },
	dwop.Ge:    func(a, b uint64) uint64 { return bit(int64(a) >= int64(b)) },
	dwop.Gt:    func(a, b uint64) uint64 { return bit(int64(a) > int64(b)) },
	dwop.Le:    func(a, b uint64) uint64 { return bit(int64(a) <= int64(b)) },
	dwop.Lt:    func(a, b uint64) uint64 { return bit(int64(a) < int64(b)) },
}

func bit(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}
