package dataspace

import (
	"stackmill/schema"
	"stackmill/stages/loadobject/types"
	"stackmill/stages/program"
)

// Object is a data object: a row of data_objects (S28, S29, S30).
type Object struct {
	ID         int64
	Parent     ObjectNo // None for `<Total>`
	Kind       string
	Descriptor string
	Scope      string // name of the load object, compilation unit or function in which the name is known
	ScopeKind  string
	LoadObject program.ObjectNo // None for artificial objects
	Name, Type string
	Offset     int64 // in its parent, bytes; -1 for none
	Size       int64 // bytes, -1 if unknown
	// ElementSize is the size of one element of an array (in all dimensions), else Size.
	ElementSize int64
	Bit, Bits   int32 // of a bit field, as in types.Member
}

// The kinds of data objects.
const (
	KindTotal          = "total"
	KindScalars        = "scalars"
	KindUnknown        = "unknown"
	KindUnknownElement = "unknown_element"
	KindAggregate      = "aggregate"
	KindElement        = "element"
	KindScalar         = "scalar"
)

// The kinds of scopes (S29).
const (
	ScopeLoadObject = "load object"
	ScopeUnit       = "compilation unit"
	ScopeFunction   = "function"
)

// The numbers of the artificial data objects in Space.Objects. An object for each Reason follows
// them.
const (
	Total ObjectNo = iota
	Scalars
	Unknown
)

// Reason is why no data object was found: one of the elements of `<Unknown>` (S31).
type Reason int32

// The reasons why no data object was found, in the manual's order.
const (
	NoDebugInfo Reason = iota
	NoBranchTarget
	CrossedBranchTarget
	NoDescriptor
	NoMemoryReference
	NotDetermined
	PreventedByJump
	NoTrigger
	RegistersChanged
	InvalidAddress
)

// reasons are the names that the manual gives to the reasons.
var reasons = [...]string{
	NoDebugInfo:         "Module with trigger PC not compiled with -xhwcprof",
	NoBranchTarget:      "Backtracking failed to find a valid branch target",
	CrossedBranchTarget: "Backtracking traversed a branch target",
	NoDescriptor:        "No identifying descriptor provided by the compiler",
	NoMemoryReference:   "No type information",
	NotDetermined:       "Not determined from the symbolic information provided by the compiler",
	PreventedByJump:     "Backtracking was prevented by a jump or call instruction",
	NoTrigger:           "Backtracking did not find trigger PC",
	RegistersChanged:    "Could not determine VA because registers changed after trigger instruction",
	InvalidAddress:      "Memory-referencing instruction did not specify a valid VA",
}

func (r Reason) String() string { return reasons[r] }

// Object returns the number of the reason's data object.
func (r Reason) Object() ObjectNo { return Unknown + 1 + ObjectNo(r) }

// artificialObjects returns the data objects that every recording has.
func artificialObjects() []Object {
	list := []Object{
		{Parent: program.None, Kind: KindTotal, Descriptor: "<Total>"},
		{Parent: Total, Kind: KindScalars, Descriptor: "<Scalars>"},
		{Parent: Total, Kind: KindUnknown, Descriptor: "<Unknown>"},
	}
	for _, words := range reasons {
		list = append(list, Object{Parent: Unknown, Kind: KindUnknownElement, Descriptor: words})
	}
	for i := range list {
		o := &list[i]
		o.ID = schema.NewID("data object").Text(o.Descriptor).Sum()
		o.LoadObject, o.Offset, o.Size, o.ElementSize = program.None, -1, -1, -1
	}
	return list
}

// objectKey identifies a data object: an element by its aggregate and member, others by scope and
// descriptor.
type objectKey struct {
	parent     ObjectNo
	load       program.ObjectNo
	scopeKind  string
	scope      string
	unit       string // compilation unit of a function: its name may not be unique
	descriptor string
	member     types.MemberNo // the member, for members; else None
}

// inFunction makes a function the scope of the object.
func (k *objectKey) inFunction(t typeTable, scope types.ScopeNo) {
	k.scopeKind, k.scope, k.unit = ScopeFunction, t.FunctionName(scope), t.Units[t.Scopes[scope].Unit]
}

func (s *Space) intern(k objectKey, make func() Object) (n ObjectNo, added bool) {
	if n, ok := s.numbers[k]; ok {
		return n, false
	}
	o := make()
	o.Parent, o.LoadObject, o.Scope, o.ScopeKind, o.Descriptor = k.parent, k.load, k.scope, k.scopeKind, k.descriptor
	id := schema.NewID("data object").Number(uint64(s.Objects[k.parent].ID)).Number(uint64(s.resolver.Program.Objects[k.load].ID)).
		Text(k.scopeKind).Text(k.scope).Text(k.unit).Text(k.descriptor).Number(uint64(o.Offset)).Number(uint64(o.Bit)).Text(o.Name)
	o.ID = s.ids.Add("data object", id.Sum(), "") // unnamed structures in a union differ only in their members
	n = ObjectNo(len(s.Objects))
	s.Objects = append(s.Objects, o)
	s.numbers[k] = n
	return n, true
}

