package dataspace

import (
	"maps"
	mathbits "math/bits"

	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/isa"
	"stackmill/stages/loadobject/types"
)

// bitFlow follows the bits that one memory access (the tracked access) loads or stores, through the
// instructions around it.
type bitFlow struct {
	f          *function
	n          int // the index of the instruction with the access
	access     *insn.Access
	memory     symbolicAddress // the accessed memory
	known      bool            // memory is known
	load       bool            // the loaded bits are tracked
	atAccess   bool            // the instructions before the access were applied
	used       uint64          // bits that something depends on
	changed    uint64          // bits that stores change while they write the others back
	unknownUse bool            // an instruction of unknown effect uses the result
	writesBack bool            // bits are written back unchanged
	tracked    bool            // the access puts bits into registers
	merges     bool            // other bits are written to the memory
	left       int             // number of instructions that may still be followed
	fresh      uint64          // the last new origin
	seen       map[visit]bool
}

// symbolicAddress is an unknown base plus offset bytes. Equal origins mean the same base.
type symbolicAddress struct {
	origin uint64
	offset int64
}

// visit is the target of a jump, with the bits of the tracked access on which flags and registers
// depend there.
type visit struct {
	instruction int
	flags       uint64
	from        [registers]uint64
}

// bitState is what bitFlow knows of registers, flags and stack slots before an instruction.
type bitState struct {
	registers [registers]*bitVector
	// The bits of the tracked access on which the flags depend. The carry may also depend on the
	// bit that a shift dropped.
	flags, carry uint64
	addresses    [registers]symbolicAddress
	slots        map[symbolicAddress]stackSlot // address of a stack slot -> its content
	stores       uint64                        // number of stores so far: loads with no store between them are equal
}

// stackSlot is the content of a slot of the stack: bits, and an address if it holds one.
type stackSlot struct {
	size int
	bits *bitVector
	spot symbolicAddress
}

// The origins (see symbolicAddress) of initial values: constants, the thread pointer, and
// registers.
const (
	originConstant = iota + 1
	originThread
	originRegister
	originOther = originRegister + registers
)

func newBitState() *bitState {
	s := &bitState{slots: map[symbolicAddress]stackSlot{}}
	for r := range s.addresses {
		s.addresses[r] = symbolicAddress{origin: originRegister + uint64(r)}
	}
	return s
}

func (s *bitState) clone() *bitState {
	c := *s
	c.slots = maps.Clone(s.slots)
	return &c
}

// isLive reports whether any register or flag depends on the tracked access.
func (s *bitState) isLive() bool {
	for _, b := range &s.registers {
		if b.dependencies() != 0 {
			return true
		}
	}
	return s.flags|s.carry != 0
}

// origin returns a new origin (see symbolicAddress), which no other value has.
func (w *bitFlow) origin() uint64 {
	w.fresh++
	return originOther + w.fresh
}

// mixOrigins combines origins (see symbolicAddress) into one. Equal origins give equal results.
func mixOrigins(parts ...uint64) uint64 {
	h := uint64(14695981039346656037)
	for _, p := range parts {
		h = (h ^ p) * 1099511628211
		h ^= h >> 29
	}
	return h | 1<<63
}

// addressOf returns the address of an access.
func (s *bitState) addressOf(a *insn.Access) symbolicAddress {
	var at symbolicAddress
	switch {
	case a.Inexact:
		return symbolicAddress{}
	case a.Base < 0:
		at.origin = originConstant
	case a.Base < registers:
		at = s.addresses[a.Base]
	}
	if a.Index >= 0 && a.Index < registers {
		i := s.addresses[a.Index]
		at.origin = mixOrigins(at.origin, i.origin, uint64(i.offset), uint64(a.Scale))
	}
	if a.Thread {
		at.origin = mixOrigins(at.origin, originThread)
	}
	at.offset += a.Disp
	return at
}

