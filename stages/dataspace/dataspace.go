// Package dataspace finds the program's data object that a memory event hit:
// the variable, or the member of a structure, class or union (S27 to S31).
//
// The instruction that made the event tells by its operand: by the variable in
// the register or at the place of the stack that it counts from, by the type of
// what it loaded its address from (perf-data 17), or by the address in the load
// object. The data address, when it was recorded, decides where it can: what is
// known of the code is known once per instruction.
package dataspace

import (
	"slices"

	"stackmill/problem"
	"stackmill/stages/decode"
	"stackmill/stages/symbolize"
	"stackmill/stages/symbolize/datatype"
	"stackmill/stages/symbolize/insn"
	"stackmill/stages/symbolize/symtab"
)

// Method is how a data object was found.
type Method uint8

// The methods.
const (
	MethodNone      Method = iota
	MethodVariable         // the operand counts from a variable in a register
	MethodRegister         // it counts from a register whose type is known from the instructions before
	MethodContainer        // the pointer's type is that of a member of what it is in
	MethodStack            // it is in a variable on the stack
	MethodGlobal           // it is in a variable at an address that the code names
	MethodThread           // it is in a thread-local variable
	MethodAddress          // the data address is in a variable
)

var methods = [...]string{"", "variable", "register", "container", "stack", "global", "thread-local", "address"}

func (m Method) String() string { return methods[m] }

// Agreement is how the code's operand compares with the data address.
type Agreement uint8

// The outcomes.
const (
	Unchecked Agreement = iota // one of them does not tell
	Agrees
	Disagrees // the data address decided
)

var agreements = [...]string{"unchecked", "agrees", "disagrees"}

func (a Agreement) String() string { return agreements[a] }

// Event is one memory event.
type Event struct {
	PC         uint64 // as recorded
	Trigger    decode.Trigger
	Candidate  uint64 // the trigger PC that the recording names, 0 for none
	Address    uint64 // of the data
	HasAddress bool
	Code       int // why there is no address (gprofng-experiment 9.5), 0 when nothing is known
	Time       int64
}

// Found is the data object of an event.
type Found struct {
	Object    int32 // number in Space.Objects: the most specific one, or a reason
	Location  int32 // of the trigger instruction, or of the recorded PC when that was not found
	Region    int32 // number in Space.Regions, -1 without a data address
	Method    Method
	Agreement Agreement
	Detail    string // what exactly is missing, for reasons
}

// Space is the data objects of one recording. It is not safe for concurrent use.
type Space struct {
	Objects []Object // artificial ones first, each behind its parent
	Regions []Region

	resolver   *symbolize.Resolver
	tables     Tables
	problems   *problem.Log
	objects    map[int32]*object
	numbers    map[objectKey]int32
	references map[referenceKey]*reference

	instructions int // of the functions that are kept
}

// New returns a space without events. What of debug information cannot be read
// goes to problems.
func New(resolver *symbolize.Resolver, tables Tables, problems *problem.Log) *Space {
	return &Space{
		Objects:    artificial(),
		resolver:   resolver,
		tables:     tables,
		problems:   problems,
		objects:    map[int32]*object{},
		numbers:    map[objectKey]int32{},
		references: map[referenceKey]*reference{},
	}
}

func (s *Space) problem(file string, err error) {
	s.problems.Add(problem.Problem{Severity: problem.Warning, File: file, Offset: problem.NoOffset, Reason: "bad-debug-information",
		Message: "its types and variables cannot be read: " + err.Error()})
}

// note tells what of a load object's types and variables could not be read,
// unless the same was told of its symbols.
func (s *Space) note(file string, t *datatype.Table, told []symtab.Note) {
	if t == nil {
		return
	}
	for _, n := range t.Notes {
		if slices.ContainsFunc(told, func(other symtab.Note) bool { return other.Text == n.Text }) {
			continue
		}
		severity := problem.Warning
		if n.Damage {
			severity = problem.Error
		}
		s.problems.Add(problem.Problem{Severity: severity, File: file, Offset: n.Offset, Reason: "bad-debug-information", Message: n.Text})
	}
}

