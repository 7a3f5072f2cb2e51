package x86

import "strings"

// action is an instruction's effect on general registers and memory: a verb,
// the destination, and the size of the operands.
type action struct{ verb, dest, size byte }

// The verbs. If the destination is ModRM.rm, the source is ModRM.reg or an immediate; if it is
// ModRM.reg, the source is ModRM.rm.
const (
	verbNone            = '.'
	verbMove            = '='
	verbAdd             = '+'
	verbSub             = '-'
	verbXor             = '^'
	verbChange          = '*' // computes something else from the old value
	verbSet             = '!' // computes from other operands only
	verbRead            = '?' // such as comparisons
	verbInc             = 'i'
	verbDec             = 'd'
	verbWiden           = 'w' // zero- or sign-extends; the size is the source's, except for the accumulator
	verbChoose          = 'c' // copies conditionally
	verbExchange        = 'x' // also xadd
	verbCompareExchange = 'k'
	verbShift           = 's' // to the left
	verbTimes           = 'n' // multiplies ModRM.rm by an immediate
	verbMultiply        = 'm' // or divides: the accumulator and the data register by ModRM.rm
	verbBit             = 'b' // changes a bit; a bit number in a register is added to the address
	verbTestBit         = 't'
	verbAddress         = 'l'
	verbFromFixed       = 'o' // loads from an address in the instruction
	verbToFixed         = 'O'
	verbPush            = '<'
	verbPop             = '>'
	verbPushAll         = 'P'
	verbPopAll          = 'Q'
	verbCall            = 'C'
	verbReturn          = 'R'
	verbEnter           = 'E'
	verbLeave           = 'L'
	verbString          = 'S' // the destination is the letter of a string instruction
	verbTranslate       = 'X'
	verbMove64          = 'M' // 64 bytes from ModRM.rm to the address in ModRM.reg
	verbGroup           = 'g' // ModRM.reg selects the action; the second letter names the group
	verbThread          = 'T'
	verbX87             = '8'
)

// The destinations of actions: E ModRM.rm, G ModRM.reg, A the accumulator, O the register in the
// opcode, I an immediate. verbSet and verbMultiply may also have: C the counter; D the data register;
// X the accumulator and the data register; B these two, the base register and the counter; K the
// registers that system calls write.
//
// The sizes: b, w, d and q are 1 to 8 bytes, v the operand size, y 4 or 8, s the size of a stack
// slot, p a far pointer, x two registers of 4 or 8 bytes, z an unknown size.

// actions are the actions for the 256 opcodes of an opcode map.
type actions [256]action

// newActions parses rows. A row has the upper digit of the opcodes and up to 16 actions. Opcodes
// without an action have no effect.
func newActions(rows ...string) *actions {
	m := new(actions)
	for i := range m {
		m[i].verb = verbNone
	}
	for _, row := range rows {
		digit := hexDigit(row[0])
		for i, w := range strings.Fields(row[1:]) {
			m[digit<<4|i] = newAction(w)
		}
	}
	return m
}

func newAction(word string) action {
	letters := [...]byte{' ', ' ', ' '}
	copy(letters[:], word)
	return action{letters[0], letters[1], letters[2]}
}

// The actions of all instructions but vector instructions, by opcode map.
var (
	legacyActions = newActions(
		"0 +Eb +Ev +Gb +Gv +Ab +Av <.s >.s *Eb *Ev *Gb *Gv *Ab *Av <.s .",
		"1 *Eb *Ev *Gb *Gv *Ab *Av <.s >.s *Eb *Ev *Gb *Gv *Ab *Av <.s >.s",
		"2 *Eb *Ev *Gb *Gv *Ab *Av .   *Ab -Eb -Ev -Gb -Gv -Ab -Av .   *Ab",
		"3 ^Eb ^Ev ^Gb ^Gv *Ab *Av .   *Aw ?Eb ?Ev ?Eb ?Ev .   .   .   *Aw",
		"4 iOv iOv iOv iOv iOv iOv iOv iOv dOv dOv dOv dOv dOv dOv dOv dOv",
		"5 <Os <Os <Os <Os <Os <Os <Os <Os >Os >Os >Os >Os >Os >Os >Os >Os",
		"6 P.v Q.v ?Ez *Ew .   .   .   .   <Is nGv <Is nGv Sib Siv Sob Sov",
		"8 g1b g1v g1b g1v ?Eb ?Ev xEb xEv =Eb =Ev =Gb =Gv !Ew lGv ?Ew >Es",
		"9 xOv xOv xOv xOv xOv xOv xOv xOv wAv !Dv C.p .   <.s >.s .   !Ab",
		"a oAb oAv OAb OAv Smb Smv Scb Scv .   .   Ssb Ssv Slb Slv Sab Sav",
		"b =Ob =Ob =Ob =Ob =Ob =Ob =Ob =Ob =Ov =Ov =Ov =Ov =Ov =Ov =Ov =Ov",
		"c g2b g2v R.s R.s !Gp !Gp =Eb =Ev E.s L.s R.p R.p .   !Av .   R.z",
		"d g2b g2v *Eb *Ev *Aw *Aw !Ab X.b 8   8   8   8   8   8   8   8",
		"e !C  !C  !C  .   !Ab !Av .   .   C.s .   .   .   !Ab !Av .   .",
		"f .   .   .   .   .   .   g3b g3v .   .   .   .   .   .   g4b g5v")

	actions0F = newActions(
		"0 g6  g7  !Gw !Gw .   !Kq",
		"2 !Ey !Ey",
		"3 .   !Xd !Xd !Xd !Bd .   .   !Bd",
		"4 cGv cGv cGv cGv cGv cGv cGv cGv cGv cGv cGv cGv cGv cGv cGv cGv",
		"7 .   .   .   .   .   .   .   .   !Es ?Es",
		"9 !Eb !Eb !Eb !Eb !Eb !Eb !Eb !Eb !Eb !Eb !Eb !Eb !Eb !Eb !Eb !Eb",
		"a <.s >.s !Bd tEv *Ev *Ev .   .   <.s >.s .   bEv *Ev *Ev gf  !Gv",
		"b kEb kEv !Gp bEv !Gp !Gp wGb wGw !Gv .   g8v bEv !Gv !Gv wGb wGw",
		"c xEb xEv .   =Ey .   .   .   g9  !Ov !Ov !Ov !Ov !Ov !Ov !Ov !Ov")

	actions0F38 = newActions(
		"8 ?Eo ?Eo ?Eo",
		"d .   .   .   .   .   .   .   .   ?Ez .   .   .   ?Ez ?Ez ?Ez ?Ez",
		"f !Gv !Ev .   .   .   !Ey !Gy .   M.  =Ey !G  !G  *Ey")
)

