// Package unwind turns recorded stacks into normalised ones, by the rules of
// the manual. One file holds one rule.
package unwind

import (
	"slices"

	"stackmill/internal/chunked"
	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/stacktree"
	"stackmill/stages/symbolize"
)

// Unwinder normalises the stacks of one process. It is not safe for concurrent use.
type Unwinder struct {
	known    *Known
	emit     func(*Growth)
	resolver *symbolize.Resolver
	process  *symbolize.Process
	recorded *decode.Process

	tables *FrameTables
	openMP bool             // a runtime is mapped
	scope  *symbolize.Scope // of the stack, as the next
	gaps   map[edge]gap

	reading // the stack that passes the rules now
	scratch // of it

	kernel  int            // the kernel's frames at the leaf of the last native stack
	checked int            // the last word of it that marks the next as the leaf's caller
	pcs     []uint64       // the PCs of the words: themselves, or those called
	part    stacktree.Part // whose words pass the rules
}

// scratch is memory that each stack uses anew.
type scratch struct {
	frames, machine, user []Frame
	callers               []Frame // for missing
	chained               []bool  // by frame: whether the next one was found by the frame pointer
	called                []uint64
	drops                 [stacktree.OpenMP + 1][]schema.Rule // by part and word: the rule that dropped it
	hiddenBy              []schema.Rule                       // by place: the rule by which user mode does not show the frame
}

// New returns the unwinder of a process. emit gets what its stacks add to the tree. It is
// used until the next process's is made.
func New(known *Known, emit func(*Growth), r *symbolize.Resolver, tables *FrameTables, process *symbolize.Process, recorded *decode.Process) *Unwinder {
	if known.growth != nil {
		growths.Put(known.growth)
	}
	known.growth = newGrowth(recorded.Stacks.Nodes(), true)
	u := &Unwinder{
		known: known, emit: emit, resolver: r, process: process, recorded: recorded,
		tables: tables, openMP: hasRuntime(process.Image),
	}
	if last := known.unwinder; last != nil { // many processes have few stacks
		u.reading, u.scratch = last.reading, last.scratch
	}
	known.unwinder = u
	u.forget()
	return u
}

// forget forgets what is known of words.
func (u *Unwinder) forget() {
	u.known.words = chunked.Zeros(u.known.words, u.recorded.Stacks.Nodes())
}

// Add normalises stacks of the process, which were read. Nobody may use them after that.
func (u *Unwinder) Add(r *Readings) {
	words := r.words
	for i := range r.stacks {
		s := &r.stacks[i]
		u.stack(s, words[:s.words])
		words = words[s.words:]
	}
	readings.Put(r)
}

// stack normalises a recorded stack.
func (u *Unwinder) stack(s *readStack, words []readWord) {
	if s.forget {
		u.forget()
	}
	u.read(s, words)
	if scope := u.process.ScopeAt(s.at); scope != u.scope {
		u.scope, u.gaps = scope, u.known.gapsIn(scope)
	}
	raw := &u.raw
	u.pcs = u.calls(raw)
	machine := u.native(stacktree.Native, u.pcs, origin{raw.Returns, raw.Callers == decode.CallersChained, raw.ByFrame})
	u.machine = append(u.machine[:0], machine...)
	machine = u.machine
	for i := range machine {
		machine[i].Place = int32(i)
	}
	var m merger
	m.Unwinder, m.machine, m.cutOff = u, machine, u.cutOff(machine)
	m.user, m.expert = u.userMode(machine, s.system)
	if len(m.user) == 0 { // no rule empties a stack
		m.user = machine
	}
	m.add()
}

// userMode makes the frames of user mode from those of machine mode; expert says that
// expert mode is the same.
func (u *Unwinder) userMode(machine []Frame, system bool) (user []Frame, expert bool) {
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
		return u.recordedOpenMP(), true
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
func (u *Unwinder) native(part stacktree.Part, words []uint64, o origin) []Frame {
	u.part, u.drops[part] = part, append(u.drops[part][:0], make([]schema.Rule, len(words))...)
	words, lost := truncation(words)
	u.recordedFrames(words, o)
	if o.chained || len(o.byFrame) > 0 {
		u.frames = u.missing(u.frames)
	}
	u.frames = u.outlines(u.plt(u.frames))
	u.frames = u.linker(u.frames)
	if lost != "" {
		u.frames = append(u.frames, Frame{Location: u.resolver.Artificial(lost), Rule: schema.RuleTruncated, Part: part, Word: int32(len(words)), Place: none})
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
func (u *Unwinder) recordedFrames(words []uint64, o origin) {
	u.frames, u.chained, u.kernel, u.checked = u.frames[:0], u.chained[:0], 0, none
	checked := false
	for i, w := range words {
		if u.part == stacktree.Native && u.ends != none && i >= u.ends {
			u.drops[u.part][i] = schema.RuleChain
			continue
		}
		if w == decode.MarkLeafCheck || w == decode.MarkCall {
			checked, u.checked = true, i
			continue
		}
		meant, rule := u.meant(i, w), schema.NoRule
		if checked {
			checked = false
			if !o.verified && !u.useReturnRegister(words, i, meant.location) {
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
		f.Location, f.Rule, f.Part, f.traits, f.Word, f.Place = meant.location, rule, u.part, meant.traits, int32(i), none
	}
}

// meant returns what the PC of a word means.
func (u *Unwinder) meant(word int, pc uint64) spot {
	switch {
	case u.part != stacktree.Native || isMarker(pc):
		return u.spot(pc)
	case pc != u.raw.Words[word]:
		return u.callBefore(u.numbers[word], u.raw.Words[word])
	}
	return u.own[word]
}