// Process finds the data objects of one process's events.
type Process struct {
	space    *Space
	resolved *symbolize.Process
	memory   *memory
}

// Process returns the finder of a process. Blocks are those of its heap, nil
// when allocations were not traced.
func (s *Space) Process(p *decode.Process, resolved *symbolize.Process, blocks *Blocks) *Process {
	m := newMemory(s, p, resolved)
	m.blocks = blocks
	return &Process{s, resolved, m}
}

// reference is what is known of an instruction that events name.
type reference struct {
	object   *object
	location int32
	behind   bool // events are told behind it, with the address that was watched
	operands []operand
	final    bool // the reason holds whatever the data address is
	reason   Reason
	detail   string
	found    map[foundKey]Found // by what the data address is in
}

// operand is one operand in memory of a trigger instruction.
type operand struct {
	root
	use    datatype.Use
	object int32 // the data object, when root is known
	// whole is the one that holds all that is accessed.
	whole  int32
	size   int64 // bytes accessed
	detail string
	frame  bool // it counts from the stack
}

type referenceKey struct {
	location, candidate int32
	trigger             decode.Trigger
}

// foundKey is what of a data address matters: the variable and the byte of an
// element of it, or the kind of memory.
type foundKey struct {
	load, variable, symbol int32
	offset                 int64
	kind                   string // of region
	inside                 int64
}

// details of reasons without an operand
const (
	detailFetch  = "instruction fetch"
	detailNoCode = "the machine code is not to be had"
	detailHigh   = "the data address is none that a program can have"
)

// maxInstruction is the longest instruction, bytes.
const maxInstruction = 15

// Find returns the data object of an event.
func (p *Process) Find(e *Event) Found {
	ref := p.reference(e)
	address, has := e.Address, e.HasAddress && e.Address != 0
	w := where{region: none, variable: none, symbol: none}
	if has {
		w = p.memory.at(address, e.Time)
	}
	fail := func(r Reason, detail string) Found {
		return Found{Object: r.Object(), Location: ref.location, Region: w.region, Detail: detail}
	}
	switch {
	case e.Code == 2:
		return fail(PreventedByJump, "")
	case e.Code == 3:
		return fail(NoTrigger, "")
	case e.Code == 5:
		return fail(InvalidAddress, "")
	case has && e.Trigger == decode.TriggerExact && address-e.PC <= maxInstruction:
		return fail(NoMemoryReference, detailFetch)
	case has && address>>47 != 0 && address>>47 != 1<<17-1:
		return fail(InvalidAddress, detailHigh)
	case ref.final:
		return fail(ref.reason, ref.detail)
	}
	// Where in what is accessed the data address is, is not known of watchpoints
	// and of accesses that cross into a page that was not there.
	inside := int64(none)
	if e.Trigger == decode.TriggerBehind || address%pageSize == 0 {
		inside = int64(address % maxAccess)
	}
	k := foundKey{none, none, w.symbol, 0, w.kind, inside}
	if w.found {
		k.load, k.variable, k.offset = w.object.number, w.variable, w.object.types.inElement(w.variable, w.offset)
	}
	found, ok := ref.found[k]
	if !ok {
		found = p.space.decide(ref, w, has, inside)
		ref.found[k] = found
	}
	found.Region = w.region
	if e.Code == 4 && found.Method == MethodNone {
		found.Object, found.Detail = RegistersChanged.Object(), ""
	}
	return found
}

// inElement reduces an offset in an array of aggregates to one in an element,
// and one in an array of others to 0: all of them are one data object (S28).
func (t types) inElement(variable int32, offset int64) int64 {
	typ := t.Variables[variable].Type
	if t.Types[t.Strip(typ)].Kind != datatype.Array {
		return offset
	}
	e := &t.Types[t.element(typ)]
	switch {
	case !e.Kind.Aggregate():
		return 0
	case e.Size > 0:
		return offset % e.Size
	}
	return offset
}

// reference returns what is known of the instruction of an event.
func (p *Process) reference(e *Event) *reference {
	s := p.space
	k := referenceKey{location: p.resolved.Resolve(e.PC, e.Time).Location, candidate: none, trigger: e.Trigger}
	if e.Candidate != 0 && e.Trigger == decode.TriggerSkid {
		k.candidate = p.resolved.Resolve(e.Candidate, e.Time).Location
	}
	ref := s.references[k]
	if ref == nil {
		ref = s.refer(k)
		ref.found = map[foundKey]Found{}
		s.references[k] = ref
	}
	return ref
}