// dataObject returns the data object of a target: the innermost listed element that is accessed.
func (s *Space) dataObject(o *loadObject, r operandTarget, use types.Use) ObjectNo {
	t := o.types
	way, _ := t.DescendHint(r.typ, r.offset, use, r.hint)
	if len(way) == 0 {
		return NotDetermined.Object()
	}
	top := t.Strip(way[0].Type)
	if k := t.Types[top].Kind; !k.Aggregate() {
		return s.simpleObject(o, top, r)
	}
	n := s.aggregateObject(o, top, r)
	if r.wholeOnly {
		return n
	}
	for _, step := range way[1:] {
		next, ok := s.numbers[objectKey{parent: n, load: o.number, scopeKind: s.Objects[n].ScopeKind, scope: s.Objects[n].Scope,
			descriptor: s.elementDescriptor(o, n, step.Member), member: step.Member}]
		if !ok {
			break // members are not listed at this depth
		}
		n = next
	}
	return n
}

// simpleObject returns the data object of a target that is not a structure, class or union.
func (s *Space) simpleObject(o *loadObject, typ types.TypeNo, r operandTarget) ObjectNo {
	t := o.types
	k := objectKey{parent: Scalars, load: o.number, member: types.None}
	name, declared := "", typ
	k.scopeKind, k.scope = ScopeLoadObject, s.resolver.Program.Objects[o.number].Name
	if r.variable != types.None {
		v := &t.Variables[r.variable]
		name, declared = v.Name, v.Type
		switch {
		case v.Function != 0:
			k.inFunction(t, v.Function)
		case !v.External && v.Unit != 0:
			k.scopeKind, k.scope = ScopeUnit, t.Units[v.Unit]
		}
	}
	kind := KindScalar
	if t.Types[typ].Kind == types.Array {
		kind, k.parent = KindAggregate, Total
	}
	k.descriptor = "{" + t.Spell(declared, name) + "}"
	n, _ := s.intern(k, func() Object {
		return Object{Kind: kind, Name: name, Type: t.Spell(declared, ""), Offset: -1, Size: t.Types[typ].Size, ElementSize: t.Types[t.element(typ)].Size}
	})
	return n
}

// aggregateObject returns the data object of a structure, class or union. It adds its elements.
func (s *Space) aggregateObject(o *loadObject, typ types.TypeNo, r operandTarget) ObjectNo {
	t := o.types
	k := objectKey{parent: Total, load: o.number, member: types.None, scopeKind: ScopeLoadObject, scope: s.resolver.Program.Objects[o.number].Name}
	switch a := &t.Types[typ]; {
	case a.Function != 0:
		k.inFunction(t, a.Function)
	case a.Unit != 0:
		k.scopeKind, k.scope = ScopeUnit, t.Units[a.Unit]
	}
	name := ""
	if r.variable != types.None {
		name = t.Variables[r.variable].Name
	}
	k.descriptor = "{" + t.Spell(typ, name) + "}"
	n, added := s.intern(k, func() Object {
		return Object{Kind: KindAggregate, Type: k.descriptor[1 : len(k.descriptor)-1], Offset: -1, Size: t.Types[typ].Size, ElementSize: t.Types[typ].Size}
	})
	if added {
		left := maxElements
		s.addElements(o, n, typ, maxNesting, &left)
	}
	return n
}

// Bounds of the elements listed for an aggregate: how deep they are nested, and how many.
const (
	maxNesting  = 16
	maxElements = 20_000
)

// addElements adds the elements of an aggregate.
func (s *Space) addElements(o *loadObject, parent ObjectNo, typ types.TypeNo, depth int, left *int) {
	t := o.types
	a := &t.Types[typ]
	for m := a.First; m < a.End() && *left > 0; m++ {
		*left--
		member := &t.Members[m]
		inner := t.element(member.Type)
		nested := t.Types[inner].Kind.Aggregate()
		p := s.Objects[parent]
		k := objectKey{parent: parent, load: o.number, scopeKind: p.ScopeKind, scope: p.Scope, descriptor: s.elementDescriptor(o, parent, m), member: m}
		n, added := s.intern(k, func() Object {
			e := Object{Kind: KindElement, Name: member.Name, Offset: member.Offset, Size: t.Types[t.Strip(member.Type)].Size, ElementSize: t.Types[inner].Size, Bit: member.Bit, Bits: member.Bits}
			e.Type = t.Spell(member.Type, "")
			return e
		})
		if added && nested && depth > 0 {
			s.addElements(o, n, inner, depth-1, left)
		}
	}
}

// elementDescriptor returns the full descriptor of an element: its aggregate's, followed by its own
// (S28).
func (s *Space) elementDescriptor(o *loadObject, parent ObjectNo, m types.MemberNo) string {
	t := o.types
	member := &t.Members[m]
	part := t.SpellMember(m)
	if inner := t.element(member.Type); t.Types[inner].Kind.Aggregate() {
		part = t.Spell(inner, member.Name)
	}
	return s.Objects[parent].Descriptor + ".{" + part + "}"
}
