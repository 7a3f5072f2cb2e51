// Package dataspace finds the data object that a memory event accessed: a variable, or a member of
// a structure, class or union (S27 to S31).
//
// The operand of the instruction that caused the event shows the object in one of three ways: the
// base register or stack slot holds a variable, the base was loaded from an object of known type
// (perf-data 17), or the operand has an address in a load object. A recorded data address confirms
// or contradicts this, and decides if the code does not show the object. Each instruction is
// analyzed once.
//
// Start reading with Process.Find.
package dataspace

import (
	"slices"

	"stackmill/internal/memo"
	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/loadobject/types"
	"stackmill/stages/program"
	"stackmill/stages/symbolize"
)

// Method is how a data object was found.
type Method uint8

// The ways in which a data object can be found.
const (
	MethodNone      Method = iota
	MethodVariable         // the base register holds a variable
	MethodRegister         // earlier instructions show the type to which the base register points
	MethodContainer        // the base register points to a member of the object
	MethodStack            // a variable on the stack
	MethodGlobal           // a variable at an address that is in the code
	MethodThread           // a thread-local variable
	MethodAddress          // the data address is in a variable
)

var methods = [...]string{"", "variable", "register", "container", "stack", "global", "thread-local", "address"}

func (m Method) String() string { return methods[m] }

// Agreement says whether the instruction's operand and the data address show the same object.
type Agreement uint8

// The values of Agreement.
const (
	Unchecked Agreement = iota // the operand's object or the data address is unknown
	Agrees
	Disagrees // a different object is at the data address
)

var agreements = [...]string{"unchecked", "agrees", "disagrees"}

func (a Agreement) String() string { return agreements[a] }

// Event is one memory event.
type Event struct {
	PC         uint64 // as recorded
	Trigger    decode.Trigger
	Candidate  uint64 // the recorded trigger PC, 0 for none
	Address    uint64 // address of the data
	HasAddress bool
	Code       int // why there is no address (gprofng-experiment 9.5), 0 if unknown
	Time       int64
}

// Match is the data object of an event.
type Match struct {
	Object    ObjectNo           // the innermost one, or a reason (see Reason)
	Embedding ObjectNo           // the object at the data address, None if it is part of the same aggregate
	Location  program.LocationNo // where the trigger instruction is, or the recorded PC if that instruction was not found
	Region    RegionNo           // None without a data address
	Method    Method
	Agreement Agreement
	Detail    string // details of the reason, if Object is a reason
}

// Space holds the data objects of one recording. It is not safe for concurrent use.
type Space struct {
	Objects []Object // artificial ones first, each after its parent
	Regions []Region

	resolver   *symbolize.Resolver
	tables     Tables
	problems   *diagnostic.Log
	objects    map[program.ObjectNo]*loadObject
	numbers    map[objectKey]ObjectNo
	ids        schema.IDs // ids of all objects except the artificial ones
	references map[referenceKey]*reference

	instructions int // number of instructions in the decoded functions
}

// New returns a Space without events. It adds to problems which debug information is unreadable.
func New(resolver *symbolize.Resolver, tables Tables, problems *diagnostic.Log) *Space {
	return &Space{
		Objects:    artificialObjects(),
		resolver:   resolver,
		tables:     tables,
		problems:   problems,
		objects:    map[program.ObjectNo]*loadObject{},
		numbers:    map[objectKey]ObjectNo{},
		ids:        schema.IDs{},
		references: map[referenceKey]*reference{},
	}
}

// problem reports that some part of a load object (what) cannot be read.
func (s *Space) problem(file, what string, err error) {
	s.problems.Add(diagnostic.Problem{Severity: diagnostic.Warning, File: file, Offset: diagnostic.NoOffset, Reason: "bad-debug-information",
		Message: "its " + what + " cannot be read: " + err.Error()})
}

// reportNotes reports the notes about a load object's types and variables, except those in
// reported: the notes about its symbols.
func (s *Space) reportNotes(file string, t *types.Table, reported []symtab.Note) {
	if t == nil {
		return
	}
	for _, n := range t.Notes {
		if slices.ContainsFunc(reported, func(other symtab.Note) bool {
			return other.Text == n.Text || n.Reason == elf.MissingDebug && other.Reason == n.Reason
		}) {
			continue
		}
		s.problems.Add(symbolize.ProblemOf(n, file))
	}
}

