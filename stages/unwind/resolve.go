package unwind

import (
	"slices"
	"strings"

	"stackmill/internal/chunked"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/cfi"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/program"
	"stackmill/stages/symbolize"
)

// spot is a location with its traits, none until it is known.
type spot struct {
	location program.LocationNo
	traits   traits
	inTree   bool // as a plainFrame
}

// meaning is what a PC means, and the last byte of the call before it, if it is a return
// address.
type meaning struct{ own, call spot }

// meaning returns that of a PC by its number.
func (u *Unwinder) meaning(number symbolize.PCNo) *meaning {
	k := u.known
	for int(number) >= len(k.meanings) {
		k.meanings = chunked.Append(k.meanings, meaning{})
	}
	return &k.meanings[number]
}

// at returns what a PC means.
func (u *Unwinder) at(number symbolize.PCNo, pc uint64) spot {
	m := u.meaning(number)
	if m.own.traits == 0 {
		m.own = u.spot(pc)
	}
	return m.own
}

// callBefore is at for the last byte of the call before a return address.
func (u *Unwinder) callBefore(number symbolize.PCNo, pc uint64) spot {
	m := u.meaning(number)
	if m.call.traits == 0 {
		m.call = u.spot(pc - 1)
	}
	return m.call
}

// spot looks for what a PC means while the stack is recorded.
func (u *Unwinder) spot(pc uint64) spot {
	location := u.resolve(pc)
	return spot{location: location, traits: u.traits(location)}
}

func (u *Unwinder) resolve(pc uint64) program.LocationNo {
	return u.process.Resolve(pc, u.reading.at).Location
}

func (u *Unwinder) function(location program.LocationNo) *program.Function {
	p := u.resolver.Program
	return &p.Functions[p.Location(location).Function]
}

// traits are the properties of a location that rules ask of every frame: the kind of its
// function, and further bits. They are not 0 once they were looked up.
type traits uint16

const (
	anyKind traits = iota
	pltKind
	outlineKind
	cloneKind
	staticKind
	kinds traits = 7 // the bits of the kind

	areKnown      = kinds + 1
	isTrampoline  = areKnown << 1      // a signal trampoline begins there
	isLinker      = isTrampoline << 1  // in the dynamic linker
	callsWithOwn  = isLinker << 1      // as a caller the function has the frame pointer for itself, as far as is known
	leavesWithOwn = callsWithOwn << 1  // as a leaf likewise
	isFirst       = leavesWithOwn << 1 // threads begin with the function, and only others like it call it
	isContext     = isFirst << 1       // makecontext may let a stack return to it
	isInjected    = isContext << 1     // a signal handler made the interrupted code call the function
)

func (t traits) kind() traits { return t & kinds }

func (t traits) has(any traits) bool { return t&any != 0 }

// located is what is known of a location.
type located struct {
	traits traits
	call   callState
	// frames say whose frame pointer the function has there: at a caller's call, at the
	// instruction of a leaf. They are as far as they were asked for.
	frames [2]struct {
		known   bool
		pointer cfi.FramePointer
	}
}

// located returns what is known of a location.
func (u *Unwinder) located(location program.LocationNo) *located {
	if n := int(location) + 1 - len(u.known.located); n > 0 {
		u.known.located = append(u.known.located, make([]located, n)...)
	}
	return &u.known.located[location]
}

// traits returns the traits of a location, which are found once.
func (u *Unwinder) traits(location program.LocationNo) traits {
	k := u.located(location)
	if k.traits == 0 {
		k.traits = u.findTraits(location)
	}
	return k.traits
}

func (u *Unwinder) findTraits(location program.LocationNo) traits {
	p := u.resolver.Program
	l, f := p.Location(location), u.function(location)
	t := areKnown | kindOf(f.Kind)
	if l.Offset == f.Offset && (slices.Contains(sigreturns, f.Linkage) || u.resolver.BeginsTrampoline(location)) {
		t |= isTrampoline
	}
	if slices.Contains(injected, strings.TrimSuffix(f.Linkage, ".abi0")) {
		t |= isInjected
	}
	if hasAny(p.Objects[f.Object].Name, linkers) {
		t |= isLinker
	}
	if isFirstFunction(f) {
		t |= isFirst
	}
	if u.isContextCode(f) {
		t |= isContext
	}
	return t
}

// traitsOf returns the traits of a frame's location.
func (u *Unwinder) traitsOf(f *Frame) traits {
	if f.traits == 0 {
		f.traits = u.traits(f.Location)
	}
	return f.traits
}

func kindOf(k funcinfo.Kind) traits {
	switch k {
	case funcinfo.PLT:
		return pltKind
	case funcinfo.Outline:
		return outlineKind
	case funcinfo.Clone:
		return cloneKind
	case funcinfo.Static:
		return staticKind
	}
	return anyKind
}

// isMarker reports whether a word is no address.
func isMarker(word uint64) bool { return word >= decode.MarkCall }
