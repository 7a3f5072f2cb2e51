package x86

import "stackmill/stages/loadobject/insn"

// vectorEffect sets the effect of a vector instruction, or of another instruction with a VEX, EVEX
// or XOP prefix, which ends at next.
func (d *decoder) vectorEffect(e *insn.Effect, next uint64) {
	if letter := d.letter(); d.memory != register && letter != verbNone {
		d.move(e, letter, next)
	}
	if d.encoding == plain && d.number == 1 && d.op == 0xf7 && d.memory == register && d.pp <= pp66 { // maskmovdqu
		e.Accesses = []insn.Access{{Base: d.general(numberDI), Index: insn.NoRegister, Implicit: true, Size: 8 << d.pp, Class: insn.Vector, Store: true}}
	}
	d.vectorWrites(e)
}

// letter returns the instruction's letter in moves. It ignores a prefix that has no meaning for the
// opcode.
func (d *decoder) letter() byte {
	if int(d.number) >= len(moves) {
		return verbNone
	}
	pp := d.pp
	letter := moves[d.number][pp][d.op]
	if d.encoding != plain {
		return letter
	}
	if letter == verbNone && pp > pp66 && d.opSize {
		letter, pp = moves[d.number][pp66][d.op], pp66
	}
	if letter == verbNone {
		letter, pp = moves[d.number][ppNone][d.op], ppNone
	}
	if letter|0x20 == 'x' && pp == ppNone && (d.op >= 0x60 || d.number > 1) {
		return letter - 'x' + 'p' // on MMX registers
	}
	return letter
}

// move adds the access that a letter describes.
func (d *decoder) move(e *insn.Effect, letter byte, next uint64) {
	if d.number == 1 && d.op == 0xae { // vldmxcsr, vstmxcsr
		letter = 'd'
		if d.reg() == 3 {
			letter = 'D'
		}
	}
	lower := letter | 0x20
	size, class := d.sizeClass(lower)
	if d.number == 1 && (d.op == 0x6e || d.op == 0x7e || d.op == 0xd6) { // movd, movq
		class = insn.Vector
	}
	m := d.access(next)
	if d.encoding == evex && d.short {
		m.Disp += int64(d.disp) * int64(d.unit(lower, size)-1)
	}
	if d.memory == relative && (!d.long || d.adSize) {
		m.Disp &= 1<<32 - 1
	}
	m.Size, m.Class = size, class
	m.Load, m.Store = letter == lower, letter != lower || letter == 'u'
	if letter == 'z' || letter == 'Z' { // a tile: the index is the distance of its rows
		m.Inexact = d.encoding == vex && d.op == 0x4b
	}
	e.Accesses = append(e.Accesses, m)
}

// unit returns the number of bytes by which EVEX multiplies a displacement of one byte.
func (d *decoder) unit(letter byte, size int) int {
	if letter != 'c' {
		return max(size, 1)
	}
	element := d.element()
	if d.op < 0x70 { // bytes and words
		element /= 4
	}
	return element
}

// element returns the size of a vector's element, given by the bit W.
func (d *decoder) element() int {
	if d.rexW() {
		return 8
	}
	return 4
}

// sizeClass returns the size and class of the access that a letter of the table moves describes. The
// letter is lower case.
func (d *decoder) sizeClass(letter byte) (size int, class insn.Class) {
	switch letter {
	case 'm', 'u':
		if !d.long && !d.vectorIndex() {
			return 4, insn.Integer
		}
		return d.element(), insn.Integer
	case 'n':
		return maskSizes[d.pp&1][d.element()/8], insn.Integer
	case 'f':
		if d.encoding == vex && d.op == 0x2d { // vmaskmovpd
			return d.vectorLength(), insn.Vector
		}
		return d.element(), insn.Float
	case 'a':
		if d.length == 0 {
			return 8, insn.Float
		}
	}
	if x, ok := fixedOperands[letter]; ok {
		return x.size, x.class
	}
	return d.vectorSizeClass(letter)
}

// fixedOperands are the sizes and classes of the letters that do not depend on the instruction.
var fixedOperands = map[byte]struct {
	size  int
	class insn.Class
}{
	'b': {1, insn.Integer}, 'w': {2, insn.Integer}, 'd': {4, insn.Integer}, 'q': {8, insn.Integer},
	't': {2, insn.Float}, 's': {4, insn.Float}, 'r': {8, insn.Float}, 'l': {10, insn.Float},
	'p': {8, insn.Vector}, 'o': {16, insn.Vector}, 'y': {32, insn.Vector}, 'z': {0, insn.Vector},
}

