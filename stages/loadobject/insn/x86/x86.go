// Package x86 decodes the instructions of x86 in 32-bit and 64-bit mode.
//
// It prints them with golang.org/x/arch/x86/x86asm, but does not decode with it. x86asm does not
// describe effects on registers and bits. It rejects, or gives a wrong length for, 57,199 of the
// 105.7 million instructions in /usr/bin of Debian 12, 2,290 of the 689,610 in libcrypto.so.3
// (mostly AVX-512) and 473 of the 336,865 in libc.so.6; after each of them a walk is out of step.
// And it takes several times as long.
//
// Start reading with Decode.
package x86

import "stackmill/stages/loadobject/insn"

// MaxLength is the length of the longest instruction in bytes.
const MaxLength = 15

// decoder decodes an x86 instruction.
type decoder struct {
	code    []byte // from the instruction's start, at most MaxLength bytes
	pos     int    // number of decoded bytes
	long    bool   // 64-bit mode
	opSize  bool   // prefix 66
	adSize  bool   // prefix 67
	rep     byte   // prefix f2 or f3, the last one
	rex     byte
	segment bool // an operand is in segment fs or gs, whose base is unknown

	encoding encoding
	number   byte // number of the opcode map, as in VEX and EVEX; XOP has its own numbers
	pp       byte // the mandatory prefix, as in VEX and EVEX
	length   byte // vectors have 16 << length bytes
	single   bool // EVEX.b: one element of memory is broadcast, or rounding is set
	vvvv     byte

	table  *opcodes // the opcode map
	op     byte
	modrm  byte
	memory operandKind
	base   int8 // base register of the memory operand, by its number in instructions; -1 for none
	index  int8
	scale  uint8
	short  bool  // disp has one byte
	disp   int32 // displacement of the memory operand
	imm    int64 // an immediate or a relative target
	err    error // the first error
}

// encoding says which vector prefix an instruction has; plain means none.
type encoding byte

const (
	plain encoding = iota
	vex
	evex
	xop
)

// The mandatory prefixes, numbered as in VEX and EVEX.
const (
	ppNone = iota
	pp66
	ppF3
	ppF2
)

// Decode decodes the instruction at the start of code, which lies at addr, in
// 64-bit mode if long is set. See disasm.Decode.
func Decode(long bool, code []byte, addr uint64) (inst insn.Inst, err error) {
	d := decoder{code: code[:min(len(code), MaxLength)], long: long}
	if d.decode(); d.err == nil {
		d.classify(&inst, addr)
	}
	return inst, d.err
}

// Effects decodes an instruction and returns its effect on memory and registers.
func Effects(long bool, code []byte, addr uint64) (insn.Effect, error) {
	e := insn.NoEffect
	d := decoder{code: code[:min(len(code), MaxLength)], long: long}
	f := d.decode()
	if d.err != nil {
		return e, d.err
	}
	d.classify(&e.Inst, addr)
	d.effect(&e, f, addr+uint64(d.pos))
	return e, nil
}

// Bits decodes an instruction and returns its effect on bits; false if unknown.
func Bits(long bool, code []byte) (insn.Bits, bool) {
	d := decoder{code: code[:min(len(code), MaxLength)], long: long}
	f := d.decode()
	if d.err != nil {
		return insn.Bits{}, false
	}
	return d.bits(f)
}

// decode decodes the whole instruction and returns the form of its opcode.
func (d *decoder) decode() form {
	f := d.opcode()
	if f&modRM != 0 {
		d.operand(f)
	}
	d.immediate(f)
	if d.err == insn.ErrTruncated && len(d.code) == MaxLength {
		d.err = insn.ErrUndefined // too long
	}
	return f
}

// fail records the first error.
func (d *decoder) fail(err error) form {
	if d.err == nil {
		d.err = err
	}
	return undefined
}

// next returns the next byte of the instruction, 0 after its end.
func (d *decoder) next() byte {
	if d.pos >= len(d.code) {
		d.fail(insn.ErrTruncated)
		return 0
	}
	d.pos++
	return d.code[d.pos-1]
}

// take returns the next n bytes, at most 8.
func (d *decoder) take(n int) []byte {
	if len(d.code)-d.pos < n {
		d.fail(insn.ErrTruncated)
		return make([]byte, 8)
	}
	d.pos += n
	return d.code[d.pos-n : d.pos]
}

// opcode decodes the prefixes and the opcode.
func (d *decoder) opcode() form {
	b := d.prefixes()
	d.table = legacy
	if d.long {
		d.table = legacy64
	}
	switch b {
	case 0x0f:
		return d.twoByte()
	case 0x62, 0xc4, 0xc5, 0x8f:
		if d.isVector(b) {
			return d.vector(b)
		}
	}
	return d.form(b)
}

// form sets the opcode and returns its form, from the current opcode map.
func (d *decoder) form(op byte) form {
	d.op = op
	if d.table[op] == undefined {
		d.fail(insn.ErrUndefined)
	}
	return d.table[op]
}

// prefixes decodes the prefixes and returns the byte after them.
func (d *decoder) prefixes() byte {
	for {
		b := d.next()
		switch b {
		case 0x26, 0x2e, 0x36, 0x3e, 0xf0:
		case 0x64, 0x65:
			d.segment = true
		case 0x66:
			d.opSize = true
		case 0x67:
			d.adSize = true
		case 0xf2, 0xf3:
			d.rep = b
		default:
			if d.long && b&0xf0 == 0x40 {
				d.rex = b
				continue
			}
			return b
		}
		d.rex = 0 // REX is valid only directly before the opcode
	}
}

// twoByte decodes the rest of an opcode that starts with 0f.
func (d *decoder) twoByte() form {
	b := d.next()
	d.table, d.number = map0F, 1
	switch {
	case d.rep == 0xf2:
		d.pp = ppF2
	case d.rep == 0xf3:
		d.pp = ppF3
	case d.opSize:
		d.pp = pp66
	}
	switch b {
	case 0x38:
		d.table, d.number = map0F38, 2
	case 0x3a:
		d.table, d.number = map0F3A, 3
	case 0x78:
		// extrq and insertq have two immediate bytes, vmread has none.
		d.op = b
		if d.opSize || d.rep == 0xf2 {
			return modRM | immW
		}
		return modRM | bare
	case 0xb8:
		if d.rep != 0xf3 { // popcnt
			return d.fail(insn.ErrUndefined)
		}
		return d.form(b)
	default:
		return d.form(b)
	}
	return d.form(d.next())
}