// onStack reports whether an address is in the function's own stack frame.
func (w *bitFlow) onStack(i int, at symbolicAddress) bool {
	sp := uint64(originRegister + w.f.object.stackPointer())
	if at.origin == sp {
		return true
	}
	b := &w.f.cfaBases[i]
	return b.value.kind == valueFrame && at.origin == originRegister+uint64(b.register)
}

// operandBits returns the bits of an operand.
func (w *bitFlow) operandBits(s *bitState, i int, o insn.BitOperand) *bitVector {
	switch o.Kind {
	case insn.BitNothing:
		return constantBits(0)
	case insn.BitConst:
		return constantBits(o.Value)
	case insn.BitRegister:
		b := s.registers[o.Register%registers]
		if o.High {
			return shiftBits(insn.BitRight, b, 8, 64)
		}
		return b
	case insn.BitMemory:
		if x := &w.f.code[i]; len(x.Accesses) > 0 {
			return w.loadBits(s, i, &x.Accesses[0])
		}
	}
	return nil
}

// loadBits returns the bits that an instruction loads.
func (w *bitFlow) loadBits(s *bitState, i int, a *insn.Access) *bitVector {
	at := s.addressOf(a)
	if w.load && w.atAccess && i == w.n {
		w.memory, w.known = at, true
		return w.memoryBits(0, a.Size, true)
	}
	if w.known && at.origin == w.memory.origin && at.origin != 0 {
		if off := at.offset - w.memory.offset; off+int64(a.Size) > 0 && off < int64(w.access.Size) {
			return w.memoryBits(off, a.Size, false)
		}
	}
	if k, ok := s.slots[at]; ok && k.size == a.Size {
		return k.bits
	}
	return nil
}

// memoryBits returns copies of the bits of the tracked access's memory, from a byte offset on. With
// follow, what is computed from them depends on the tracked access.
func (w *bitFlow) memoryBits(offset int64, size int, follow bool) *bitVector {
	return newBitVector(min(8*size, 64), func(i int) (b bit) {
		if at := offset*8 + int64(i); at >= 0 && at < int64(8*w.access.Size) {
			b = bit{kind: bitCopied, at: int8(at)}
			if follow {
				b.from = 1 << at
			}
		}
		return b
	})
}

// step applies an instruction.
func (w *bitFlow) step(s *bitState, i int) {
	x := &w.f.code[i]
	for k := range x.Accesses {
		w.useAddress(s, x.Accesses[k].Base)
		w.useAddress(s, x.Accesses[k].Index)
	}
	if x.Kind == insn.Call {
		w.applyCall(s)
		return
	}
	b, ok := w.f.bits(i)
	if !ok && (x.Kind == insn.Other || x.Kind == insn.Syscall || x.Kind == insn.CondJump) {
		w.useAll(s)
	}
	if b.Reads {
		w.used |= s.flags
	}
	if b.Carry {
		w.used |= s.carry
	}
	from, with, old := w.operandBits(s, i, b.From), w.operandBits(s, i, b.With), w.operandBits(s, i, b.To)
	result := calculate(&b, from, with, old)
	w.setFlags(s, x, &b, result, from, with)
	to, base := w.address(s, x), s.addressIn(x.Base)
	base.offset += x.Update
	w.applyStores(s, i, &b, result)
	for left := x.Written & (1<<registers - 1); left != 0; left &= left - 1 {
		r := mathbits.TrailingZeros64(left)
		s.registers[r], s.addresses[r] = nil, symbolicAddress{origin: w.origin()}
	}
	if x.Base >= 0 && x.Base < registers {
		s.addresses[x.Base] = base
	}
	if x.Dest >= 0 && x.Dest < registers && to.origin != 0 {
		s.addresses[x.Dest] = to
	}
	if b.To.Kind == insn.BitRegister {
		s.registers[b.To.Register%registers] = writeRegister(&b, result, old)
	}
}

// setFlags sets the bits of the tracked access on which the flags depend after an instruction.
func (w *bitFlow) setFlags(s *bitState, x *instruction, b *insn.Bits, result, from, with *bitVector) {
	if !b.Sets {
		return
	}
	s.flags, s.carry = result.dependencies(), result.dependencies()|carryOut(b, from, with)
	if b.Old {
		s.carry |= from.dependencies()
	}
	if x.Kind == insn.CondJump { // it compares by itself
		w.used |= s.flags
		s.flags, s.carry = 0, 0
	}
}