// vectorLength returns the length of the instruction's vectors, in bytes.
func (d *decoder) vectorLength() int { return 16 << d.length }

// vectorSizeClass is sizeClass for vectors and parts of vectors. With EVEX, such an operand may be
// a single element.
func (d *decoder) vectorSizeClass(letter byte) (size int, class insn.Class) {
	full, element := d.vectorLength(), d.element()
	switch letter {
	case 'j':
		if d.encoding != evex || !d.rexW() {
			full /= 2
		}
	case 'h':
		full /= 2
		element = 4
	case 'k':
		full /= 4
	case 'e':
		full /= 8
	}
	if d.encoding != evex || !d.single {
		return full, insn.Vector
	}
	if letter == 'g' || letter == 'i' || letter == 'k' || letter == 'h' && d.number > 3 {
		element = 2
	}
	if letter == 'x' || letter == 'i' || letter == 'j' && d.pp == ppF3 {
		return element, insn.Integer
	}
	return element, insn.Float
}

// maskSizes are the operands' sizes in bytes for kmovw, kmovq, kmovb and kmovd, in this order.
var maskSizes = [2][2]int{{2, 8}, {1, 4}}

// vectorWrites adds the general registers that the instruction writes.
func (d *decoder) vectorWrites(e *insn.Effect) {
	switch d.vectorTarget() {
	case 'G':
		e.Write(d.general(d.reg() | d.rex&4<<1))
	case 'E':
		if d.memory == register {
			e.Write(d.general(d.modrm&7 | d.rex&1<<3))
		}
	case 'V':
		e.Write(d.general(d.vvvv))
	case 'W':
		e.Write(d.general(d.reg() | d.rex&4<<1))
		e.Write(d.general(d.vvvv))
	case 'C':
		e.Write(d.general(numberCX))
	}
}

// vectorTarget returns which general register is written: G ModRM.reg, E ModRM.rm, V VEX.vvvv, W both
// ModRM.reg and VEX.vvvv, C the counter, 0 none.
func (d *decoder) vectorTarget() byte {
	if d.encoding == xop {
		switch {
		case d.number == 10 && d.op == 0x10: // bextr
			return 'G'
		case d.number == 9 && d.op <= 2: // blcfill and the like
			return 'V'
		case d.number == 9 && d.op == 0x12 && d.reg() == 1: // slwpcb
			return 'E'
		}
		return 0
	}
	switch d.number {
	case 1, 5:
		return d.vectorTarget0F()
	case 2:
		return d.vectorTarget0F38()
	case 3:
		switch {
		case d.op >= 0x14 && d.op <= 0x17: // pextrb, pextrw, pextrd, extractps
			return 'E'
		case (d.op == 0x61 || d.op == 0x63) && d.encoding != evex: // pcmpestri, pcmpistri
			return 'C'
		case d.op == 0xf0 && d.encoding == vex: // rorx
			return 'G'
		}
	}
	return 0
}

func (d *decoder) vectorTarget0F() byte {
	scalar := d.pp >= ppF3
	switch d.op {
	case 0x2c, 0x2d: // cvttss2si and the like
		if scalar {
			return 'G'
		}
	case 0x78, 0x79: // vcvttss2usi and the like
		if scalar && d.encoding == evex {
			return 'G'
		}
	case 0x50, 0xc5, 0xd7: // movmskps, pextrw, pmovmskb
		return 'G'
	case 0x93: // kmov
		if d.encoding == vex {
			return 'G'
		}
	case 0x7e: // movd, but not movq
		if !scalar {
			return 'E'
		}
	}
	return 0
}

func (d *decoder) vectorTarget0F38() byte {
	if d.encoding != vex {
		return 0
	}
	switch op := d.op; {
	case op == 0xf3: // blsr and the like
		return 'V'
	case op == 0xf6: // mulx
		return 'W'
	case op >= 0xe0 && op <= 0xef, // cmpccxadd
		op == 0xf2, op == 0xf5, op == 0xf7: // andn, bzhi, bextr and the like
		return 'G'
	}
	return 0
}
