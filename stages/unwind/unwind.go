// Package unwind turns recorded stacks into the stacks of the manual's modes. Most files hold one
// rule or a part of one; Unwinder.normalize applies the rules in order.
//
// Start reading with Unwinder.normalize, machineFrames and userFrames.
package unwind

import (
	"slices"

	"stackmill/internal/chunked"
	"stackmill/internal/memo"
	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
	"stackmill/stages/symbolize"
)

// Unwinder applies the rules to the stacks of one process. It is not safe for concurrent use.
type Unwinder struct {
	cache    *Cache
	emit     func(*PathBatch)
	resolver *symbolize.Resolver
	process  *symbolize.Process
	recorded *decode.Process

	frameTables *FrameTables
	openMP      bool             // an OpenMP runtime is mapped
	scope       *symbolize.Scope // the scope at the time of the current stack
	gaps        map[edge]gap     // cache.gaps of this scope

	pendingStack
	part stacktree.Part // the part to which the rules of machine mode are being applied
	scratch
}

// scratch is memory that is reused for each stack.
type scratch struct {
	frames, machine, user []Frame
	filled                []Frame // memory that insertMissing reuses
	chained               []bool  // by frame: its caller was found by the frame pointer
	called                []uint64
	drops                 [stacktree.OpenMP + 1][]schema.Rule // by part and word: the rule that dropped it
	hiddenBy              []schema.Rule                       // by Frame.MachineIndex: the rule that hides it in user mode
}

// New returns the unwinder of a process. It calls emit with batches of paths to add to the tree.
// The unwinder is valid until New is called for the next process.
func New(cache *Cache, emit func(*PathBatch), r *symbolize.Resolver, tables *FrameTables, process *symbolize.Process, recorded *decode.Process) *Unwinder {
	if cache.batch != nil {
		pathBatches.Put(cache.batch)
	}
	cache.batch = newPathBatch(recorded.Stacks.Nodes(), true)
	u := &Unwinder{
		cache: cache, emit: emit, resolver: r, process: process, recorded: recorded,
		frameTables: tables, openMP: hasRuntime(process.Image),
	}
	if last := cache.last; last != nil { // share memory: many processes have few stacks
		u.pendingStack, u.scratch = last.pendingStack, last.scratch
	}
	cache.last = u
	u.resetCallers()
	return u
}

// resetCallers makes the unwinder forget all callers of earlier stacks.
func (u *Unwinder) resetCallers() {
	u.cache.callers = chunked.Zeroed(u.cache.callers, u.recorded.Stacks.Nodes())
}

// Add applies the rules to a batch of the process's stacks, and takes ownership of the batch.
func (u *Unwinder) Add(b *StackBatch) {
	words := b.words
	for i := range b.stacks {
		s := &b.stacks[i]
		u.normalize(s, words[:s.words])
		words = words[s.words:]
	}
	stackBatches.Put(b)
}

// normalize applies the rules to one recorded stack: first the rules of machine mode to its words,
// then the rules of user mode to the resulting frames. It merges the frames of both modes into one
// path, and adds the path to the batch.
func (u *Unwinder) normalize(s *batchStack, words []batchWord) {
	if s.reset {
		u.resetCallers()
	}
	u.load(s, words)
	if scope := u.process.ScopeAt(s.at); scope != u.scope {
		u.scope, u.gaps = scope, memo.Get(u.cache.gaps, scope, func() map[edge]gap { return map[edge]gap{} })
	}
	raw := &u.raw
	u.pcs = u.callPCs(raw) // S21
	source := wordSource{raw.Returns, raw.Callers == decode.CallersChained, raw.ByFrame}
	u.machine = append(u.machine[:0], u.machineFrames(stacktree.Native, u.pcs, source)...)
	machine := u.machine
	for i := range machine {
		machine[i].MachineIndex = int32(i)
	}
	cut := u.cutOff(machine)
	user, expertIsUser := u.userFrames(machine, s.system)
	if len(user) == 0 { // a stack must not become empty
		user = machine
	}
	m := pathMerger{Unwinder: u, machine: machine, user: user, expertIsUser: expertIsUser, cutOff: cut}
	m.merge()
}

// wordSource says how the words of a stack were recorded.
type wordSource struct {
	verified bool    // one of the words is a return register that is known to hold the caller
	chained  bool    // the words come from a chain of frame pointers
	byFrame  []int32 // indices of the words found by a frame pointer, if only some were
}

