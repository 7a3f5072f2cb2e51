package unwind

import (
	"stackmill/schema"
	"stackmill/stages/loadobject/cfi"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
	"stackmill/stages/symbolize"
)

// edge is two frames next to each other in a chain of frame pointers: the callee's
// location and its caller's, neither of them negative, and whether the callee is the
// user's leaf. It is one number so that it is found fast.
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

// gap is what stands between them: a frame for callers that are not known, then an
// inferred one; None if there is no such frame.
type gap struct{ unknown, inferred program.LocationNo }

// fill appends the frames of a gap.
func (g gap) fill(frames []Frame) []Frame {
	if g.unknown >= 0 {
		frames = append(frames, putIn(g.unknown, schema.RuleMissing))
	}
	if g.inferred >= 0 {
		frames = append(frames, putIn(g.inferred, schema.RuleInferred))
	}
	return frames
}

// missing puts in the callers that a chain of frame pointers lacks (S22), or a stack
// lacks where it goes on by the frame pointer alone.
// Code without a frame of its own, such as the procedure linkage table, or that of
// functions that set none, and of others before they set it and after they gave
// it up, leaves the frame pointer to its caller, whose caller is the next in the
// chain; so does a signal's trampoline. The call there gives the function that it
// enters. Where that is not all, a frame stands for what is missing: no
// edge contradicts the machine code (S26).
//
//	before: tiny@plt <- outer <- main          outer calls hot, hot calls tiny@plt
//	after:  tiny@plt <- hot <- outer <- main
//	before: compare <- qsort <- main           main calls sort, sort calls qsort
//	after:  compare <- qsort <- sort <- main
func (u *Unwinder) missing(frames []Frame) []Frame {
	filled := 0 // how many of the frames are in callers, with what is missing after each
	for i := u.kernel; i+1 < len(frames); i++ {
		g := u.gapAfter(frames, i)
		if g == noGap {
			continue
		}
		if filled == 0 {
			u.callers = u.callers[:0]
		}
		u.callers = g.fill(append(u.callers, frames[filled:i+1]...))
		filled = i + 1
	}
	if filled == 0 {
		return frames
	}
	u.frames, u.callers = append(u.callers, frames[filled:]...), frames
	return u.frames
}

// gapAfter returns what is missing between frames[i] and the frame after it.
func (u *Unwinder) gapAfter(frames []Frame, i int) gap {
	if !u.chained[i] || frames[i+1].Rule == schema.RuleLeafCheck {
		return noGap
	}
	leaf := i == u.kernel
	if u.hasOwnFrame(&frames[i], leaf) {
		return noGap
	}
	return u.gap(edgeOf(frames[i].Location, frames[i+1].Location, leaf))
}

// hasOwnFrame reports whether the function of a frame has the frame pointer for itself.
func (u *Unwinder) hasOwnFrame(f *Frame, leaf bool) bool {
	own := callsWithOwn
	if leaf {
		own = leavesWithOwn
	}
	if f.traits.has(own) {
		return true
	}
	if u.framePointer(f.Location, leaf) != cfi.FrameOwn {
		return false
	}
	if f.Word >= 0 && u.part == stacktree.Native { // so that it is known next time
		m := u.meaning(u.numbers[f.Word])
		for _, s := range []*spot{&m.own, &m.call} {
			if s.location == f.Location {
				s.traits |= own
			}
		}
	}
	return true
}

// framePointer is findFramePointer, once for each location.
func (u *Unwinder) framePointer(location program.LocationNo, leaf bool) cfi.FramePointer {
	n := 0
	if leaf {
		n = 1
	}
	if f := &u.located(location).frames[n]; f.known {
		return f.pointer
	}
	pointer := u.findFramePointer(location, leaf)
	f := &u.located(location).frames[n]
	f.known, f.pointer = true, pointer
	return pointer
}

// findFramePointer returns whose frame pointer a function had at a location: by the
// call frame information, unless that knows nothing of the function's frame
// pointer; else by where the machine code sets it. Where code calls, the machine
// code alone is enough.
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

// frameTable returns the call frame information of a location's load object, nil
// if there is none.
func (u *Unwinder) frameTable(location program.LocationNo) *cfi.Table {
	p := u.resolver.Program
	n := p.Location(location).Object
	if more := int(n) + 1 - len(u.known.tables); more > 0 {
		u.known.tables = append(u.known.tables, make([]asked, more)...)
	}
	a := &u.known.tables[n]
	if !a.known {
		*a = asked{u.tables.of(u.resolver.ObjectFile(n), p.Objects[n].Path), true}
	}
	return a.table
}

// gap finds what is missing between two frames, once.
func (u *Unwinder) gap(e edge) gap {
	g, known := u.gaps[e]
	if !known {
		g = u.findGap(e)
		u.gaps[e] = g
	}
	return g
}

// noGap is between a callee and its caller.
var noGap = gap{program.None, program.None}

func (u *Unwinder) findGap(e edge) gap {
	g, callee := noGap, e.callee()
	if u.traits(callee).has(isTrampoline | isInjected) {
		callee = program.None // it was not called
	}
	if u.framePointer(e.callee(), e.leaf()) == cfi.FrameUnknown && !u.scope.Contradicts(e.caller(), e.callee()) {
		return g
	}
	caller, missing := u.scope.Infer(e.caller(), callee, func() bool { return u.callsMain(e.caller()) })
	if !missing {
		return g
	}
	unknown := symbolize.Inferred{Location: program.None}
	if caller != unknown && !u.keepsCaller(e.callee()) {
		caller = unknown
	}
	if !caller.Calls {
		g.unknown = u.resolver.Artificial(symbolize.MissingCaller)
	}
	g.inferred = caller.Location
	return g
}

// keepsCaller reports whether the frame pointer at a location is the caller's, as
// far as is known: it may serve another purpose.
func (u *Unwinder) keepsCaller(location program.LocationNo) bool {
	table := u.frameTable(location)
	offset := u.resolver.Program.Location(location).Offset
	return table == nil || table.FramePointer(offset) != cfi.FrameOther || table.KeepsCaller(offset)
}
