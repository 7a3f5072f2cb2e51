package unwind

import (
	"stackmill/internal/memo"
	"stackmill/schema"
	"stackmill/stages/loadobject/cfi"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
	"stackmill/stages/symbolize"
)

// edge is a pair of neighbors in a chain of frame pointers: the locations of callee and caller,
// neither None, and whether the callee is the leaf of user code. They are packed into one number to
// make map lookups fast.
type edge uint64

func edgeOf(callee, caller program.LocationNo, leaf bool) edge {
	e := edge(callee)<<32 | edge(caller)<<1
	if leaf {
		e |= 1
	}
	return e
}

func (e edge) callee() program.LocationNo { return program.LocationNo(e >> 32) }
func (e edge) caller() program.LocationNo { return program.LocationNo(e >> 1 & (1<<31 - 1)) }
func (e edge) leaf() bool                 { return e&1 != 0 }

// gap holds the frames that are missing between callee and caller of an edge, from the leaf: an
// artificial frame for unknown functions, then a function inferred from the machine code. Each may
// be None.
type gap struct{ unknown, inferred program.LocationNo }

// appendTo appends the frames of a gap to a stack.
func (g gap) appendTo(frames []Frame) []Frame {
	if g.unknown >= 0 {
		frames = append(frames, insertedFrame(g.unknown, schema.RuleMissing))
	}
	if g.inferred >= 0 {
		frames = append(frames, insertedFrame(g.inferred, schema.RuleInferred))
	}
	return frames
}

// insertMissing inserts the callers that a chain of frame pointers lacks (S22). Some code runs with
// its caller's frame pointer, so that the chain continues with the caller's caller: the procedure
// linkage table, functions that never set the frame pointer, others before they set it and after
// they restored it, signal trampolines. The missing caller is the function that the call
// instruction in the next frame enters. If this does not explain the edge, an artificial frame
// fills the gap, so that no edge contradicts the machine code (S26).
//
//	before: tiny@plt <- outer <- main          outer calls hot, hot calls tiny@plt
//	after:  tiny@plt <- hot <- outer <- main
//	before: compare <- qsort <- main           main calls sort, sort calls qsort
//	after:  compare <- qsort <- sort <- main
func (u *Unwinder) insertMissing(frames []Frame) []Frame {
	filled := 0 // how many frames are copied to u.filled, each followed by its gap
	for i := u.kernelFrames; i+1 < len(frames); i++ {
		g := u.gapAfter(frames, i)
		if g == noGap {
			continue
		}
		if filled == 0 {
			u.filled = u.filled[:0]
		}
		u.filled = g.appendTo(append(u.filled, frames[filled:i+1]...))
		filled = i + 1
	}
	if filled == 0 {
		return frames
	}
	u.frames, u.filled = append(u.filled, frames[filled:]...), frames
	return u.frames
}

// gapAfter returns the frames that are missing between frames[i] and frames[i+1].
func (u *Unwinder) gapAfter(frames []Frame, i int) gap {
	if !u.chained[i] || frames[i+1].Rule == schema.RuleLeafCheck {
		return noGap
	}
	leaf := i == u.kernelFrames
	if u.hasOwnFrame(&frames[i], leaf) {
		return noGap
	}
	e := edgeOf(frames[i].Location, frames[i+1].Location, leaf)
	return memo.Get(u.gaps, e, func() gap { return u.findGap(e) })
}

// hasOwnFrame reports whether, in a frame, the function has set its own frame pointer.
func (u *Unwinder) hasOwnFrame(f *Frame, leaf bool) bool {
	own := callerOwnsFP
	if leaf {
		own = leafOwnsFP
	}
	if f.traits.has(own) {
		return true
	}
	if u.framePointer(f.Location, leaf) != cfi.FrameOwn {
		return false
	}
	if f.Word >= 0 && u.part == stacktree.Native { // cached for all stacks with this word
		m := u.pcEntry(u.numbers[f.Word])
		for _, s := range []*resolvedPC{&m.own, &m.call} {
			if s.location == f.Location {
				s.traits |= own
			}
		}
	}
	return true
}

// framePointer returns whose frame pointer the register holds at a location: the function's own or
// its caller's. leaf says that the function is executing there, not calling.
func (u *Unwinder) framePointer(location program.LocationNo, leaf bool) cfi.FramePointer {
	n := 0
	if leaf {
		n = 1
	}
	if f := &u.locationEntry(location).frames[n]; f.known {
		return f.pointer
	}
	pointer := u.findFramePointer(location, leaf)
	f := &u.locationEntry(location).frames[n]
	f.known, f.pointer = true, pointer
	return pointer
}

// findFramePointer finds the result of framePointer by the call frame information, unless that
// never mentions the function's frame pointer; else by where the machine code sets it. For a
// function that is calling, machine code that has set it before is enough.
func (u *Unwinder) findFramePointer(location program.LocationNo, leaf bool) cfi.FramePointer {
	if t := u.traits(location); t.has(isTrampoline) || t.kind() == pltKind {
		return cfi.FrameOther
	}
	offset := u.resolver.Program.Location(location).Offset
	set, known := u.resolver.SetsFrame(location)
	before := set > 0 && set <= offset
	if !leaf && before {
		return cfi.FrameOwn
	}
	if table := u.frameTable(location); table != nil {
		switch state := table.FramePointer(offset); {
		case state == cfi.FrameOwn:
			return state
		case state == cfi.FrameOther && (set == 0 || table.FramePointer(set) == cfi.FrameOwn):
			return state
		}
	}
	switch {
	case known && !before || leaf && u.resolver.Returns(location):
		return cfi.FrameOther
	case known:
		return cfi.FrameOwn
	}
	return cfi.FrameUnknown
}

// frameTable returns the call frame information of a location's load object, nil if there is
// none.
func (u *Unwinder) frameTable(location program.LocationNo) *cfi.Table {
	p := u.resolver.Program
	n := p.Location(location).Object
	if more := int(n) + 1 - len(u.cache.tables); more > 0 {
		u.cache.tables = append(u.cache.tables, make([]cachedTable, more)...)
	}
	a := &u.cache.tables[n]
	if !a.found {
		*a = cachedTable{u.frameTables.of(u.resolver.ObjectFile(n), p.Objects[n].Path), true}
	}
	return a.table
}

// noGap says that no frame is missing.
var noGap = gap{program.None, program.None}

func (u *Unwinder) findGap(e edge) gap {
	g, callee := noGap, e.callee()
	if u.traits(callee).has(isTrampoline | isInjectedCall) {
		callee = program.None // entered by a signal, not by a call
	}
	if u.framePointer(e.callee(), e.leaf()) == cfi.FrameUnknown && !u.scope.Contradicts(e.caller(), e.callee()) {
		return g
	}
	caller, missing := u.scope.Infer(e.caller(), callee, func() bool { return u.callsMain(e.caller()) })
	if !missing {
		return g
	}
	unknown := symbolize.InferredCaller{Location: program.None}
	if caller != unknown && !u.keepsCaller(e.callee()) {
		caller = unknown
	}
	if !caller.Calls {
		g.unknown = u.resolver.Artificial(symbolize.MissingCaller)
	}
	g.inferred = caller.Location
	return g
}

// keepsCaller reports whether, at a location, the frame pointer register still holds the caller's
// frame pointer, or may do so because nothing is known.
func (u *Unwinder) keepsCaller(location program.LocationNo) bool {
	table := u.frameTable(location)
	offset := u.resolver.Program.Location(location).Offset
	return table == nil || table.FramePointer(offset) != cfi.FrameOther || table.KeepsCaller(offset)
}