// refer finds the trigger instruction and its operands.
func (s *Space) refer(k referenceKey) *reference {
	program := s.resolver.Program
	at := program.Locations[k.location]
	fn := &program.Functions[at.Function]
	o := s.object(at.Object)
	ref := &reference{object: o, location: k.location, behind: k.trigger == decode.TriggerBehind, reason: NoDebugInfo, final: k.trigger == decode.TriggerSkid}
	if at.Reason != "" || o.types.Table == nil {
		return ref
	}
	f := o.function(at.Function)
	if f == nil {
		ref.reason, ref.detail = NotDetermined, detailNoCode
		if ref.final {
			ref.reason = NoBranchTarget
		}
		return ref
	}
	described := o.types.Function(fn.Address+at.Offset-fn.Offset) != 0
	if !described && !s.resolver.Described(at.Function) {
		return ref
	}
	candidate := int64(-1)
	if k.candidate != none {
		c := program.Locations[k.candidate]
		if c.Function != at.Function {
			ref.reason = NoBranchTarget
			return ref
		}
		candidate = int64(fn.Address + c.Offset - fn.Offset)
	}
	n, why, ok := f.trigger(fn.Address+at.Offset-fn.Offset, k.trigger, candidate)
	if !ok {
		ref.reason, ref.final = why, k.trigger != decode.TriggerExact
		return ref
	}
	ref.final = false
	if offset := fn.Offset + f.code[n].address - fn.Address; offset != at.Offset {
		ref.location = s.resolver.At(at.Function, offset)
	}
	s.operands(ref, f, n)
	if ref.reason == NotDetermined && !described {
		ref.reason = NoDescriptor
	}
	return ref
}

// operands finds what the operands of an instruction lead into.
func (s *Space) operands(ref *reference, f *function, n int) {
	x := &f.code[n]
	ref.reason = NoMemoryReference
	if len(x.Accesses) == 0 {
		return
	}
	ref.reason = NotDetermined
	before := f.before(n)
	for i := range x.Accesses {
		a := &x.Accesses[i]
		op := operand{use: datatype.Use{Size: a.Size, Float: a.Class == insn.Float}}
		if a.Store && x.Op == insn.Store && x.Source != insn.NoRegister {
			v := before.register(x.Source)
			op.use.Float = op.use.Float || v.kind == floating || v.kind == scalar && f.types.Types[v.typ].Float
		}
		op.frame = f.followed(before, n, a).kind == frame
		op.root, op.detail = f.root(before, n, a)
		if op.ok {
			op.object = s.dataObject(f.object, op.root, op.use)
			op.whole, op.size = s.holding(op.object, f.object, op.root, a), int64(a.Size)
			if a.Repeated {
				op.object = op.whole
			}
		} else if ref.detail == "" || ref.detail == detailStack {
			ref.detail = op.detail
		}
		ref.operands = append(ref.operands, op)
	}
}

// holding returns the smallest data object that holds all that an operand
// accesses, of which the given one is at its start.
func (s *Space) holding(object int32, o *object, r root, a *insn.Access) int32 {
	size := int64(a.Size)
	if a.Repeated {
		size = max(o.types.Types[r.typ].Size, size)
	}
	last := r
	last.offset += max(size-1, 0)
	if o.types.Types[o.types.Strip(r.typ)].Kind.Aggregate() && last.offset >= o.types.Types[o.types.Strip(r.typ)].Size {
		last.offset = o.types.Types[o.types.Strip(r.typ)].Size - 1
	}
	end := s.dataObject(o, last, datatype.Use{})
	for n := object; n > Unknown; n = s.Objects[n].Parent {
		for m := end; m > Unknown; m = s.Objects[m].Parent {
			if m == n || s.Objects[m].Parent == s.Objects[n].Parent && s.overlap(m, n) {
				return n
			}
		}
	}
	return object
}

