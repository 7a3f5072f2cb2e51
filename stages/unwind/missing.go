package unwind

import (
	"stackmill/schema"
	"stackmill/stages/loadobject/cfi"
	"stackmill/stages/symbolize"
)

// edge is the locations of two frames next to each other in a chain of frame pointers.
type edge struct {
	callee, caller symbolize.LocationNo
	leaf           bool // the callee is the user's leaf
}

// gap is what stands between them: up to two frames, leaf first.
type gap struct {
	frames [2]Frame
	count  int
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
	first := -1
	for i := u.kernel; i+1 < len(frames) && first < 0; i++ {
		if u.lacksCaller(frames, i) {
			first = i
		}
	}
	if first < 0 {
		return frames
	}
	u.callers = append(u.callers[:0], frames[:first]...)
	for i := first; i < len(frames); i++ {
		u.callers = append(u.callers, frames[i])
		if i+1 < len(frames) && u.lacksCaller(frames, i) {
			g := u.gap(edge{frames[i].Location, frames[i+1].Location, i == u.kernel})
			u.callers = append(u.callers, g.frames[:g.count]...)
		}
	}
	u.frames, u.callers = u.callers, frames
	return u.frames
}

// lacksCaller reports whether the frame after frames[i] is not its caller's.
func (u *Unwinder) lacksCaller(frames []Frame, i int) bool {
	if !u.chained[i] || frames[i+1].Rule == schema.RuleLeafCheck {
		return false
	}
	location := frames[i].Location
	switch leaf := i == u.kernel; u.framePointer(location, leaf) {
	case cfi.FrameOther:
		return true
	case cfi.FrameUnknown: // only the call shows it
		return u.gap(edge{location, frames[i+1].Location, leaf}).count > 0
	}
	return false
}

// framePointer is findFramePointer, once for each location.
func (u *Unwinder) framePointer(location symbolize.LocationNo, leaf bool) cfi.FramePointer {
	n := 0
	if leaf {
		n = 1
	}
	if f := &u.traits(location).frames[n]; f.known {
		return f.pointer
	}
	pointer := u.findFramePointer(location, leaf)
	f := &u.traits(location).frames[n]
	f.known, f.pointer = true, pointer
	return pointer
}

// findFramePointer returns whose frame pointer a function had at a location: by the
// call frame information, unless that knows nothing of the function's frame
// pointer; else by where the machine code sets it. Where code calls, the machine
// code alone is enough.
func (u *Unwinder) findFramePointer(location symbolize.LocationNo, leaf bool) cfi.FramePointer {
	k := u.traits(location)
	if k.trampoline || k.kind == pltKind {
		return cfi.FrameOther
	}
	offset := u.resolver.Program.Locations[location].Offset
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
func (u *Unwinder) frameTable(location symbolize.LocationNo) *cfi.Table {
	p := u.resolver.Program
	n := p.Locations[location].Object
	return u.tables.of(u.resolver.ObjectFile(n), p.Objects[n].Path)
}

// gap finds what is missing between two frames, once.
func (u *Unwinder) gap(e edge) gap {
	g, known := u.known.gaps[e]
	if !known {
		g = u.findGap(e)
		u.known.gaps[e] = g
	}
	return g
}

func (u *Unwinder) findGap(e edge) (g gap) {
	callee := e.callee
	if u.traits(callee).trampoline {
		callee = symbolize.None // it was not called
	}
	if u.framePointer(e.callee, e.leaf) == cfi.FrameUnknown && !u.resolver.Contradicts(e.caller, e.callee) {
		return g
	}
	caller, missing := u.resolver.Infer(e.caller, callee, u.callsMain(e.caller))
	if !missing {
		return g
	}
	add := func(f Frame) {
		g.frames[g.count] = f
		g.count++
	}
	if !u.keepsCaller(e.callee) {
		caller = symbolize.Inferred{Location: symbolize.None}
	}
	if !caller.Calls {
		add(putIn(u.resolver.Artificial(symbolize.MissingCaller), schema.RuleMissing))
	}
	if caller.Location >= 0 {
		add(putIn(caller.Location, schema.RuleInferred))
	}
	return g
}

// keepsCaller reports whether the frame pointer at a location is the caller's, as
// far as is known: it may serve another purpose.
func (u *Unwinder) keepsCaller(location symbolize.LocationNo) bool {
	table := u.frameTable(location)
	offset := u.resolver.Program.Locations[location].Offset
	return table == nil || table.FramePointer(offset) != cfi.FrameOther || table.KeepsCaller(offset)
}
