package samples

import (
	"math"
	"slices"

	"stackmill/internal/chunked"
	"stackmill/stages/attribute"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/cfi"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
	"stackmill/stages/symbolize/image"
	"stackmill/stages/unwind"
)

// StackIndex numbers the recorded stacks to which samples refer, from 0.
type StackIndex struct {
	*attribute.Stacks
	Forms decode.FormTable
}

// NewStackIndex returns an index without stacks.
func NewStackIndex() *StackIndex { return &StackIndex{Stacks: attribute.NewStacks()} }

// Expect reserves memory for the recorded stacks of processes, as many as there are raw stacks: the
// addresses of most mean the same code all the time. Unlike slices.Grow, it does not touch the
// memory.
func (s *StackIndex) Expect(processes []*decode.Process) {
	n := 0
	for _, p := range processes {
		n += p.Stacks.Len()
	}
	s.Recorded = append(make([]attribute.RecordedStack, 0, len(s.Recorded)+n), s.Recorded...)
}

// SetEnds sets, for each recorded stack, its end in the tree and the reason if it is cut or empty.
// Call it once all stacks are in the tree.
func (s *StackIndex) SetEnds() {
	for i := range s.Recorded {
		r := &s.Recorded[i]
		text := reasonNoStack
		if r.Path >= 0 {
			r.End = *s.Tree.Ends.At(int(r.Path))
			text = s.cutReason(r)
		}
		r.Reason = s.internReason(text)
	}
	s.Tree.Ends = chunked.List[stacktree.End]{}
}

// cutReason returns why a stack is empty or cut, "" if it is complete.
func (s *StackIndex) cutReason(r *attribute.RecordedStack) string {
	switch text := reasonTexts[s.Forms.List[r.Form].Reason]; {
	case text != "":
		return text
	case r.CutOff != stacktree.NotCut:
		return cutTexts[r.CutOff]
	case r.Empty:
		return reasonNoStack
	}
	return ""
}

// internReason returns the number of a reason.
func (s *StackIndex) internReason(text string) attribute.ReasonNo {
	n := slices.Index(s.Reasons, text)
	if n < 0 {
		n = len(s.Reasons)
		s.Reasons = append(s.Reasons, text)
	}
	return attribute.ReasonNo(n)
}

// reasonNoStack is the reason of an empty stack.
const reasonNoStack = "no call stack recorded"

// reasonTexts describes the reasons that decoders and unwinders give.
var reasonTexts = map[string]string{
	"missing-stack":  "call stack missing in the recording",
	"missing-link":   "part of the call stack missing in the recording",
	"link-cycle":     "parts of the call stack refer to each other in a circle",
	"stack-too-long": "call stack longer than any real one",

	cfi.DumpTooShort:  "the stack continues beyond its recorded part",
	cfi.Unreadable:    "a return address lies in memory that was not recorded",
	cfi.NoCFI:         "the code at the root end has no call frame information",
	cfi.NoCode:        "what should be a return address at the root end is in no known code",
	cfi.BadCFI:        "the call frame information of the code at the root end is wrong",
	cfi.LostRegister:  "a register that is needed to find the caller was not recorded",
	cfi.TooManyFrames: "more frames than are followed",

	decode.ReasonMachine:     "stacks of this processor or mode are not unwound",
	decode.ReasonRegisters:   "the stack pointer or the program counter was not recorded",
	decode.ReasonChainLimit:  "the stack is longer than the kernel records (kernel.perf_event_max_stack)",
	decode.ReasonOffCPULimit: "the stack is longer than perf record --off-cpu records",
	decode.ReasonDeferred:    "the user part of the stack was to be recorded later, but was not",
	decode.ReasonContext:     "a part of the stack is of an unknown kind",
	decode.ReasonAddress:     "a word of the stack is not a valid address",
	decode.ReasonNoWaitStack: "no stack was recorded when the thread was switched out",
	decode.ReasonUnsampled:   "no sample was taken while the thread was on a CPU",
	decode.ReasonBranches:    "the stack is deeper than the calls that the processor keeps",
}

// cutTexts has messages for the reasons of cut stacks that are found when the tree is built.
var cutTexts = [...]string{
	stacktree.CutLeafOnly: "callers were not recorded",
	stacktree.CutNoStart:  "the stack ends before its thread's start",
	stacktree.CutInStart:  "no caller is missing: the thread begins here",
}

// ProcessStacks finds the recorded stack of each sample of one process.
type ProcessStacks struct {
	stacks  *StackIndex
	process *decode.Process
	forms   *decode.FormIndex
	reader  *unwind.StackReader
	none    attribute.RecordedStackNo // the recorded stack of events without a stack, None before the first
	common  commonLife
	current [2][]attribute.RecordedStackNo               // by raw stack: the one used last, None before; [1] for the JVM's threads
	earlier map[stackVariant][]attribute.RecordedStackNo // all recorded stacks of a raw stack, if it has several
}

// stackVariant is a raw stack as it is read for the program's threads or, with system, for threads
// of the JVM.
type stackVariant struct {
	raw    int32
	system bool
}

