package x86

import "strings"

// form says what follows an opcode: a ModRM byte or none, and which immediate.
type form uint8

const (
	undefined form = iota
	bare           // nothing
	escape         // a prefix, or the first byte of a longer opcode
	immB           // 1 byte
	immW           // 2 bytes
	immZ           // 4 bytes, 2 with operand size 16
	immV           // 8, 4 or 2 bytes: the operand size
	immFar         // a segment selector and immZ
	immEnter       // 2 + 1 bytes
	immOffset      // an address
	relB           // 1 byte, relative to the next instruction
	relZ           // like immZ, relative to the next instruction
	testB          // immB if ModRM.reg is 0 or 1
	testZ          // immZ if ModRM.reg is 0 or 1
	modRM     form = 0x80
	regOnly   form = 0x40 // with modRM: the operand is a register for any ModRM.mod
	immMask        = regOnly - 1
)

// forms maps the letters in the opcode maps below to forms.
var forms = [128]form{
	'.': undefined, '-': bare, 'x': escape,
	'b': immB, 'w': immW, 'z': immZ, 'v': immV, 'f': immFar, 'e': immEnter, 'a': immOffset, 'j': relB, 'J': relZ,
	'm': modRM | bare, 'r': modRM | regOnly | bare, 'B': modRM | immB, 'Z': modRM | immZ, 't': modRM | testB, 'T': modRM | testZ,
}

// opcodes is an opcode map: the forms of 256 opcodes.
type opcodes [256]form

// newMap parses rows. A row has the upper digit of the opcodes and 16 letters. Opcodes without a
// row are undefined.
func newMap(rows ...string) *opcodes {
	m := new(opcodes)
	for _, row := range rows {
		digit, letters := hexDigit(row[0]), row[2:]
		for j := range letters {
			m[digit<<4|j] = forms[letters[j]]
		}
	}
	return m
}

func hexDigit(c byte) int { return strings.IndexByte("0123456789abcdef", c) }

// without returns the map with some opcodes undefined.
func (m *opcodes) without(ops ...byte) *opcodes {
	c := *m
	for _, op := range ops {
		c[op] = undefined
	}
	return &c
}

// The maps follow the Intel manual, volume 2, appendix A, and the AMD manual,
// volume 3, appendix A. An opcode is defined if it is valid with any mandatory prefix, vector
// length or ModRM byte.
var (
	// legacy is the map of one-byte opcodes. In 32-bit mode 62, 8f, c4 and c5 are the instructions
	// given here or prefixes, depending on the second byte.
	legacy = newMap(
		"0 mmmmbz--mmmmbz-x",
		"1 mmmmbz--mmmmbz--",
		"2 mmmmbzx-mmmmbzx-",
		"3 mmmmbzx-mmmmbzx-",
		"4 ----------------",
		"5 ----------------",
		"6 --mmxxxxzZbB----",
		"7 jjjjjjjjjjjjjjjj",
		"8 BZBBmmmmmmmmmmmm",
		"9 ----------f-----",
		"a aaaa----bz------",
		"b bbbbbbbbvvvvvvvv",
		"c BBw-mmBZe-w--b--",
		"d mmmmbb--mmmmmmmm",
		"e jjjjbbbbJJfj----",
		"f x-xx--tT------mm")

	// legacy64 is legacy in 64-bit mode; 40 to 4f are REX prefixes there.
	legacy64 = legacy.without(0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27, 0x2f, 0x37, 0x3f,
		0x60, 0x61, 0x62, 0x82, 0x9a, 0xc4, 0xc5, 0xce, 0xd4, 0xd5, 0xd6, 0xea)

	map0F = newMap(
		"0 mmmm.-----.-.m-B",
		"1 mmmmmmmmmmmmmmmm",
		"2 rrrrr.r.mmmmmmmm",
		"3 ------.-x.x.....",
		"4 mmmmmmmmmmmmmmmm",
		"5 mmmmmmmmmmmmmmmm",
		"6 mmmmmmmmmmmmmmmm",
		"7 BBBBmmm-mm..mmmm",
		"8 JJJJJJJJJJJJJJJJ",
		"9 mmmmmmmmmmmmmmmm",
		"a ---mBmmm---mBmmm",
		"b mmmmmmmmmmBmmmmm",
		"c mmBmBBBm--------",
		"d mmmmmmmmmmmmmmmm",
		"e mmmmmmmmmmmmmmmm",
		"f mmmmmmmmmmmmmmmm")

	map0F38 = newMap(
		"0 mmmmmmmmmmmm....",
		"1 m...mm.m....mmm.",
		"2 mmmmmm..mmmm....",
		"3 mmmmmm.mmmmmmmmm",
		"4 mm..............",
		"8 mmm.......mm....",
		"c ........mmmmmm.m",
		"d ........m..mmmmm",
		"f mm...mm.mmmmm...")

	map0F3A = newMap(
		"0 ........BBBBBBBB",
		"1 ....BBBB........",
		"2 BBB.............",
		"4 BBB.B...........",
		"6 BBBB............",
		"c ............B.BB",
		"d ...............B",
		"f B...............")
)

