package build

import (
	"stackmill/stages/loadobject/bytereader"
	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/types"
)

// fixed is the address that a variable has for the whole run of the program.
type fixed struct {
	address uint64
	thread  bool // in each thread's block
	ok      bool
}

// The operations of location expressions (DWARF 5 section 7.7.1, and GNU's).
const (
	opAddr        = 0x03
	opDeref       = 0x06
	opConst1u     = 0x08
	opConst1s     = 0x09
	opConst2u     = 0x0a
	opConst2s     = 0x0b
	opConst4u     = 0x0c
	opConst4s     = 0x0d
	opConst8u     = 0x0e
	opConst8s     = 0x0f
	opConstu      = 0x10
	opConsts      = 0x11
	opPick        = 0x15
	opMinus       = 0x1c
	opPlus        = 0x22
	opPlusUconst  = 0x23
	opBra         = 0x28
	opSkip        = 0x2f
	opLit0        = 0x30
	opLit31       = 0x4f
	opReg0        = 0x50
	opReg31       = 0x6f
	opBreg0       = 0x70
	opBreg31      = 0x8f
	opRegx        = 0x90
	opFbreg       = 0x91
	opBregx       = 0x92
	opPiece       = 0x93
	opDerefSize   = 0x94
	opXderefSize  = 0x95
	opNop         = 0x96
	opPushObject  = 0x97
	opCall2       = 0x98
	opCall4       = 0x99
	opCallRef     = 0x9a
	opTLS         = 0x9b
	opCFA         = 0x9c
	opBitPiece    = 0x9d
	opImplicit    = 0x9e
	opStackValue  = 0x9f
	opAddrx       = 0xa1
	opConstx      = 0xa2
	opRegvalType  = 0xa5
	opDerefType   = 0xa6
	opEntryValue  = 0xa3
	opConvert     = 0xa8
	opReinterpret = 0xa9
	opGNUTLS      = 0xe0
	opGNUEntry    = 0xf3
	opGNURegval   = 0xf5
	opGNUDeref    = 0xf6
	opGNUConvert  = 0xf7
	opGNUAddr     = 0xfb
	opGNUConst    = 0xfc
)

// maxExpression bounds an expression in bytes; longer ones compute values.
const maxExpression = 512

// spot is the result of the operations since the last piece.
type spot struct {
	state    spotState
	place    types.PlaceKind // reached
	register int16
	offset   int64 // of the place; or the address or number itself
	pending  int64 // the number that the next operation may add
}

type spotState uint8

const (
	empty spotState = iota
	reached
	address
	number
	adding // a place, an address or a number, with a number on top
	thread
	other // not a place
)

// evaluate passes the places of a location expression, whole or in pieces, or returns
// its address. Expressions that compilers do not make give neither.
func evaluate(s *dwarf.Sections, u *dwarf.Unit, expression []byte, place func(types.Place)) fixed {
	if len(expression) > maxExpression {
		return fixed{}
	}
	c := bytereader.New(expression, s.Order)
	var at spot
	var piece int64
	pieces := false
	put := func(size int64) {
		if at.state == reached {
			place(types.Place{Kind: at.place, Register: at.register, Offset: at.offset, Piece: piece, PieceSize: size})
		}
		at, piece = spot{}, piece+size
	}
	for len(c.Rest) > 0 {
		switch op := c.U8(); op {
		case opPiece, opBitPiece:
			size := c.ULEB()
			if op == opBitPiece && (c.ULEB() != 0 || size%8 != 0) {
				at.state = other
			}
			if op == opBitPiece {
				size /= 8
			}
			if size == 0 || size > 1<<20 {
				return fixed{}
			}
			put(int64(size))
			pieces = true
		default:
			if !at.step(op, &c, s, u) {
				return fixed{}
			}
		}
	}
	switch {
	case c.Short || pieces:
	case at.state == address || at.state == thread:
		return fixed{uint64(at.offset), at.state == thread, true}
	default:
		put(0)
	}
	return fixed{}
}

// step does an operation; false if the operations that follow cannot be understood.
func (at *spot) step(op uint8, c *bytereader.Reader, s *dwarf.Sections, u *dwarf.Unit) bool {
	if at.start(op, c, s, u) || at.modify(op, c) {
		return true
	}
	if n, ok := constant(op, c); ok {
		at.push(number, n)
		return true
	}
	at.state = other
	return operands(op, c)
}