// applyStores applies the stores of an instruction; result holds the bits that it computed.
func (w *bitFlow) applyStores(s *bitState, i int, b *insn.Bits, result *bitVector) {
	x := &w.f.code[i]
	for k := range x.Accesses {
		switch a := &x.Accesses[k]; {
		case a.Store && b.To.Kind == insn.BitMemory && x.Op == insn.Store:
			w.storeBits(s, i, a, result, s.addressIn(x.Source))
		case a.Store && b.To.Kind == insn.BitMemory:
			w.storeBits(s, i, a, result, symbolicAddress{origin: w.origin()})
		case a.Store:
			w.storeBits(s, i, a, nil, symbolicAddress{origin: w.origin()})
		}
	}
}

// carryOut returns the bits of the tracked access on which the last bit that a shift drops depends.
func carryOut(b *insn.Bits, from, with *bitVector) uint64 {
	by, ok := with.constant(8)
	n := uint64(8 * b.Width)
	switch {
	case b.Op != insn.BitLeft && b.Op != insn.BitRight && b.Op != insn.BitSigned:
		return 0
	case !ok:
		return from.dependencies()
	case by == 0 || by > n:
		return 0
	case b.Op == insn.BitLeft:
		return from.at(int(n - by)).from
	}
	return from.at(int(by - 1)).from
}

// writeRegister returns the content of a register after an instruction wrote result: 1 or 2 bytes
// leave its other bits unchanged, 4 bytes clear them.
func writeRegister(b *insn.Bits, result, old *bitVector) *bitVector {
	if b.Width >= 4 {
		return result
	}
	shift := 0
	if b.To.High {
		shift = 8
		old = shiftBits(insn.BitRotate, old, 8, 64)
	}
	return newBitVector(64, func(i int) bit {
		if i >= shift && i < shift+8*b.Width {
			return result.at(i - shift)
		}
		return old.at(i)
	})
}

// addressIn returns the address in a register; if there is no register, the address 0.
func (s *bitState) addressIn(r insn.Register) symbolicAddress {
	if r < 0 || r >= registers {
		return symbolicAddress{origin: originConstant}
	}
	return s.addresses[r]
}

// address returns the address that an instruction puts into its destination register. Its origin is
// 0 if it is unknown.
func (w *bitFlow) address(s *bitState, x *instruction) symbolicAddress {
	word := w.f.object.word()
	if x.Op == insn.Load && len(x.Accesses) > 0 && int64(x.Accesses[0].Size) == word {
		at := s.addressOf(&x.Accesses[0])
		if k, ok := s.slots[at]; ok && int64(k.size) == word && k.spot.origin != 0 {
			return k.spot
		}
		if at.origin != 0 {
			return symbolicAddress{origin: mixOrigins(at.origin, uint64(at.offset), s.stores)}
		}
	}
	if int64(x.Width) != word {
		return symbolicAddress{}
	}
	from := s.addressIn(x.Source)
	switch x.Op {
	case insn.Move:
		return from
	case insn.SetConst:
		return symbolicAddress{originConstant, x.Value}
	case insn.AddConst:
		return symbolicAddress{from.origin, from.offset + x.Value}
	case insn.AddRegister:
		if x.Second != insn.NoRegister {
			second := s.addressIn(x.Second)
			return symbolicAddress{mixOrigins(from.origin, second.origin, uint64(second.offset), uint64(x.Scale)), from.offset + x.Value}
		}
	}
	return symbolicAddress{}
}

// useAddress marks the bits on which a register depends as used, because an instruction uses the
// register as an address.
func (w *bitFlow) useAddress(s *bitState, r insn.Register) {
	if r >= 0 && r < registers {
		w.used |= s.registers[r].dependencies()
	}
}

