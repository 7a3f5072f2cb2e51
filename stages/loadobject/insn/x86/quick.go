package x86

import (
	"encoding/binary"

	"stackmill/stages/loadobject/insn"
)

// quick is what follows an opcode of 64-bit code that needs no more to be decoded, a
// REX prefix at most before it: the bytes of its immediate, and these marks. 0 stands
// for all other opcodes.
type quick uint8

const (
	quickBytes quick = 7         // of the immediate
	quickModRM quick = 4 << iota // a ModRM byte follows
	quickCall                    // the immediate is the distance to the target of a call
	quickJump                    // likewise of a jump
	quickCond                    // likewise of a conditional jump
	quickKnown
)

// The quick opcodes of one byte, and after 0f. They follow from the maps.
var (
	quick64 = newQuick(legacy64, (*decoder).kind)
	quick0F = newQuick(map0F, (*decoder).kind0F)
)

// newQuick returns the quick opcodes of a map, whose instructions kind classifies.
func newQuick(m *opcodes, kind func(*decoder) insn.Kind) *[256]quick {
	q, code := new([256]quick), make([]byte, 1)
	for op := range m {
		d := decoder{code: code, pos: 1, long: true, table: m, op: byte(op)}
		if _, group := d.groupMembers(); group || m == legacy64 && op&0xf0 == 0x40 || m == map0F && (op == 0x78 || op == 0xb8) {
			continue
		}
		f, known := m[op], quickKnown
		switch kind(&d) {
		case insn.Other:
		case insn.Call:
			known |= quickCall
		case insn.Jump:
			known |= quickJump
		case insn.CondJump:
			known |= quickCond
		default:
			continue
		}
		if f&modRM != 0 {
			known |= quickModRM
		}
		switch f &^ modRM {
		case bare:
		case immB, relB:
			known |= 1
		case immW:
			known |= 2
		case immZ, immV, relZ:
			known |= 4
		default:
			continue
		}
		q[op] = known
	}
	return q
}

// quickAt returns what follows the quick opcode of the instruction at the start of 64-bit
// code, and the instruction's length; 0 if the opcode is not quick.
func quickAt(code []byte) (q quick, length int) {
	if len(code) < MaxLength { // none of them is as long
		return 0, 0
	}
	op, pos, rex := code[0], 1, byte(0)
	if op&0xf0 == 0x40 {
		op, pos, rex = code[1], 2, op
	}
	q = quick64[op]
	switch {
	case op == 0x0f:
		q = quick0F[code[pos]]
		pos++
	case op&0xf8 == 0xb8 && rex&8 != 0: // an immediate of eight bytes
		return 0, 0
	}
	if q&quickModRM != 0 {
		pos += operandLength(code[pos], code[pos+1])
	}
	return q, pos + int(q&quickBytes)
}

// Length returns the length of the instruction at the start of 64-bit code if its opcode
// is quick, else 0.
func Length(code []byte) int {
	q, length := quickAt(code)
	if q == 0 {
		return 0
	}
	return length
}

// Inside returns how many bytes of 64-bit code, which begin at a distance in a function of
// a size, are passed at least before an instruction that calls or leaves the function, or
// bytes that are not an instruction.
func Inside(code []byte, at, size uint64) (n int) {
	for {
		q, length := quickAt(code[n:])
		switch {
		case q == 0 || q&quickCall != 0:
			return n
		case q&(quickJump|quickCond) != 0 && at+uint64(n+length)+uint64(distance(q, code[n:n+length])) >= size:
			return n
		}
		n += length
	}
}

// distance is how far the target of a branch is from its end.
func distance(q quick, code []byte) int64 {
	if q&quickBytes == 4 {
		return int64(int32(binary.LittleEndian.Uint32(code[len(code)-4:])))
	}
	return int64(int8(code[len(code)-1]))
}

// decodeQuick is Decode for 64-bit code of quick opcodes, most of any program; false
// for other code.
func decodeQuick(code []byte, addr uint64, inst *insn.Inst) bool {
	q, pos := quickAt(code)
	if q == 0 {
		return false
	}
	inst.Len = pos
	switch {
	case q&(quickCall|quickJump|quickCond) == 0:
		return true
	case q&quickCall != 0:
		inst.Kind = insn.Call
	case q&quickJump != 0:
		inst.Kind = insn.Jump
	default:
		inst.Kind = insn.CondJump
	}
	inst.HasTarget, inst.Target = true, addr+uint64(pos)+uint64(distance(q, code[:pos]))
	return true
}

// operandLength is the length of a ModRM byte, the SIB byte that may be next, and the
// displacement, with addresses of 64 bits.
func operandLength(modrm, next byte) int {
	mod, low, n := modrm>>6, modrm&7, 1
	if mod == 3 {
		return n
	}
	if low == 4 {
		low, n = next&7, 2
	}
	switch {
	case mod == 1:
		return n + 1
	case mod == 2, low == 5:
		return n + 4
	}
	return n
}