// start does an operation that pushes a place, an address or a literal; false for
// others.
func (at *spot) start(op uint8, c *bytereader.Reader, s *dwarf.Sections, u *dwarf.Unit) bool {
	indexed := func() int64 {
		a, _ := s.Address(u, dwarf.Value{Form: dwarf.FormAddrx, Uint: c.ULEB()})
		return int64(a)
	}
	switch {
	case opReg0 <= op && op <= opReg31:
		at.reach(types.InRegister, uint64(op-opReg0), 0)
	case op == opRegx:
		at.reach(types.InRegister, c.ULEB(), 0)
	case opBreg0 <= op && op <= opBreg31:
		at.reach(types.AtRegister, uint64(op-opBreg0), c.SLEB())
	case op == opBregx:
		at.reach(types.AtRegister, c.ULEB(), c.SLEB())
	case op == opFbreg:
		at.reach(types.AtFrame, 0, c.SLEB())
	case op == opCFA:
		at.reach(types.AtCFA, 0, 0)
	case op == opAddr:
		at.push(address, int64(c.Uint(u.AddrSize)))
	case op == opAddrx || op == opGNUAddr:
		at.push(address, indexed())
	case op == opConstx || op == opGNUConst:
		at.push(number, indexed())
	case opLit0 <= op && op <= opLit31:
		at.push(number, int64(op-opLit0))
	default:
		return false
	}
	return true
}

// modify does an operation on the top of the stack that can lead to a place; false for
// others.
func (at *spot) modify(op uint8, c *bytereader.Reader) bool {
	switch {
	case op == opPlusUconst:
		at.add(int64(c.ULEB()))
	case op == opPlus && at.state == adding:
		pending := at.pending
		at.resume()
		at.add(pending)
	case op == opMinus && at.state == adding:
		pending := at.pending
		at.resume()
		at.add(-pending)
	case op == opDeref:
		at.deref()
	case op == opEntryValue || op == opGNUEntry:
		at.entry(c.Block(), c)
	case op == opStackValue && at.place == types.EntryRegister:
	case op == opStackValue && at.state == reached && at.place == types.AtRegister:
		at.place = types.IsRegister
	case op == opStackValue:
		at.state = other
	case (op == opTLS || op == opGNUTLS) && (at.state == number || at.state == address):
		at.state = thread
	case op == opTLS || op == opGNUTLS:
		at.state = other
	case op == opNop:
	default:
		return false
	}
	return true
}

func (at *spot) reach(kind types.PlaceKind, register uint64, offset int64) {
	if at.state != empty || register > 1<<15-1 {
		at.state = other
		return
	}
	*at = spot{state: reached, place: kind, register: int16(register), offset: offset}
}

// entry takes the value that a register had when the function was called, if the
// expression is no more than that.
func (at *spot) entry(of []byte, rest *bytereader.Reader) {
	alone := len(rest.Rest) > 0 && rest.Rest[0] == opStackValue
	if len(of) == 1 && opReg0 <= of[0] && of[0] <= opReg31 && alone {
		at.reach(types.EntryRegister, uint64(of[0]-opReg0), 0)
		return
	}
	at.state = other
}

// push puts an address or a number on the stack.
func (at *spot) push(state spotState, v int64) {
	switch {
	case at.state == empty:
		at.state, at.offset = state, v
	case state == number && (at.state == address || at.state == reached):
		at.state, at.pending = adding, v
	default:
		at.state = other
	}
}

// resume takes the number off the stack.
func (at *spot) resume() {
	at.state = address
	if at.place != 0 {
		at.state = reached
	}
}

func (at *spot) add(v int64) {
	memory := at.state == reached && (at.place == types.AtRegister || at.place == types.AtFrame || at.place == types.AtCFA)
	switch {
	case memory, at.state == address, at.state == number:
		at.offset += v
	case v != 0:
		at.state = other
	}
}

func (at *spot) deref() {
	switch {
	case at.state == reached && at.place == types.AtRegister:
		at.place = types.PointedRegister
	case at.state == reached && at.place == types.AtFrame:
		at.place = types.PointedFrame
	default:
		at.state = other
	}
}

// constant reads the number that an operation pushes.
func constant(op uint8, c *bytereader.Reader) (int64, bool) {
	switch op {
	case opConst1u:
		return int64(c.U8()), true
	case opConst1s:
		return int64(int8(c.U8())), true
	case opConst2u:
		return int64(c.U16()), true
	case opConst2s:
		return int64(int16(c.U16())), true
	case opConst4u:
		return int64(c.U32()), true
	case opConst4s:
		return int64(int32(c.U32())), true
	case opConst8u, opConst8s:
		return int64(c.U64()), true
	case opConstu:
		return int64(c.ULEB()), true
	case opConsts:
		return c.SLEB(), true
	}
	return 0, false
}

// operands passes over the operands of an operation that cannot lead to a place; false
// for a jump, a call, or an unknown one, after which nothing can.
func operands(op uint8, c *bytereader.Reader) bool {
	switch op {
	case opPick, opDerefSize, opXderefSize:
		c.U8()
	case opImplicit:
		c.Block()
	case opConvert, opReinterpret, opGNUConvert:
		c.ULEB()
	case opRegvalType, opGNURegval:
		c.ULEB()
		c.ULEB()
	case opDerefType, opGNUDeref:
		c.U8()
		c.ULEB()
	case opBra, opSkip, opCall2, opCall4, opCallRef, opPushObject:
		return false
	default: // arithmetic has none
		return 0x12 <= op && op <= 0x2e
	}
	return true
}
