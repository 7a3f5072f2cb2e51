package x86

// form is what follows an opcode: a ModRM byte or not, and an immediate.
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
	regOnly   form = 0x40 // with modRM: an operand that is a register whatever ModRM.mod says
	immMask        = regOnly - 1
)

// forms are the letters of the opcode maps.
var forms = [128]form{
	'.': undefined, '-': bare, 'x': escape,
	'b': immB, 'w': immW, 'z': immZ, 'v': immV, 'f': immFar, 'e': immEnter, 'a': immOffset, 'j': relB, 'J': relZ,
	'm': modRM | bare, 'r': modRM | regOnly | bare, 'B': modRM | immB, 'Z': modRM | immZ, 't': modRM | testB, 'T': modRM | testZ,
}

// opcodes is an opcode map: the forms of 256 opcodes.
type opcodes [256]form

// newMap reads a map of rows of 16 letters; rows left out are undefined.
func newMap(rows ...string) *opcodes {
	m := new(opcodes)
	for i, row := range rows {
		for j := range row {
			m[16*i+j] = forms[row[j]]
		}
	}
	return m
}

// without returns the map with some opcodes undefined.
func (m *opcodes) without(ops ...byte) *opcodes {
	c := *m
	for _, op := range ops {
		c[op] = undefined
	}
	return &c
}

// The maps follow the Intel manual, volume 2, appendix A, and the AMD manual,
// volume 3, appendix A. An opcode is defined if any mandatory prefix, vector
// length or ModRM byte gives it a meaning.
var (
	// legacy is the map of one-byte opcodes. In 32-bit mode 62, 8f, c4 and c5
	// are either the instructions given here or prefixes; the second byte decides.
	legacy = newMap(
		"mmmmbz--mmmmbz-x",
		"mmmmbz--mmmmbz--",
		"mmmmbzx-mmmmbzx-",
		"mmmmbzx-mmmmbzx-",
		"----------------",
		"----------------",
		"--mmxxxxzZbB----",
		"jjjjjjjjjjjjjjjj",
		"BZBBmmmmmmmmmmmm",
		"----------f-----",
		"aaaa----bz------",
		"bbbbbbbbvvvvvvvv",
		"BBw-mmBZe-w--b--",
		"mmmmbb--mmmmmmmm",
		"jjjjbbbbJJfj----",
		"x-xx--tT------mm")

	// legacy64 is legacy in 64-bit mode; 40 to 4f are REX prefixes there.
	legacy64 = legacy.without(0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27, 0x2f, 0x37, 0x3f,
		0x60, 0x61, 0x62, 0x82, 0x9a, 0xc4, 0xc5, 0xce, 0xd4, 0xd5, 0xd6, 0xea)

	map0F = newMap(
		"mmmm.-----.-.m-B",
		"mmmmmmmmmmmmmmmm",
		"rrrrr.r.mmmmmmmm",
		"------.-x.x.....",
		"mmmmmmmmmmmmmmmm",
		"mmmmmmmmmmmmmmmm",
		"mmmmmmmmmmmmmmmm",
		"BBBBmmm-mm..mmmm",
		"JJJJJJJJJJJJJJJJ",
		"mmmmmmmmmmmmmmmm",
		"---mBmmm---mBmmm",
		"mmmmmmmmmmBmmmmm",
		"mmBmBBBm--------",
		"mmmmmmmmmmmmmmmm",
		"mmmmmmmmmmmmmmmm",
		"mmmmmmmmmmmmmmmm")

	map0F38 = newMap(
		"mmmmmmmmmmmm....",
		"m...mm.m....mmm.",
		"mmmmmm..mmmm....",
		"mmmmmm.mmmmmmmmm",
		"mm..............",
		"................",
		"................",
		"................",
		"mmm.......mm....",
		"................",
		"................",
		"................",
		"........mmmmmm.m",
		"........m..mmmmm",
		"................",
		"mm...mm.mmmmm...")

	map0F3A = newMap(
		"........BBBBBBBB",
		"....BBBB........",
		"BBB.............",
		"................",
		"BBB.B...........",
		"................",
		"BBBB............",
		"................",
		"................",
		"................",
		"................",
		"................",
		"............B.BB",
		"...............B",
		"................",
		"B...............")
)

