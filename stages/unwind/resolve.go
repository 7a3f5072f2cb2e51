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

// resolvedPC is the location of a PC with its traits; traits is 0 until the PC is looked up.
type resolvedPC struct {
	location program.LocationNo
	traits   traits
	inTree   bool // as a plain frame (see plainFrameNo)
}

// pcEntry caches two locations for a PC: its own and, if it is a return address, that of the last
// byte of the call before it (call).
type pcEntry struct{ own, call resolvedPC }

func (u *Unwinder) pcEntry(number symbolize.PCNo) *pcEntry {
	c := u.cache
	for int(number) >= len(c.pcs) {
		c.pcs = chunked.Append(c.pcs, pcEntry{})
	}
	return &c.pcs[number]
}

// resolveNumbered returns the location of a PC with this number, from the cache if possible.
func (u *Unwinder) resolveNumbered(number symbolize.PCNo, pc uint64) resolvedPC {
	m := u.pcEntry(number)
	if m.own.traits == 0 {
		m.own = u.resolvePC(pc)
	}
	return m.own
}

// resolveCallBefore returns the location of the last byte of the call before a return address, from
// the cache if possible.
func (u *Unwinder) resolveCallBefore(number symbolize.PCNo, pc uint64) resolvedPC {
	m := u.pcEntry(number)
	if m.call.traits == 0 {
		m.call = u.resolvePC(pc - 1)
	}
	return m.call
}

// resolvePC resolves a PC at the time of the current stack.
func (u *Unwinder) resolvePC(pc uint64) resolvedPC {
	location := u.resolve(pc)
	return resolvedPC{location: location, traits: u.traits(location)}
}

func (u *Unwinder) resolve(pc uint64) program.LocationNo {
	return u.process.Resolve(pc, u.pendingStack.at).Location
}

func (u *Unwinder) function(location program.LocationNo) *program.Function {
	p := u.resolver.Program
	return &p.Functions[p.Location(location).Function]
}

// traits are the properties of a location that rules check in every frame: the kind of its function
// in the lower bits, flags in the upper ones. 0 means that they have not been looked up.
type traits uint16

const (
	anyKind traits = iota
	pltKind
	outlineKind
	cloneKind
	staticKind
	kindMask traits = 7

	traitsKnown    = kindMask + 1
	isTrampoline   = traitsKnown << 1   // a signal trampoline begins there
	isLinker       = isTrampoline << 1  // in the dynamic linker
	callerOwnsFP   = isLinker << 1      // at its calls, the function has set its frame pointer (see insertMissing)
	leafOwnsFP     = callerOwnsFP << 1  // at this instruction, the leaf has set its frame pointer
	isThreadStart  = leafOwnsFP << 1    // see threadStartFunctions
	isContextCode  = isThreadStart << 1 // makecontext may let a stack return to it
	isInjectedCall = isContextCode << 1 // a signal handler made the interrupted code call the function
)

func (t traits) kind() traits { return t & kindMask }

func (t traits) has(any traits) bool { return t&any != 0 }

// locationEntry caches the properties of a location.
type locationEntry struct {
	traits    traits
	returnsTo callEvidence
	// frames says whose frame pointer is in the register: [0] while a function makes a call at the
	// location, [1] while the leaf executes the instruction there.
	frames [2]struct {
		known   bool
		pointer cfi.FramePointer
	}
}

func (u *Unwinder) locationEntry(location program.LocationNo) *locationEntry {
	if n := int(location) + 1 - len(u.cache.locations); n > 0 {
		u.cache.locations = append(u.cache.locations, make([]locationEntry, n)...)
	}
	return &u.cache.locations[location]
}

// traits returns the traits of a location.
func (u *Unwinder) traits(location program.LocationNo) traits {
	e := u.locationEntry(location)
	if e.traits == 0 {
		e.traits = u.findTraits(location)
	}
	return e.traits
}

func (u *Unwinder) findTraits(location program.LocationNo) traits {
	p := u.resolver.Program
	l, f := p.Location(location), u.function(location)
	t := traitsKnown | kindOf(f.Kind)
	if l.Offset == f.Offset && (slices.Contains(sigreturns, f.Linkage) || u.resolver.BeginsTrampoline(location)) {
		t |= isTrampoline
	}
	if slices.Contains(injectedFunctions, strings.TrimSuffix(f.Linkage, ".abi0")) {
		t |= isInjectedCall
	}
	if hasAnyPrefix(p.Objects[f.Object].Name, linkerPrefixes) {
		t |= isLinker
	}
	if hasAlias(f, threadStartFunctions) {
		t |= isThreadStart
	}
	if u.mayBeContextCode(f) {
		t |= isContextCode
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

// isMarker reports whether a word is not an address, but a marker of the decoder.
func isMarker(word uint64) bool { return word >= decode.MarkCall }

// Cache keeps, for all processes of a recording, what was looked up by PC, location and function,
// and the memory that the processes' unwinders reuse.
type Cache struct {
	// IgnoreSettled makes the unwinder apply the rules to all words of each stack, also beyond a
	// settled caller (see callerState). Tests check that this gives the same tree.
	IgnoreSettled bool

	last    *Unwinder
	batch   *PathBatch    // paths of the current process that were not emitted yet
	callers []callerState // word of the current process -> its state as a caller

	// Filled on demand.
	pcs       []pcEntry                         // by symbolize.PCNo
	locations []locationEntry                   // by program.LocationNo
	functions []functionClass                   // by program.FunctionNo
	tables    []cachedTable                     // by program.ObjectNo
	gaps      map[*symbolize.Scope]map[edge]gap // for each scope: an edge -> the frames that are missing there
}

// cachedTable is a load object's call frame information, nil if there is none. found says that it
// was looked up.
type cachedTable struct {
	table *cfi.Table
	found bool
}

// NewCache returns an empty cache.
func NewCache() *Cache { return &Cache{gaps: map[*symbolize.Scope]map[edge]gap{}} }