// useAll marks all bits on which a register or flag depends as used, because an instruction has
// unknown effects.
func (w *bitFlow) useAll(s *bitState) {
	w.unknownUse = w.unknownUse || s.isLive()
	for _, b := range &s.registers {
		w.used |= b.dependencies()
	}
	w.used |= s.flags | s.carry
}

// storeBits applies a store.
func (w *bitFlow) storeBits(s *bitState, i int, a *insn.Access, b *bitVector, holds symbolicAddress) {
	at := s.addressOf(a)
	here := w.atAccess && i == w.n
	if here && !w.load {
		w.memory, w.known = at, true
	}
	if w.known && (here || at.origin == w.memory.origin && at.origin != 0) {
		if off := (at.offset - w.memory.offset) * 8; off > -64 && off < int64(8*w.access.Size) {
			w.mergeStore(here, b, off, 8*a.Size)
			return
		}
	}
	w.used |= b.dependencies()
	if !w.onStack(i, at) {
		s.stores++
		clear(s.slots)
		return
	}
	for k, v := range s.slots {
		if k.origin != at.origin || k.offset < at.offset+int64(a.Size) && at.offset < k.offset+int64(v.size) {
			delete(s.slots, k)
		}
	}
	s.slots[at] = stackSlot{a.Size, b, holds}
}

// mergeStore applies a store to the memory of the tracked access; here says that the store is that
// access. Bits that it writes back count as unused; it changes all others.
func (w *bitFlow) mergeStore(here bool, b *bitVector, off int64, n int) {
	var changed, used uint64
	for k := range min(n, 64) {
		at, v := off+int64(k), b.at(k)
		if v.kind == bitCopied && int64(v.at) == at {
			w.writesBack = w.writesBack || here || v.from != 0
			continue
		}
		used |= v.from
		if at >= 0 && at < 64 {
			changed |= 1 << at
		}
	}
	w.used |= used
	w.merges = w.merges || changed != 0
	if here || b.dependencies() != 0 {
		w.changed |= changed
	}
}

// applyCall marks the registers that may hold arguments as used, and discards memory and the
// registers that the callee may change.
func (w *bitFlow) applyCall(s *bitState) {
	w.useMask(s, w.f.object.arguments())
	for r := range s.addresses {
		if w.f.object.clobbered()>>r&1 != 0 {
			s.registers[r], s.addresses[r] = nil, symbolicAddress{origin: w.origin()}
		}
	}
	s.flags, s.carry = 0, 0
	s.stores++
	clear(s.slots)
}

func (w *bitFlow) useMask(s *bitState, mask uint64) {
	for r := range s.registers {
		if mask>>r&1 != 0 {
			w.unknownUse = w.unknownUse || s.registers[r].dependencies() != 0
			w.used |= s.registers[r].dependencies()
		}
	}
}

// arguments has a bit for each register that may hold arguments of a call.
func (o *loadObject) arguments() uint64 {
	switch o.symbols.Arch {
	case isa.ARM64:
		return 1<<8 - 1
	case isa.X86:
		return 1<<0 | 1<<1 | 1<<2
	}
	return 1<<1 | 1<<2 | 1<<4 | 1<<5 | 1<<8 | 1<<9
}

// useResult marks the function's return value as used.
func (w *bitFlow) useResult(s *bitState, i int) {
	t := w.f.types
	n := t.Function(w.f.code[i].address)
	second := 2 // dx in 32-bit code
	switch w.f.object.symbols.Arch {
	case isa.AMD64, isa.ARM64:
		second = 1
	}
	if n == 0 {
		w.useMask(s, 1|1<<second)
		return
	}
	typ := t.Strip(t.Scopes[n].Type)
	switch x := &t.Types[typ]; {
	case x.Kind == types.Void || x.Float:
	case x.Kind.Aggregate() || x.Size <= 0 || x.Size > w.f.object.word():
		w.useMask(s, 1|1<<second)
	default:
		for k := range int(8 * x.Size) {
			w.used |= s.registers[0].at(k).from
		}
	}
}
