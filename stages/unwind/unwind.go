package unwind

import (
	"slices"

	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/symbolize"
)

// Resolved is what a recorded stack means for some time: the manual's three
// representations of it.
type Resolved struct {
	From, Until int64  // ns from the founder's start
	Path        PathNo // in the tree, once that has grown
	Empty       bool   // machine mode shows no frame
	// CutOff says why the stack ends before its thread's start, empty if it does not.
	CutOff string
}

// Unwinder normalises the stacks of one process. It is not safe for concurrent use.
type Unwinder struct {
	known    *Known
	emit     func(*Growth)
	resolver *symbolize.Resolver
	process  *symbolize.Process
	recorded *decode.Process

	tables *FrameTables
	openMP bool // a runtime is mapped

	reading  // the stack that passes the rules now
	resolved Resolved

	frames, machine, user []Frame                   // scratch
	callers               []Frame                   // likewise, for missing
	chained               []bool                    // by frame: whether the next one was found by the frame pointer
	kernel                int                       // the kernel's frames at the leaf of the last native stack
	checked               int                       // the last word of it that marks the next as the leaf's caller
	pcs, called           []uint64                  // the PCs of the words: themselves, or scratch
	drops                 [OpenMP + 1][]schema.Rule // by part and word: the rule that dropped it
	part                  Part                      // whose words pass the rules
	hiddenBy              []schema.Rule             // by place: the rule by which user mode does not show the frame
}

// New returns the unwinder of a process. emit gets what its stacks add to the tree. It is
// used until the next process's is made.
func New(known *Known, emit func(*Growth), r *symbolize.Resolver, tables *FrameTables, process *symbolize.Process, recorded *decode.Process) *Unwinder {
	known.settled.next(recorded.Stacks.Nodes())
	if known.growth != nil {
		growths.Put(known.growth)
	}
	known.growth = newGrowth(recorded.Stacks.Nodes(), true)
	known.recent.next(recorded.Stacks.Len())
	return &Unwinder{
		known: known, emit: emit, resolver: r, process: process, recorded: recorded,
		tables: tables, openMP: hasRuntime(process.Image),
	}
}

// Stack normalises a recorded stack as of time t. system says that it is one of
// the JVM's own threads (SystemThread). The result is valid until the next call.
func (u *Unwinder) Stack(number int32, system bool, t int64) *Resolved {
	u.read(number, t)
	raw := &u.raw
	u.pcs = u.calls(raw)
	machine := u.native(Native, u.pcs, origin{raw.Returns, raw.Callers == decode.CallersChained, raw.ByFrame}, t)
	u.machine = append(u.machine[:0], machine...)
	machine = u.machine
	for i := range machine {
		machine[i].Place = int32(i)
	}
	var m merger
	m.Unwinder, m.machine, m.t, m.cutOff = u, machine, t, u.cutOff(machine)
	m.user, m.expert = u.userMode(machine, system, t)
	if len(m.user) == 0 { // no rule empties a stack
		m.user = machine
	}
	return m.add()
}

// userMode makes the frames of user mode from those of machine mode; expert says that
// expert mode is the same.
func (u *Unwinder) userMode(machine []Frame, system bool, t int64) (user []Frame, expert bool) {
	raw, instead := &u.raw, schema.NoRule
	switch {
	case raw.OMP != nil, u.openMP:
		instead = schema.RuleOpenMP
	case raw.Java != nil || len(u.recorded.JavaThreads) > 0:
		instead = schema.RuleJava
	}
	u.hiddenBy = u.hiddenBy[:0]
	for range machine {
		u.hiddenBy = append(u.hiddenBy, instead)
	}
	user = u.withoutKernel(machine)
	switch {
	case raw.OMP != nil:
		return u.recordedOpenMP(t), true
	case raw.Java != nil || len(u.recorded.JavaThreads) > 0:
		return u.java(user, system)
	case u.openMP:
		user = u.runtime(user)
	}
	return u.methods(user), false
}

// origin says how words were recorded.
type origin struct {
	verified bool    // a return register among them is known to be the caller
	chained  bool    // they are a chain of frame pointers
	byFrame  []int32 // only the callers of these are
}

// native turns the words of a part, which are PCs of calls, into frames, leaf first
// (gprofng-experiment 7). The result is valid until the next call.
func (u *Unwinder) native(part Part, words []uint64, o origin, t int64) []Frame {
	u.part, u.drops[part] = part, append(u.drops[part][:0], make([]schema.Rule, len(words))...)
	words, lost := truncation(words)
	u.recordedFrames(words, o, t)
	if o.chained || len(o.byFrame) > 0 {
		u.frames = u.missing(u.frames)
	}
	u.frames = u.outlines(u.plt(u.frames))
	u.frames = u.linker(u.frames)
	if lost != "" {
		u.frames = append(u.frames, Frame{u.resolver.Artificial(lost), schema.RuleTruncated, part, int32(len(words)), none})
	}
	return u.frames
}

// drop records the rule that drops a frame.
func (u *Unwinder) drop(f Frame, rule schema.Rule) {
	if f.Word >= 0 {
		u.drops[u.part][f.Word] = rule
	}
}

// recordedFrames fills frames with the meaning of words.
func (u *Unwinder) recordedFrames(words []uint64, o origin, t int64) {
	u.frames, u.chained, u.kernel, u.checked = u.frames[:0], u.chained[:0], 0, none
	checked := false
	for i, w := range words {
		if w == decode.MarkLeafCheck || w == decode.MarkCall {
			checked, u.checked = true, i
			continue
		}
		location, rule := u.meaning(i, w, t).Location, schema.NoRule
		if checked {
			checked = false
			if !o.verified && !u.useReturnRegister(words, i, location) {
				u.drops[u.part][i] = schema.RuleLeafCheck
				continue
			}
			rule = schema.RuleLeafCheck
		}
		if u.kernel == len(u.frames) && u.resolver.IsKernel(w) {
			u.kernel++
		}
		_, byFrame := slices.BinarySearch(o.byFrame, int32(i))
		u.frames, u.chained = append(u.frames, Frame{}), append(u.chained, o.chained || byFrame)
		f := &u.frames[len(u.frames)-1]
		f.Location, f.Rule, f.Part, f.Word, f.Place = location, rule, u.part, int32(i), none
	}
}

// meaning returns what the PC of a word means.
func (u *Unwinder) meaning(word int, pc uint64, t int64) symbolize.Span {
	if u.part != Native || isMarker(pc) {
		return u.at(pc, t)
	}
	if pc != u.raw.Words[word] {
		u.calling[word] = u.callBefore(u.raw.Words[word], t)
		return u.calling[word]
	}
	return u.own[word]
}
