package dataspace

import (
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/types"
	"stackmill/stages/program"
)

// reference is the analysis of the instruction at a PC of events.
type reference struct {
	object   *loadObject
	location program.LocationNo
	behind   bool // events come from watchpoints, after the instruction
	operands []operand
	final    bool // the reason holds for every data address
	reason   Reason
	detail   string
	matches  map[matchKey]Match // results of Space.decide
}

// operand is one memory operand of the instruction that caused an event.
type operand struct {
	operandTarget
	use    types.Use
	object ObjectNo // the target's data object, if known
	whole  ObjectNo // the data object that contains all accessed bytes
	size   int64    // accessed bytes
	detail string
	frame  bool // it is on the stack
	shared bool // the accessed bytes contain several bit fields: the used bits select one
	parts  bool // the access is wider than the tracked bits: the data address selects the bit field
}

type referenceKey struct {
	location, candidate program.LocationNo
	trigger             decode.Trigger
}

// newReference finds the instruction that caused the events at a PC, and analyzes its operands.
func (s *Space) newReference(k referenceKey) *reference {
	p := s.resolver.Program
	at := p.Location(k.location)
	fn := &p.Functions[at.Function]
	o := s.loadObject(at.Object)
	ref := &reference{object: o, location: k.location, behind: k.trigger == decode.TriggerBehind, reason: NoDebugInfo, final: k.trigger == decode.TriggerSkid, matches: map[matchKey]Match{}}
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
	if !described && !s.resolver.HasDebugInfo(at.Function) {
		return ref
	}
	candidate := int64(-1)
	if k.candidate != program.None {
		c := p.Location(k.candidate)
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
		ref.location = s.resolver.LocationAt(at.Function, offset)
	}
	s.findOperands(ref, f, n)
	if ref.reason == NotDetermined && !described {
		ref.reason = NoDescriptor
	}
	return ref
}

// findOperands sets the operands of a reference, or the reason why they have no data object.
func (s *Space) findOperands(ref *reference, f *function, n int) {
	x := &f.code[n]
	ref.reason = NoMemoryReference
	if len(x.Accesses) == 0 {
		return
	}
	ref.reason = NotDetermined
	before := f.stateBefore(n)
	for i := range x.Accesses {
		a := &x.Accesses[i]
		op := operand{use: f.use(before, n, a)}
		if a.Store && x.Op == insn.Store && before.register(x.Source).kind == valueFloat {
			op.use.Float = true
		}
		op.frame = f.addressOf(before, n, a).kind == valueFrame
		op.operandTarget, op.detail = f.target(before, n, a)
		if op.ok {
			op.hint.Constant = x.storesConstant()
			if f.types.TouchesBits(op.typ, op.operandTarget.offset, a.Size) && !op.wholeOnly {
				var some bool
				op.hint.Bits, some = f.usedBits(n)
				op.wholeOnly, op.shared = !some, !some || f.types.SharesBits(op.typ, op.operandTarget.offset, a.Size)
			}
			op.object = s.dataObject(f.object, op.operandTarget, op.use)
			if whole := op.use; whole.Part {
				whole.Part = false
				if o := s.dataObject(f.object, op.operandTarget, whole); o != op.object && f.loadsAll(n, a) {
					op.object, op.use = o, whole
				}
			}
			op.parts = op.shared && a.Size > maxBits/8
			op.whole, op.size = s.enclosing(op.object, f.object, op.operandTarget, a), int64(a.Size)
			if op.shared && a.Size <= maxBits/8 {
				op.whole = op.object // the used bits decide, not the data address
			}
			if a.Repeated {
				op.object = op.whole
			}
		} else if ref.detail == "" || ref.detail == detailStack {
			ref.detail = op.detail
		}
		ref.operands = append(ref.operands, op)
	}
}

// enclosing returns a data object or one of its parents: the innermost that contains all bytes that
// an operand accesses.
func (s *Space) enclosing(object ObjectNo, o *loadObject, r operandTarget, a *insn.Access) ObjectNo {
	size := int64(a.Size)
	if a.Repeated {
		size = max(o.types.Types[r.typ].Size, size)
	}
	last := r
	last.offset += max(size-1, 0)
	if o.types.Types[o.types.Strip(r.typ)].Kind.Aggregate() && last.offset >= o.types.Types[o.types.Strip(r.typ)].Size {
		last.offset = o.types.Types[o.types.Strip(r.typ)].Size - 1
	}
	end := s.dataObject(o, last, types.Use{})
	for n := object; n > Unknown; n = s.Objects[n].Parent {
		for m := end; m > Unknown; m = s.Objects[m].Parent {
			if m == n || s.Objects[m].Parent == s.Objects[n].Parent && s.overlap(m, n) {
				return n
			}
		}
	}
	return object
}

// overlap reports whether two members of an aggregate overlap, as in a union.
func (s *Space) overlap(a, b ObjectNo) bool {
	x, y := &s.Objects[a], &s.Objects[b]
	return x.Kind == KindElement && y.Kind == KindElement && x.Offset < y.Offset+y.Size && y.Offset < x.Offset+x.Size
}