// The prefixes VEX, EVEX and XOP choose a map by a number.
var (
	vexMaps = [32]*opcodes{
		1: newMap(
			"................",
			"mmmmmmmm........",
			"........mmmmmmmm",
			"................",
			".mm.mmmm..mm....",
			"mmmmmmmmmmmmmmmm",
			"mmmmmmmmmmmmmmmm",
			"BBBBmmm-....mmmm",
			"................",
			"mmmm....mm......",
			"..............m.",
			"................",
			"..B.BBB.........",
			"mmmmmmmmmmmmmmmm",
			"mmmmmmmmmmmmmmmm",
			"mmmmmmmmmmmmmmm."),
		2: newMap(
			"mmmmmmmmmmmmmmmm",
			"...m..mmmmm.mmm.",
			"mmmmmm..mmmmmmmm",
			"mmmmmmmmmmmmmmmm",
			"mm...mmmmmmm....",
			"mmmm....mmm.m.m.",
			"............m...",
			"..m.....mm......",
			"............m.m.",
			"mmmm..mmmmmmmmmm",
			"......mmmmmmmmmm",
			"mm..mmmmmmmmmmmm",
			"...........mmm.m",
			"..mm......mmmmmm",
			"mmmmmmmmmmmmmmmm",
			"..mm.mmm........"),
		3: newMap(
			"BBB.BBB.BBBBBBBB",
			"....BBBBBB...B..",
			"BBB.............",
			"BBBB....BB......",
			"BBB.B.B.BBBBB...",
			"............BBBB",
			"BBBB....BBBBBBBB",
			"........BBBBBBBB",
			"................",
			"................",
			"................",
			"................",
			"..............BB",
			"..............BB",
			"................",
			"B..............."),
	}

	evexMaps = [32]*opcodes{
		1: newMap(
			"................",
			"mmmmmmmm........",
			"........mmmmmmmm",
			"................",
			"................",
			".m..mmmmmmmmmmmm",
			"mmmmmmmmmmmmmmmm",
			"BBBBmmm.mmmm..mm",
			"................",
			"................",
			"................",
			"................",
			"..B.BBB.........",
			".mmmmmm.mmmmmmmm",
			"mmmmmmmmmmmmmmmm",
			".mmmmmm.mmmmmmm."),
		2: newMap(
			"m...m......mmm..",
			"mmmmmmm.mmmmmmmm",
			"mmmmmmmmmmmmmm..",
			"mmmmmmmmmmmmmmmm",
			"m.mmmmmm.mmmmmmm",
			"mmmmmm..mmmm....",
			"..mmmmmmm....m..",
			"mmmmmmmmmmmmmmmm",
			"...m....mmmm.m.m",
			"mmmm..mmmmmmmmmm",
			"mmmm..mmmmmmmmmm",
			"....mmmmmmmmmmmm",
			"....m.mmm.mmmm.m",
			"..mm......m.mmmm",
			"................",
			"................"),
		3: newMap(
			"BB.BBB.BBBBB...B",
			"....BBBBBBBB.BBB",
			"BBBB.BBB........",
			"........BBBB..BB",
			"..BBB...........",
			"BBBBBBBB........",
			"......BB........",
			"BBBB...B........",
			"................",
			"................",
			"................",
			"................",
			"..B...........BB",
			"................",
			"................",
			"................"),
		5: newMap(
			"................",
			"mm......m..m.mm.",
			"..........m.mmmm",
			"................",
			"................",
			".m......mmmmmmmm",
			"........mmmmmmmm",
			"....m...mmmmmmm."),
		6: newMap(
			"................",
			"...m............",
			"............mm..",
			"................",
			"..mm........mmmm",
			"......mm........",
			"................",
			"................",
			"................",
			"......mmmmmmmmmm",
			"......mmmmmmmmmm",
			"......mmmmmmmmmm",
			"................",
			"......mm........"),
	}

	xopMaps = [32]*opcodes{
		8: newMap(
			"................",
			"................",
			"................",
			"................",
			"................",
			"................",
			"................",
			"................",
			".....BBB......BB",
			".....BBB......BB",
			"..BB..B.........",
			"......B.........",
			"BBBB........BBBB",
			"................",
			"............BBBB"),
		9: newMap(
			".mm.............",
			"..m.............",
			"................",
			"................",
			"................",
			"................",
			"................",
			"................",
			"mmmm............",
			"mmmmmmmmmmmm....",
			"................",
			"................",
			".mmm..mm...m....",
			".mmm..mm...m....",
			".mmm............"),
		10: newMap(
			"................",
			"Z.Z............."),
	}
)