// The opcode maps for the prefixes VEX, EVEX and XOP, by the map's number in the prefix.
var (
	vexMaps = [32]*opcodes{
		1: newMap(
			"1 mmmmmmmm........",
			"2 ........mmmmmmmm",
			"4 .mm.mmmm..mm....",
			"5 mmmmmmmmmmmmmmmm",
			"6 mmmmmmmmmmmmmmmm",
			"7 BBBBmmm-....mmmm",
			"9 mmmm....mm......",
			"a ..............m.",
			"c ..B.BBB.........",
			"d mmmmmmmmmmmmmmmm",
			"e mmmmmmmmmmmmmmmm",
			"f mmmmmmmmmmmmmmm."),
		2: newMap(
			"0 mmmmmmmmmmmmmmmm",
			"1 ...m..mmmmm.mmm.",
			"2 mmmmmm..mmmmmmmm",
			"3 mmmmmmmmmmmmmmmm",
			"4 mm...mmmmmmm....",
			"5 mmmm....mmm.m.m.",
			"6 ............m...",
			"7 ..m.....mm......",
			"8 ............m.m.",
			"9 mmmm..mmmmmmmmmm",
			"a ......mmmmmmmmmm",
			"b mm..mmmmmmmmmmmm",
			"c ...........mmm.m",
			"d ..mm......mmmmmm",
			"e mmmmmmmmmmmmmmmm",
			"f ..mm.mmm........"),
		3: newMap(
			"0 BBB.BBB.BBBBBBBB",
			"1 ....BBBBBB...B..",
			"2 BBB.............",
			"3 BBBB....BB......",
			"4 BBB.B.B.BBBBB...",
			"5 ............BBBB",
			"6 BBBB....BBBBBBBB",
			"7 ........BBBBBBBB",
			"c ..............BB",
			"d ..............BB",
			"f B..............."),
	}

	evexMaps = [32]*opcodes{
		1: newMap(
			"1 mmmmmmmm........",
			"2 ........mmmmmmmm",
			"5 .m..mmmmmmmmmmmm",
			"6 mmmmmmmmmmmmmmmm",
			"7 BBBBmmm.mmmm..mm",
			"c ..B.BBB.........",
			"d .mmmmmm.mmmmmmmm",
			"e mmmmmmmmmmmmmmmm",
			"f .mmmmmm.mmmmmmm."),
		2: newMap(
			"0 m...m......mmm..",
			"1 mmmmmmm.mmmmmmmm",
			"2 mmmmmmmmmmmmmm..",
			"3 mmmmmmmmmmmmmmmm",
			"4 m.mmmmmm.mmmmmmm",
			"5 mmmmmm..mmmm....",
			"6 ..mmmmmmm....m..",
			"7 mmmmmmmmmmmmmmmm",
			"8 ...m....mmmm.m.m",
			"9 mmmm..mmmmmmmmmm",
			"a mmmm..mmmmmmmmmm",
			"b ....mmmmmmmmmmmm",
			"c ....m.mmm.mmmm.m",
			"d ..mm......m.mmmm"),
		3: newMap(
			"0 BB.BBB.BBBBB...B",
			"1 ....BBBBBBBB.BBB",
			"2 BBBB.BBB........",
			"3 ........BBBB..BB",
			"4 ..BBB...........",
			"5 BBBBBBBB........",
			"6 ......BB........",
			"7 BBBB...B........",
			"c ..B...........BB"),
		5: newMap(
			"1 mm......m..m.mm.",
			"2 ..........m.mmmm",
			"5 .m......mmmmmmmm",
			"6 ........mmmmmmmm",
			"7 ....m...mmmmmmm."),
		6: newMap(
			"1 ...m............",
			"2 ............mm..",
			"4 ..mm........mmmm",
			"5 ......mm........",
			"9 ......mmmmmmmmmm",
			"a ......mmmmmmmmmm",
			"b ......mmmmmmmmmm",
			"d ......mm........"),
	}

	xopMaps = [32]*opcodes{
		8: newMap(
			"8 .....BBB......BB",
			"9 .....BBB......BB",
			"a ..BB..B.........",
			"b ......B.........",
			"c BBBB........BBBB",
			"e ............BBBB"),
		9: newMap(
			"0 .mm.............",
			"1 ..m.............",
			"8 mmmm............",
			"9 mmmmmmmmmmmm....",
			"c .mmm..mm...m....",
			"d .mmm..mm...m....",
			"e .mmm............"),
		10: newMap(
			"1 Z.Z............."),
	}
)
