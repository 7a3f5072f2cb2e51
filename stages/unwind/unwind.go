package unwind

import (
	"math"
	"slices"

	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/symbolize"
	"stackmill/stages/symbolize/image"
)

// Resolved is what a recorded stack means for some time: the manual's three
// representations of it.
type Resolved struct {
	From, Until           int64 // ns from the founder's start
	User, Expert, Machine StackNo
	// Words, OMP and Java are the locations that the recorded stack's frames
	// mean by themselves, None for markers.
	Words, OMP, Java []symbolize.LocationNo
	// CutOff says why the stack ends before its thread's start, empty if it does not.
	CutOff string
}

// Unwinder normalises the stacks of one process. It is not safe for concurrent use.
type Unwinder struct {
	set      *Set
	resolver *symbolize.Resolver
	process  *symbolize.Process
	recorded *decode.Process

	tables *FrameTables
	recent recent
	openMP bool // a runtime is mapped

	frames, user []Frame // scratch
	callers      []Frame // likewise, for missing
	chained      []bool  // by frame: whether the next one was found by the frame pointer
	kernel       int     // the kernel's frames at the leaf of the last native stack
	pcs          []uint64
	span         image.Span
}

// New returns the unwinder of a process; its stacks go to set.
func New(set *Set, r *symbolize.Resolver, tables *FrameTables, process *symbolize.Process, recorded *decode.Process) *Unwinder {
	return &Unwinder{
		set: set, resolver: r, process: process, recorded: recorded,
		tables: tables, recent: newRecent(len(recorded.Stacks)), openMP: hasRuntime(process.Image),
	}
}

// Stack normalises a recorded stack as of time t. system says that it is one of
// the JVM's own threads (SystemThread).
func (u *Unwinder) Stack(raw *decode.RawStack, system bool, t int64) Resolved {
	u.span = image.Span{From: math.MinInt64, Until: image.Never}
	machine := u.native(u.calls(raw, t), origin{raw.Returns, raw.Callers == decode.CallersChained, raw.ByFrame}, t)
	n := u.intern(machine)
	res := Resolved{User: n, Expert: n, Machine: n, CutOff: u.cutOff(raw, machine)}
	machine = u.withoutKernel(machine, u.kernel)
	switch {
	case raw.OMP != nil:
		u.recordedOpenMP(raw, t, &res)
	case raw.Java != nil || len(u.recorded.JavaThreads) > 0:
		u.java(raw, machine, system, &res)
	case u.openMP:
		res.User = u.intern(u.methods(u.runtime(machine)))
	case u.kernel > 0 || u.resolver.Program.HasMethods():
		res.User = u.intern(u.methods(machine))
	}
	if res.User == Empty { // no rule empties a stack
		res.User = n
	}
	if res.Expert == Empty {
		res.Expert = n
	}
	u.meanings(raw, t, &res)
	res.From, res.Until = u.span.From, u.span.Until
	return res
}

func (u *Unwinder) intern(frames []Frame) StackNo {
	return u.set.Intern(frames, func(l symbolize.LocationNo) int64 { return u.traits(l).id })
}

// origin says how words were recorded.
type origin struct {
	verified bool    // a return register among them is known to be the caller
	chained  bool    // they are a chain of frame pointers
	byFrame  []int32 // only the callers of these are
}

// native turns a stack's words, which are PCs of calls, into frames, leaf first
// (gprofng-experiment 7). The result is valid until the next call.
func (u *Unwinder) native(words []uint64, o origin, t int64) []Frame {
	lost := u.recordedFrames(words, o, t)
	if o.chained || len(o.byFrame) > 0 {
		u.frames = u.missing(u.frames)
	}
	u.frames = u.outlines(u.plt(u.frames))
	u.frames = u.linker(u.frames)
	if lost != "" {
		u.frames = append(u.frames, Frame{u.resolver.Artificial(lost), schema.RuleTruncated})
	}
	return u.frames
}

// recordedFrames fills frames with the meaning of words, and returns the function
// that stands for lost frames.
func (u *Unwinder) recordedFrames(words []uint64, o origin, t int64) (lost string) {
	u.frames, u.chained, u.kernel = u.frames[:0], u.chained[:0], 0
	words, lost = truncation(words)
	checked := false
	for i, w := range words {
		if w == decode.MarkLeafCheck || w == decode.MarkCall {
			checked = true
			continue
		}
		f := Frame{u.resolve(w, t), schema.NoRule}
		if checked {
			checked = false
			if !o.verified && !u.useReturnRegister(words, i, f.Location) {
				continue
			}
			f.Rule = schema.RuleLeafCheck
		}
		if u.kernel == len(u.frames) && u.resolver.IsKernel(w) {
			u.kernel++
		}
		_, byFrame := slices.BinarySearch(o.byFrame, int32(i))
		u.frames, u.chained = append(u.frames, f), append(u.chained, o.chained || byFrame)
	}
	return lost
}
