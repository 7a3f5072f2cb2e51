// Package dwop names the operations of DWARF expressions (DW_OP, DWARF 5 section 7.7.1, and GNU's
// extensions), as they occur in variables' locations and in call frame information. The standard
// library's debug/dwarf has no names for them.
package dwop

import "stackmill/internal/bytereader"

// The operations. Lit0, Reg0 and Breg0 begin ranges of 32 operations. From Const1u to Const8s,
// unsigned and signed operations alternate.
const (
	Addr              = 0x03
	Deref             = 0x06
	Const1u           = 0x08
	Const8s           = 0x0f
	Constu            = 0x10
	Consts            = 0x11
	Dup               = 0x12
	Drop              = 0x13
	Over              = 0x14
	Pick              = 0x15
	Swap              = 0x16
	Rot               = 0x17
	Abs               = 0x19
	And               = 0x1a
	Div               = 0x1b
	Minus             = 0x1c
	Mod               = 0x1d
	Mul               = 0x1e
	Neg               = 0x1f
	Not               = 0x20
	Or                = 0x21
	Plus              = 0x22
	PlusUconst        = 0x23
	Shl               = 0x24
	Shr               = 0x25
	Shra              = 0x26
	Xor               = 0x27
	Bra               = 0x28
	Eq                = 0x29
	Ge                = 0x2a
	Gt                = 0x2b
	Le                = 0x2c
	Lt                = 0x2d
	Ne                = 0x2e
	Skip              = 0x2f
	Lit0              = 0x30
	Lit31             = 0x4f
	Reg0              = 0x50
	Reg31             = 0x6f
	Breg0             = 0x70
	Breg31            = 0x8f
	Regx              = 0x90
	Fbreg             = 0x91
	Bregx             = 0x92
	Piece             = 0x93
	DerefSize         = 0x94
	XderefSize        = 0x95
	Nop               = 0x96
	PushObjectAddress = 0x97
	Call2             = 0x98
	Call4             = 0x99
	CallRef           = 0x9a
	FormTLSAddress    = 0x9b
	CallFrameCFA      = 0x9c
	BitPiece          = 0x9d
	ImplicitValue     = 0x9e
	StackValue        = 0x9f
	Addrx             = 0xa1
	Constx            = 0xa2
	EntryValue        = 0xa3
	RegvalType        = 0xa5
	DerefType         = 0xa6
	Convert           = 0xa8
	Reinterpret       = 0xa9
	GNUPushTLSAddress = 0xe0
	GNUEntryValue     = 0xf3
	GNURegvalType     = 0xf5
	GNUDerefType      = 0xf6
	GNUConvert        = 0xf7
	GNUAddrIndex      = 0xfb
	GNUConstIndex     = 0xfc
)

// Constant reads the operand of Const1u to Consts; false for other operations.
func Constant(op uint8, r *bytereader.Reader) (int64, bool) {
	switch {
	case Const1u <= op && op <= Const8s:
		n := 1 << ((op - Const1u) / 2)
		v := r.Uint(n)
		if unused := 64 - 8*n; op&1 != 0 {
			v = uint64(int64(v<<unused) >> unused)
		}
		return int64(v), true
	case op == Constu:
		return int64(r.ULEB()), true
	case op == Consts:
		return r.SLEB(), true
	}
	return 0, false
}