// Process finds the data objects of one process's events.
type Process struct {
	space            *Space
	resolved         *symbolize.Process
	memory           *memory
	recentReferences [1 << recentBits]recentReference // by PC
}

// recentReference is a cached analysis of the instruction at a PC, and the time in which the PC has
// this code.
type recentReference struct {
	pc          uint64
	trigger     decode.Trigger
	from, until int64
	reference   *reference // nil: none yet
}

// recentBits: 1<<recentBits references are cached.
const recentBits = 10

// Process returns the finder for a process. blocks is nil if allocations were not traced.
func (s *Space) Process(p *decode.Process, resolved *symbolize.Process, blocks *Blocks) *Process {
	m := newMemory(s, p, resolved)
	m.blocks = blocks
	return &Process{space: s, resolved: resolved, memory: m}
}

// Details of why an event has no data object, other than those that concern an operand.
const (
	detailFetch  = "instruction fetch"
	detailNoCode = "the machine code is unavailable or too long"
	detailHigh   = "no program can have this data address"
)

// maxInstruction is the length in bytes of the longest instruction. On all processors, addresses
// have at most addressBits significant bits; the higher bits are all equal.
const (
	maxInstruction = 15
	addressBits    = 56
)

// Find returns the data object of an event.
func (p *Process) Find(e *Event) Match {
	ref := p.reference(e)
	address, has := e.Address, e.HasAddress && e.Address != 0
	w := addressInfo{region: program.None, variable: types.None, symbol: program.None}
	if has {
		w = p.memory.lookUp(address, e.Time)
	}
	if r, detail, failed := failure(e, ref); failed {
		return Match{Object: r.Object(), Embedding: program.None, Location: ref.location, Region: w.region, Detail: detail}
	}
	// The data address of a watchpoint, or of an access that crosses into a missing page, may be
	// that of any accessed byte, not only the first.
	inside := int64(accessStart)
	if e.Trigger == decode.TriggerBehind || address%pageSize == 0 {
		inside = int64(address % maxAccess)
	}
	k := matchKey{program.None, types.None, w.symbol, 0, w.kind, inside}
	if w.object != nil {
		k.load = w.object.number
	}
	if w.found {
		k.variable, k.offset = w.variable, w.object.types.offsetInElement(w.variable, w.offset)
	}
	found := memo.Get(ref.matches, k, func() Match { return p.space.decide(ref, w, has, inside) })
	found.Region = w.region
	if e.Code == 4 && found.Method == MethodNone {
		found.Object, found.Detail = RegistersChanged.Object(), ""
	}
	return found
}

// failure returns the reason if an event has no data object, whatever is at its data address.
func failure(e *Event, ref *reference) (r Reason, detail string, failed bool) {
	has := e.HasAddress && e.Address != 0
	switch {
	case e.Code == 2:
		return PreventedByJump, "", true
	case e.Code == 3:
		return NoTrigger, "", true
	case e.Code == 5:
		return InvalidAddress, "", true
	case has && e.Trigger == decode.TriggerExact && e.Address-e.PC <= maxInstruction:
		return NoMemoryReference, detailFetch, true
	case has && e.Address>>addressBits != 0 && e.Address>>addressBits != 1<<(64-addressBits)-1:
		return InvalidAddress, detailHigh, true
	case ref.final:
		return ref.reason, ref.detail, true
	}
	return 0, "", false
}

// reference returns the analysis of an event's instruction.
func (p *Process) reference(e *Event) *reference {
	r := &p.recentReferences[(e.PC^e.PC>>recentBits)%(1<<recentBits)]
	if r.reference != nil && r.pc == e.PC && r.trigger == e.Trigger && e.Candidate == 0 && r.from <= e.Time && e.Time < r.until {
		return r.reference
	}
	s := p.space
	at := p.resolved.Resolve(e.PC, e.Time)
	k := referenceKey{location: at.Location, candidate: program.None, trigger: e.Trigger}
	if e.Candidate != 0 && e.Trigger == decode.TriggerSkid {
		k.candidate = p.resolved.Resolve(e.Candidate, e.Time).Location
	}
	ref := memo.Get(s.references, k, func() *reference { return s.newReference(k) })
	if e.Candidate == 0 {
		*r = recentReference{e.PC, e.Trigger, at.From, at.Until, ref}
	}
	return ref
}

// ObjectNo and RegionNo are indices in Objects and Regions of a Space.
type (
	ObjectNo int32
	RegionNo int32
)

// symbolNo is the index of an untyped symbol in loadObject.variables.
type symbolNo int32