// groupActions maps a group's name to its actions by ModRM.reg. An action without a size has the
// size that the opcode's own action has.
var groupActions = [128]*[8]action{
	'1': newGroup("+E *E *E *E *E -E *E ?E"),
	'2': newGroup("*E *E *E *E sE *E sE *E"),
	'3': newGroup("?E ?E *E *E mX mX mX mX"),
	'4': newGroup("iE dE . . . . . ."),
	'5': newGroup("iE dE CEs CEp ?Es ?Ep <Es ."),
	'6': newGroup("!Ew !Ew ?Ew ?Ew ?Ew ?Ew . ."),   // 0f 00
	'7': newGroup("!Ez !Ez ?Ez ?Ez !Ew ?Eq ?Ew ."), // 0f 01
	'8': newGroup(". . . . ?E *E *E *E"),           // 0f ba
	'9': newGroup(". kXx . ?Ez !Ez !Ez ?Eq !Eq"),   // 0f c7
	'f': newGroup("!Ez ?Ez ?Ed !Ed !Ez ?Ez !Ez ."), // 0f ae
}

func newGroup(words string) *[8]action {
	g := new([8]action)
	for i, w := range strings.Fields(words) {
		g[i] = newAction(w)
	}
	return g
}

// action returns the instruction's action; false for a vector instruction.
func (d *decoder) action() (a action, ok bool) {
	switch {
	case d.encoding != plain:
		return a, false
	case d.number == 0:
		a = legacyActions[d.op]
		if d.long && d.op == 0x63 {
			a = action{verbWiden, 'G', 'd'} // movsxd
		}
	case d.number == 1:
		a = d.action0F()
	case d.number == 2:
		a = d.action0F38()
	default:
		return a, false
	}
	if a.verb == verbGroup {
		return d.member(a), true
	}
	return a, d.number == 0 || a.verb != verbNone
}

// member returns the action that ModRM.reg selects in a group: a has the group's name.
func (d *decoder) member(a action) action {
	name, size := a.dest, a.size
	if d.memory == register && (name == '7' || name == '9' || name == 'f') {
		return d.registerMember(name)
	}
	a = groupActions[name][d.reg()]
	if a.size == ' ' {
		a.size = size
	}
	if name == 'f' && d.pp != ppNone {
		switch {
		case d.pp == ppF3 && d.reg() == 4: // ptwrite
			return action{verbRead, 'E', 'y'}
		case d.pp == ppF3 && d.reg() == 6: // clrssbsy
			return action{verbChange, 'E', 'q'}
		}
		return action{verb: verbNone} // clwb, clflushopt
	}
	return a
}

// registerMember returns the action of an instruction with ModRM.mod 3. Some groups have other
// instructions there than for other values of ModRM.mod.
func (d *decoder) registerMember(name byte) action {
	switch {
	case name == '9': // rdrand, rdseed, rdpid
		return action{verbSet, 'E', 'v'}
	case name == 'f' && d.pp == ppF3 && d.reg() == 0: // rdfsbase
		return action{verbThread, 'E', 'y'}
	case name == 'f' && d.pp == ppF3 && d.reg() == 1: // rdgsbase
		return action{verbSet, 'E', 'y'}
	case name == 'f':
		return action{verb: verbNone}
	}
	switch d.modrm {
	case 0xd0, 0xee, 0xfd: // xgetbv, rdpkru, rdpru
		return action{verbSet, 'X', 'd'}
	case 0xc0, 0xc1, 0xcf, 0xd7, 0xd9, 0xf9, 0xfe, 0xff: // calls of the hypervisor, enclaves, rdtscp
		return action{verbSet, 'B', 'q'}
	}
	if d.reg() == 4 { // smsw
		return action{verbSet, 'E', 'v'}
	}
	return action{verb: verbNone}
}

func (d *decoder) action0F() action {
	switch a := actions0F[d.op]; {
	case d.pp == ppNone, d.op != 0x78 && d.op != 0x79: // else extrq, insertq
		return a
	}
	return action{verb: verbNone}
}

func (d *decoder) action0F38() action {
	switch {
	case d.op == 0xf0 && d.pp == ppF2: // crc32 of a byte
		return action{verbSet, 'G', 'b'}
	case d.op == 0xf1 && d.pp == ppF2:
		return action{verbSet, 'G', 'v'}
	case d.op == 0xf6 && d.pp == ppNone: // wrss
		return action{verbSet, 'E', 'y'}
	case d.op < 0xf0 && d.op >= 0xd8 && d.pp != ppF3: // aesenc
		return action{verb: verbNone}
	}
	return actions0F38[d.op]
}
