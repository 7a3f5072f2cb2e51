package build

import (
	"stackmill/internal/bytereader"
	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/dwop"
	"stackmill/stages/loadobject/types"
)

type staticAddress struct {
	address uint64
	thread  bool // an offset in each thread's block
	ok      bool
}

// maxExpression bounds an expression in bytes; longer ones compute values.
const maxExpression = 512

// evaluator evaluates location expressions symbolically. Its state describes the stack after the
// operations since the last piece.
type evaluator struct {
	state    evaluatorState
	place    types.PlaceKind // set in state reached
	register int16
	offset   int64 // the place's offset, or the address or number itself
	pending  int64 // the number on top, which the next operation may add
}

type evaluatorState uint8

const (
	empty   evaluatorState = iota
	reached                // a place was reached
	address
	number
	adding // a place, an address or a number, with a number on top
	thread // an offset in the thread's block
	other  // anything that is not a place
)

// evaluate evaluates a location expression. It returns a static address, or passes one place for
// each piece to place. It does neither if compilers do not write expressions of this form.
func evaluate(s *dwarf.Sections, u *dwarf.Unit, expression []byte, place func(types.Place)) staticAddress {
	if len(expression) > maxExpression {
		return staticAddress{}
	}
	c := bytereader.New(expression, s.Order)
	var at evaluator
	var piece int64
	pieces := false
	put := func(size int64) {
		if at.state == reached {
			place(types.Place{Kind: at.place, Register: at.register, Offset: at.offset, Piece: piece, PieceSize: size})
		}
		at, piece = evaluator{}, piece+size
	}
	for len(c.Rest) > 0 {
		switch op := c.U8(); op {
		case dwop.Piece, dwop.BitPiece:
			size := c.ULEB()
			if op == dwop.BitPiece && (c.ULEB() != 0 || size%8 != 0) {
				at.state = other
			}
			if op == dwop.BitPiece {
				size /= 8
			}
			if size == 0 || size > 1<<20 {
				return staticAddress{}
			}
			put(int64(size))
			pieces = true
		default:
			if !at.step(op, &c, s, u) {
				return staticAddress{}
			}
		}
	}
	switch {
	case c.Short || pieces:
	case at.state == address || at.state == thread:
		return staticAddress{uint64(at.offset), at.state == thread, true}
	default:
		put(0)
	}
	return staticAddress{}
}

// step runs an operation; false if the rest of the expression cannot be evaluated.
func (at *evaluator) step(op uint8, c *bytereader.Reader, s *dwarf.Sections, u *dwarf.Unit) bool {
	if at.start(op, c, s, u) || at.modify(op, c) {
		return true
	}
	if n, ok := dwop.Constant(op, c); ok {
		at.push(number, n)
		return true
	}
	at.state = other
	return operands(op, c)
}

// start runs an operation that pushes a place, an address or a literal; it returns false for all
// other operations.
func (at *evaluator) start(op uint8, c *bytereader.Reader, s *dwarf.Sections, u *dwarf.Unit) bool {
	indexed := func() int64 {
		a, _ := s.Address(u, dwarf.Value{Form: dwarf.FormAddrx, Uint: c.ULEB()})
		return int64(a)
	}
	switch {
	case dwop.Reg0 <= op && op <= dwop.Reg31:
		at.reach(types.InRegister, uint64(op-dwop.Reg0), 0)
	case op == dwop.Regx:
		at.reach(types.InRegister, c.ULEB(), 0)
	case dwop.Breg0 <= op && op <= dwop.Breg31:
		at.reach(types.AtRegister, uint64(op-dwop.Breg0), c.SLEB())
	case op == dwop.Bregx:
		at.reach(types.AtRegister, c.ULEB(), c.SLEB())
	case op == dwop.Fbreg:
		at.reach(types.AtFrame, 0, c.SLEB())
	case op == dwop.CallFrameCFA:
		at.reach(types.AtCFA, 0, 0)
	case op == dwop.Addr:
		at.push(address, int64(c.Uint(u.AddrSize)))
	case op == dwop.Addrx || op == dwop.GNUAddrIndex:
		at.push(address, indexed())
	case op == dwop.Constx || op == dwop.GNUConstIndex:
		at.push(number, indexed())
	case dwop.Lit0 <= op && op <= dwop.Lit31:
		at.push(number, int64(op-dwop.Lit0))
	default:
		return false
	}
	return true
}

