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

// StackIndex numbers the recorded stacks that samples refer to.
type StackIndex struct {
	*attribute.Stacks
	Forms decode.FormTable
}

// NewStackIndex returns an empty one.
func NewStackIndex() *StackIndex { return &StackIndex{Stacks: attribute.NewStacks()} }

// Expect makes room for the stacks of processes: few mean more than one thing. Nobody writes to
// it before there are stacks, as slices.Grow would.
func (s *StackIndex) Expect(processes []*decode.Process) {
	n := 0
	for _, p := range processes {
		n += p.Stacks.Len()
	}
	s.Recorded = append(make([]attribute.RecordedStack, 0, len(s.Recorded)+n), s.Recorded...)
}

// Place says where stacks end in the tree, which has grown, and why there.
func (s *StackIndex) Place() {
	for i := range s.Recorded {
		r := &s.Recorded[i]
		text := reasonNoStack
		if r.Path >= 0 {
			r.End = *s.Tree.Ends.At(int(r.Path))
			text = s.why(r)
		}
		r.Reason = s.reason(text)
	}
	s.Tree.Ends = chunked.List[stacktree.End]{}
}

// why says why a stack is empty or cut; empty if it is not.
func (s *StackIndex) why(r *attribute.RecordedStack) string {
	switch text := reasons[s.Forms.List[r.Form].Reason]; {
	case text != "":
		return text
	case r.CutOff != stacktree.NotCut:
		return cuts[r.CutOff]
	case r.Empty:
		return reasonNoStack
	}
	return ""
}

// reason numbers a reason.
func (s *StackIndex) reason(text string) attribute.ReasonNo {
	n := slices.Index(s.Reasons, text)
	if n < 0 {
		n = len(s.Reasons)
		s.Reasons = append(s.Reasons, text)
	}
	return attribute.ReasonNo(n)
}

// reasonNoStack is why an event without a stack has none.
const reasonNoStack = "no call stack recorded"

// reasons puts a decoder's reasons into words.
var reasons = map[string]string{
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

	decode.ReasonMachine:    "stacks of this processor or mode are not unwound",
	decode.ReasonRegisters:  "the stack pointer or the program counter was not recorded",
	decode.ReasonChainLimit: "the stack is longer than the kernel records (kernel.perf_event_max_stack)",
	decode.ReasonDeferred:   "the user part of the stack was to be recorded later, but was not",
	decode.ReasonContext:    "a part of the stack is of an unknown kind",
	decode.ReasonAddress:    "a word of the stack is not a valid address",
	decode.ReasonBranches:   "the stack is deeper than the calls that the processor keeps",
}

// cuts puts those into words that the rules find.
var cuts = [...]string{
	stacktree.CutLeafOnly: "callers were not recorded",
	stacktree.CutNoStart:  "the stack ends before its thread's start",
}

// ProcessStacks finds the recorded stack of each sample of one process.
type ProcessStacks struct {
	stacks  *StackIndex
	process *decode.Process
	forms   *decode.FormIndex
	reader  *unwind.StackReader
	none    attribute.RecordedStackNo // the number of events without a stack, None before the first
	steady  steady
	current [2][]attribute.RecordedStackNo          // by raw stack: the one used last, None before; [1] for the JVM's threads
	earlier map[variant][]attribute.RecordedStackNo // all of a raw stack's, when there are several
}

type variant struct {
	raw    int32
	system bool
}

// steady says that the stacks from a number on all mean the same for some time, in ns from the
// founder's start: then they need not be looked at one by one. The zero value is ready.
type steady struct {
	first attribute.RecordedStackNo
	program.Life
}

func (s *steady) has(n attribute.RecordedStackNo, t int64) bool { return n >= s.first && s.Has(t) }

// add adds the next stack, which occurred at time t.
func (s *steady) add(n attribute.RecordedStackNo, t int64, life program.Life) {
	if t >= s.Until { // all before mean something else, or may
		*s = steady{n, program.Life{From: math.MinInt64, Until: image.Never}}
	}
	s.Life = s.And(life)
}