// overlap reports whether two members of an aggregate, as of a union, are in one place.
func (s *Space) overlap(a, b int32) bool {
	x, y := &s.Objects[a], &s.Objects[b]
	return x.Kind == KindElement && y.Kind == KindElement && x.Offset < y.Offset+y.Size && y.Offset < x.Offset+x.Size
}

// pageSize is that of the smallest pages, maxAccess that of the longest access.
const (
	pageSize  = 4096
	maxAccess = 64
)

// inside returns the data object at a data address that is somewhere in what an
// operand accesses: accesses to a multiple of their size are taken to be aligned.
func (s *Space) inside(o *object, op *operand, address int64) int32 {
	size := o.types.Types[o.types.Strip(op.typ)].Size
	if op.size > 0 && address%op.size == 0 && op.offset%op.size == 0 {
		return op.object
	}
	if op.size <= 0 || op.offset%op.size != 0 || size%op.size != 0 || op.whole == op.object {
		return op.whole
	}
	at := op.root
	at.offset += address % op.size
	return s.dataObject(o, at, datatype.Use{})
}

// decide chooses between what the code tells and what the data address tells.
func (s *Space) decide(ref *reference, w where, has bool, inside int64) Found {
	found := Found{Location: ref.location}
	if w.found {
		return s.byAddress(ref, w, found)
	}
	known := false
	for i := range ref.operands {
		op := &ref.operands[i]
		if !op.ok {
			continue
		}
		known = true
		if !has || op.mayBe(w) {
			found.Object, found.Method = op.object, op.method
			if has && inside != none && op.whole != op.object {
				found.Object = s.inside(ref.object, op, inside)
			}
			if has && op.method == MethodStack && w.kind == RegionStack {
				found.Agreement = Agrees
			}
			return found
		}
	}
	if w.symbol != none {
		found.Object, found.Method = s.symbolObject(w.object, w.symbol), MethodAddress
		if known {
			found.Agreement = Disagrees
		}
		return found
	}
	found.Object, found.Detail = ref.reason.Object(), ref.detail
	if known {
		found.Object, found.Detail, found.Agreement = NotDetermined.Object(), detailDisagree, Disagrees
	}
	return found
}

// byAddress takes the variable at the data address.
func (s *Space) byAddress(ref *reference, w where, found Found) Found {
	t := w.object.types
	at := root{ok: true, typ: t.Variables[w.variable].Type, variable: w.variable, offset: w.offset}
	found.Method = MethodAddress
	var use datatype.Use
	known := false
	for i := range ref.operands {
		op := &ref.operands[i]
		if op.frame {
			continue
		}
		if use.Size == 0 {
			use = op.use
		}
		if !op.ok {
			continue
		}
		known = true
		if near := op.offset - w.offset; ref.behind && op.variable == w.variable && ref.object == w.object && near < maxWatch && -near < maxWatch {
			found.Object, found.Method, found.Agreement = op.object, op.method, Agrees
			return found
		}
		if object := s.dataObject(w.object, at, op.use); object == op.object || s.same(object, op.object) {
			found.Object, found.Method, found.Agreement = object, op.method, Agrees
			return found
		}
	}
	found.Object = s.dataObject(w.object, at, use)
	if known {
		found.Agreement = Disagrees
	}
	return found
}

// maxWatch is how many bytes a watchpoint covers: what is accessed of them need
// not be the first.
const maxWatch = 8

// same reports whether the object at the data address is what the code means by
// another name: what a pointer leads to has none.
func (s *Space) same(address, code int32) bool {
	a, c := &s.Objects[address], &s.Objects[code]
	return c.Kind == KindScalar && c.Name == "" && (a.Kind == KindScalar || a.Kind == KindAggregate || a.Kind == KindElement)
}

// mayBe reports whether an operand can be in memory where no variable of a load
// object is.
func (op *operand) mayBe(w where) bool {
	switch {
	case op.method == MethodGlobal:
		return false
	case op.method == MethodStack:
		return w.kind == RegionStack || w.kind == RegionAnonymous || w.kind == RegionUnknown || w.kind == RegionHeap
	case op.frame:
		return true
	}
	return w.kind != RegionKernel
}