// commonLife is the time (ns from the founder's start) during which all recorded stacks from number
// first on mean the same code, so that they need not be checked one by one. The zero value is ready
// for use.
type commonLife struct {
	first attribute.RecordedStackNo
	program.Life
}

func (s *commonLife) has(n attribute.RecordedStackNo, t int64) bool {
	return n >= s.first && s.Contains(t)
}

// add adds the recorded stack n, of a sample at time t; life is the time in which it means the same
// code.
func (s *commonLife) add(n attribute.RecordedStackNo, t int64, life program.Life) {
	if t >= s.Until { // the stacks before may have changed their meaning
		*s = commonLife{n, program.Life{From: math.MinInt64, Until: image.Never}}
	}
	s.Life = s.Intersect(life)
}

// Process returns the lookup for a process's samples. raw are its stacks as recorded, read by
// reader.
func (s *StackIndex) Process(p *decode.Process, raw *decode.Stacks, reader *unwind.StackReader) *ProcessStacks {
	ps := &ProcessStacks{
		stacks: s, process: p, forms: s.Forms.IndexOf(raw), reader: reader, none: program.None,
		earlier: map[stackVariant][]attribute.RecordedStackNo{},
	}
	for i := range ps.current {
		if i == 1 && len(p.JavaThreads) == 0 {
			break
		}
		ps.current[i] = slices.Repeat([]attribute.RecordedStackNo{program.None}, raw.Len())
	}
	return ps
}

// Add sets the batch's Stacks.
func (ps *ProcessStacks) Add(b *Batch) {
	b.Stacks = make([]attribute.RecordedStackNo, b.Len())
	for i, raw := range b.Events.Int32s("raw_stack") {
		b.Stacks[i] = ps.stackNo(raw, b.Threads[i], b.Times[i])
	}
}

// stackNo returns the number of a sample's recorded stack. raw is the number of the raw stack, -1
// for none. A raw stack is read again only if mappings that it touches have changed since.
func (ps *ProcessStacks) stackNo(raw int32, thread, t int64) attribute.RecordedStackNo {
	if raw < 0 {
		return ps.noStack()
	}
	v := stackVariant{raw, false}
	current := ps.current[0]
	if ps.current[1] != nil && unwind.SystemThread(ps.process.JavaThreads, thread, t) {
		v.system = true
		current = ps.current[1]
	}
	n := current[raw]
	if n >= 0 {
		if ps.common.has(n, t) {
			return n
		}
		if r := &ps.stacks.Recorded[n]; r.Contains(t) {
			return n
		}
	}
	n = ps.findVariant(v, n, t)
	current[raw] = n
	return n
}

// findVariant returns the recorded stack that raw stack v has at time t, a new one if necessary;
// before is the one that v had last.
func (ps *ProcessStacks) findVariant(v stackVariant, before attribute.RecordedStackNo, t int64) attribute.RecordedStackNo {
	for _, n := range ps.earlier[v] {
		if r := &ps.stacks.Recorded[n]; r.Contains(t) {
			return n
		}
	}
	n := ps.readStack(v, t)
	if before >= 0 {
		if ps.earlier[v] == nil {
			ps.earlier[v] = []attribute.RecordedStackNo{before}
		}
		ps.earlier[v] = append(ps.earlier[v], n)
	}
	return n
}

// first returns the first recorded stack of a raw stack or, if it has none, the number of the next
// new one.
func (ps *ProcessStacks) first(raw int32) attribute.RecordedStackNo {
	first := attribute.RecordedStackNo(len(ps.stacks.Recorded))
	for i, current := range ps.current {
		if current == nil || current[raw] < 0 {
			continue
		}
		first = min(first, current[raw])
		if all := ps.earlier[stackVariant{raw, i == 1}]; len(all) > 0 {
			first = min(first, all[0])
		}
	}
	return first
}

// readStack reads a raw stack of a sample at time t, and appends it to the recorded stacks.
func (ps *ProcessStacks) readStack(v stackVariant, t int64) attribute.RecordedStackNo {
	path, life := ps.reader.Stack(v.raw, v.system, t)
	first := ps.first(v.raw)
	n, r := ps.appendStack()
	ps.common.add(n, t, life)
	r.Life, r.Process, r.Path = life, int32(ps.process.Number), path
	r.First, r.Form = first, ps.forms.Intern(v.raw)
	return n
}

func (ps *ProcessStacks) noStack() attribute.RecordedStackNo {
	if ps.none < 0 {
		n, r := ps.appendStack()
		*r = attribute.RecordedStack{
			Life: program.Life{From: math.MinInt64, Until: image.Never}, Process: int32(ps.process.Number), Path: program.None,
			First: n, Form: program.None,
		}
		ps.none = n
	}
	return ps.none
}

// appendStack appends an empty stack.
func (ps *ProcessStacks) appendStack() (attribute.RecordedStackNo, *attribute.RecordedStack) {
	n := attribute.RecordedStackNo(len(ps.stacks.Recorded))
	list, r := chunked.Extend(ps.stacks.Recorded)
	ps.stacks.Recorded = list
	return n, r
}