// modify runs an operation that changes the top of the stack and can lead to a place; it returns
// false for all other operations.
func (at *evaluator) modify(op uint8, c *bytereader.Reader) bool {
	switch {
	case op == dwop.PlusUconst:
		at.add(int64(c.ULEB()))
	case op == dwop.Plus && at.state == adding:
		pending := at.pending
		at.resume()
		at.add(pending)
	case op == dwop.Minus && at.state == adding:
		pending := at.pending
		at.resume()
		at.add(-pending)
	case op == dwop.Deref:
		at.deref()
	case op == dwop.EntryValue || op == dwop.GNUEntryValue:
		at.entry(c.Block(), c)
	case op == dwop.StackValue && at.place == types.EntryRegister:
	case op == dwop.StackValue && at.state == reached && at.place == types.AtRegister:
		at.place = types.IsRegister
	case op == dwop.StackValue:
		at.state = other
	case (op == dwop.FormTLSAddress || op == dwop.GNUPushTLSAddress) && (at.state == number || at.state == address):
		at.state = thread
	case op == dwop.FormTLSAddress || op == dwop.GNUPushTLSAddress:
		at.state = other
	case op == dwop.Nop:
	default:
		return false
	}
	return true
}

func (at *evaluator) reach(kind types.PlaceKind, register uint64, offset int64) {
	if at.state != empty || register > 1<<15-1 {
		at.state = other
		return
	}
	*at = evaluator{state: reached, place: kind, register: int16(register), offset: offset}
}

// entry handles DW_OP_entry_value of a register, if DW_OP_stack_value follows: the variable has the
// value that the register had on entry.
func (at *evaluator) entry(of []byte, rest *bytereader.Reader) {
	alone := len(rest.Rest) > 0 && rest.Rest[0] == dwop.StackValue
	if len(of) == 1 && dwop.Reg0 <= of[0] && of[0] <= dwop.Reg31 && alone {
		at.reach(types.EntryRegister, uint64(of[0]-dwop.Reg0), 0)
		return
	}
	at.state = other
}

// push pushes a number, or an address as the first value.
func (at *evaluator) push(state evaluatorState, v int64) {
	switch {
	case at.state == empty:
		at.state, at.offset = state, v
	case state == number && (at.state == address || at.state == reached):
		at.state, at.pending = adding, v
	default:
		at.state = other
	}
}

// resume pops the number that is on top.
func (at *evaluator) resume() {
	at.state = address
	if at.place != 0 {
		at.state = reached
	}
}

func (at *evaluator) add(v int64) {
	memory := at.state == reached && (at.place == types.AtRegister || at.place == types.AtFrame || at.place == types.AtCFA)
	switch {
	case memory, at.state == address, at.state == number:
		at.offset += v
	case v != 0:
		at.state = other
	}
}

func (at *evaluator) deref() {
	switch {
	case at.state == reached && at.place == types.AtRegister:
		at.place = types.PointedRegister
	case at.state == reached && at.place == types.AtFrame:
		at.place = types.PointedFrame
	default:
		at.state = other
	}
}

// operands skips the operands of an operation that cannot lead to a place. It returns false for a
// jump, a call or an unknown operation, after which the rest cannot be evaluated.
func operands(op uint8, c *bytereader.Reader) bool {
	switch op {
	case dwop.Pick, dwop.DerefSize, dwop.XderefSize:
		c.U8()
	case dwop.ImplicitValue:
		c.Block()
	case dwop.Convert, dwop.Reinterpret, dwop.GNUConvert:
		c.ULEB()
	case dwop.RegvalType, dwop.GNURegvalType:
		c.ULEB()
		c.ULEB()
	case dwop.DerefType, dwop.GNUDerefType:
		c.U8()
		c.ULEB()
	case dwop.Bra, dwop.Skip, dwop.Call2, dwop.Call4, dwop.CallRef, dwop.PushObjectAddress:
		return false
	default: // arithmetic has none
		return dwop.Dup <= op && op <= dwop.Ne
	}
	return true
}