// Process returns the lookup for a process whose recorded stacks are raw, which reader reads.
func (s *StackIndex) Process(p *decode.Process, raw *decode.Stacks, reader *unwind.StackReader) *ProcessStacks {
	ps := &ProcessStacks{
		stacks: s, process: p, forms: s.Forms.IndexOf(raw), reader: reader, none: program.None,
		earlier: map[variant][]attribute.RecordedStackNo{},
	}
	for i := range ps.current {
		if i == 1 && len(p.JavaThreads) == 0 {
			break
		}
		ps.current[i] = make([]attribute.RecordedStackNo, raw.Len())
		for j := range ps.current[i] {
			ps.current[i][j] = program.None
		}
	}
	return ps
}

// Add fills the batch's Stacks.
func (ps *ProcessStacks) Add(b *Batch) {
	b.Stacks = make([]attribute.RecordedStackNo, b.Len())
	for i, raw := range b.Events.Int32s("raw_stack") {
		b.Stacks[i] = ps.number(raw, b.Threads[i], b.Times[i])
	}
}

// number returns the number of the recorded stack of a sample: raw is the number
// of its raw stack, -1 for none. A stack is read once for as long as the
// mappings it touches stay the same.
func (ps *ProcessStacks) number(raw int32, thread, t int64) attribute.RecordedStackNo {
	if raw < 0 {
		return ps.noStack()
	}
	v := variant{raw, false}
	current := ps.current[0]
	if ps.current[1] != nil && unwind.SystemThread(ps.process.JavaThreads, thread, t) {
		v.system = true
		current = ps.current[1]
	}
	n := current[raw]
	if n >= 0 {
		if ps.steady.has(n, t) {
			return n
		}
		if r := &ps.stacks.Recorded[n]; r.Has(t) {
			return n
		}
	}
	n = ps.find(v, n, t)
	current[raw] = n
	return n
}

// find returns the recorded stack at a time, which is new if need be; before is the
// one used last.
func (ps *ProcessStacks) find(v variant, before attribute.RecordedStackNo, t int64) attribute.RecordedStackNo {
	for _, n := range ps.earlier[v] {
		if r := &ps.stacks.Recorded[n]; r.Has(t) {
			return n
		}
	}
	n := ps.recorded(v, t)
	if before >= 0 {
		if ps.earlier[v] == nil {
			ps.earlier[v] = []attribute.RecordedStackNo{before}
		}
		ps.earlier[v] = append(ps.earlier[v], n)
	}
	return n
}

// first returns the first recorded stack of a raw stack: the next one if there is none.
func (ps *ProcessStacks) first(raw int32) attribute.RecordedStackNo {
	first := attribute.RecordedStackNo(len(ps.stacks.Recorded))
	for i, current := range ps.current {
		if current == nil || current[raw] < 0 {
			continue
		}
		first = min(first, current[raw])
		if all := ps.earlier[variant{raw, i == 1}]; len(all) > 0 {
			first = min(first, all[0])
		}
	}
	return first
}

// recorded reads a stack as of a time.
func (ps *ProcessStacks) recorded(v variant, t int64) attribute.RecordedStackNo {
	path, life := ps.reader.Stack(v.raw, v.system, t)
	first := ps.first(v.raw)
	n, r := ps.add()
	ps.steady.add(n, t, life)
	r.Life, r.Process, r.Path = life, int32(ps.process.Number), path
	r.First, r.Form = first, ps.forms.Intern(v.raw)
	return n
}

func (ps *ProcessStacks) noStack() attribute.RecordedStackNo {
	if ps.none < 0 {
		n, r := ps.add()
		*r = attribute.RecordedStack{
			Life: program.Life{From: math.MinInt64, Until: image.Never}, Process: int32(ps.process.Number), Path: program.None,
			First: n, Form: program.None,
		}
		ps.none = n
	}
	return ps.none
}

// add adds a Recorded, which is to be filled in.
func (ps *ProcessStacks) add() (attribute.RecordedStackNo, *attribute.RecordedStack) {
	n := attribute.RecordedStackNo(len(ps.stacks.Recorded))
	list, r := chunked.Extend(ps.stacks.Recorded)
	ps.stacks.Recorded = list
	return n, r
}
