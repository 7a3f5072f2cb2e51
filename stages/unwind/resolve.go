package unwind

import (
	"math/bits"

	"stackmill/stages/arena"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/cfi"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/symbolize"
)

// recent remembers what PCs meant when they were resolved last: stacks have most
// of their PCs in common with those before. A PC has one slot. What is in the slots of
// other processes is nothing.
type recent struct {
	slots   []slot
	process int32
	shift   int // of a hash, to the number of a slot
}

// slot is a PC and its span, and that of the call before it, if it is a return address:
// both are asked for one after the other.
type slot struct { // a line of the processor's cache
	pc          uint64
	from, until int64
	location    symbolize.LocationNo
	process     int32 // from 1
	call        symbolize.Span
	called      bool // call is known
}

// maxRecentBits bounds the slots: more would not stay in the processor's cache.
const maxRecentBits = 14

// next is for the next process, which has so many stacks.
func (r *recent) next(stacks int) {
	n := min(bits.Len(uint(stacks))+3, maxRecentBits)
	if len(r.slots) < 1<<n {
		r.slots = arena.Places[slot](1 << n)
	}
	r.process, r.shift = r.process+1, 64-n
}

// at returns what a PC means at time t.
func (u *Unwinder) at(pc uint64, t int64) symbolize.Span {
	s := u.slot(pc, t)
	return symbolize.Span{From: s.from, Until: s.until, Location: s.location}
}

// callBefore is at for the last byte of the call before a return address.
func (u *Unwinder) callBefore(pc uint64, t int64) symbolize.Span {
	s := u.slot(pc, t)
	if !s.called || t < s.call.From || t >= s.call.Until {
		s.call, s.called = u.process.Resolve(pc-1, t), true
	}
	return s.call
}

// slot returns the slot of a PC, which is resolved if need be.
func (u *Unwinder) slot(pc uint64, t int64) *slot {
	const golden = 0x9e3779b97f4a7c15
	r := &u.known.recent
	s := &r.slots[pc*golden>>r.shift]
	if s.pc != pc || s.process != r.process || t < s.from || t >= s.until {
		span := u.process.Resolve(pc, t)
		s.pc, s.from, s.until, s.location, s.process = pc, span.From, span.Until, span.Location, r.process
		s.called = false
	}
	return s
}

func (u *Unwinder) function(location symbolize.LocationNo) *symbolize.Function {
	p := u.resolver.Program
	return &p.Functions[p.Locations[location].Function]
}

// traits are the properties of a location that rules ask of every frame. They are
// small: there is one of them for each location.
type traits struct {
	known      bool
	trampoline bool // a signal trampoline begins there
	linker     bool // in the dynamic linker
	kind       kind
	// frames say whose frame pointer the function has there: at a caller's call, at the
	// instruction of a leaf. They are as far as they were asked for.
	frames [2]struct {
		known   bool
		pointer cfi.FramePointer
	}
}

// traits returns the traits of a location, which are found once.
func (u *Unwinder) traits(location symbolize.LocationNo) *traits {
	if int(location) < len(u.known.traits) && u.known.traits[location].known {
		return &u.known.traits[location]
	}
	return u.learn(location)
}

func (u *Unwinder) learn(location symbolize.LocationNo) *traits {
	if n := int(location) + 1 - len(u.known.traits); n > 0 {
		u.known.traits = append(u.known.traits, make([]traits, n)...)
	}
	k, p := &u.known.traits[location], u.resolver.Program
	l, f := &p.Locations[location], u.function(location)
	*k = traits{known: true, trampoline: isTrampoline(l, f), linker: hasAny(p.Objects[f.Object].Name, linkers), kind: kindOf(f.Kind)}
	return k
}

// kind is a kind of function that rules treat in a way of its own.
type kind uint8

// The kinds.
const (
	anyKind kind = iota
	pltKind
	outlineKind
	cloneKind
	staticKind
)

func kindOf(k symtab.Kind) kind {
	switch k {
	case symtab.PLT:
		return pltKind
	case symtab.Outline:
		return outlineKind
	case symtab.Clone:
		return cloneKind
	case symtab.Static:
		return staticKind
	}
	return anyKind
}

// isMarker reports whether a word is no address.
func isMarker(word uint64) bool { return word >= decode.MarkCall }