// machineFrames applies the rules of machine mode to the words of one part of a stack: PCs of
// calls, from the leaf on (gprofng-experiment 7). The result is valid until the next call.
func (u *Unwinder) machineFrames(part stacktree.Part, words []uint64, source wordSource) []Frame {
	u.part, u.drops[part] = part, append(u.drops[part][:0], make([]schema.Rule, len(words))...)
	words, lost := cutMarker(words) // S18
	u.recordedFrames(words, source) // S7, S26
	if source.chained || len(source.byFrame) > 0 {
		u.frames = u.insertMissing(u.frames) // S22, S26
	}
	u.frames = u.dropPLTLeaf(u.frames)          // S22
	u.frames = u.insertOutlineCallers(u.frames) // S12
	u.frames = u.mergeLinker(u.frames)          // S23
	if lost != "" {
		f := insertedFrame(u.resolver.Artificial(lost), schema.RuleTruncated)
		f.Part, f.Word = part, int32(len(words))
		u.frames = append(u.frames, f)
	}
	return u.frames
}

// userFrames applies the rules of user mode to the frames of machine mode. If expertIsUser, expert
// mode shows the same as user mode, else the same as machine mode.
func (u *Unwinder) userFrames(machine []Frame, system bool) (user []Frame, expertIsUser bool) {
	isOpenMP, isJava := u.raw.OMP != nil, u.raw.Java != nil || len(u.recorded.JavaThreads) > 0
	hidden := schema.NoRule
	switch {
	case isOpenMP, u.openMP:
		hidden = schema.RuleOpenMP
	case isJava:
		hidden = schema.RuleJava
	}
	u.hiddenBy = u.hiddenBy[:0]
	for range machine {
		u.hiddenBy = append(u.hiddenBy, hidden)
	}
	user = u.withoutKernel(machine) // S25
	switch {
	case isOpenMP:
		return u.recordedOpenMP(), true // S17
	case isJava:
		return u.javaFrames(user, system) // S14
	case u.openMP:
		user = u.hideRuntime(user) // S11, S17
	}
	return u.mergeMethods(user), false // S14
}

// noteDropped records which rule drops a frame.
func (u *Unwinder) noteDropped(f Frame, rule schema.Rule) {
	if f.Word >= 0 {
		u.drops[u.part][f.Word] = rule
	}
}

// recordedFrames fills u.frames with a frame for each word that is the leaf or a caller. It applies
// the rules that drop words before they become frames: S26 where a chain of frame pointers leaves
// the stack, S7 for the leaf's return register.
func (u *Unwinder) recordedFrames(words []uint64, source wordSource) {
	u.frames, u.chained, u.kernelFrames, u.lastMark = u.frames[:0], u.chained[:0], 0, none
	marked := false // the previous word marks this one as the leaf's caller
	for i, w := range words {
		if u.part == stacktree.Native && u.chainEnd != none && i >= u.chainEnd {
			u.drops[u.part][i] = schema.RuleChain
			continue
		}
		if w == decode.MarkLeafCheck || w == decode.MarkCall {
			marked, u.lastMark = true, i
			continue
		}
		pc, rule := u.resolveWord(i, w), schema.NoRule
		if marked {
			marked = false
			if !source.verified && !u.useReturnRegister(words, i, pc.location) {
				u.drops[u.part][i] = schema.RuleLeafCheck
				continue
			}
			rule = schema.RuleLeafCheck
		}
		if u.kernelFrames == len(u.frames) && u.resolver.IsKernel(w) {
			u.kernelFrames++
		}
		_, byFrame := slices.BinarySearch(source.byFrame, int32(i))
		u.frames, u.chained = append(u.frames, Frame{}), append(u.chained, source.chained || byFrame)
		f := &u.frames[len(u.frames)-1]
		f.Location, f.Rule, f.Part, f.traits, f.Word, f.MachineIndex = pc.location, rule, u.part, pc.traits, int32(i), none
	}
}

// resolveWord returns the location of a word, whose PC (see callPCs) is pc.
func (u *Unwinder) resolveWord(word int, pc uint64) resolvedPC {
	switch {
	case u.part != stacktree.Native || isMarker(pc):
		return u.resolvePC(pc)
	case pc != u.raw.Words[word]:
		return u.resolveCallBefore(u.numbers[word], u.raw.Words[word])
	}
	return u.resolved[word]
}

// Frame is one frame of a stack while rules are applied. Stacks are leaf first.
type Frame struct {
	Location program.LocationNo
	Rule     schema.Rule
	Part     stacktree.Part
	traits   traits // traits of the location, 0 until they are looked up
	// Word is the index of the recorded word in its part, from the leaf; none if a rule
	// inserted the frame.
	Word int32
	// MachineIndex is the frame's index in machine mode; none if machine mode does not show it.
	MachineIndex int32
}

// none is the index of a word or frame that does not exist.
const none = -1

// insertedFrame returns a frame that a rule inserts.
func insertedFrame(location program.LocationNo, rule schema.Rule) Frame {
	return Frame{Location: location, Rule: rule, Word: none, MachineIndex: none}
}
