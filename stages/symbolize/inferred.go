package symbolize

import (
	"slices"

	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/insn/disasm"
	"stackmill/stages/loadobject/symtab"
)

// ReasonCall is why the instruction of a function that must be on a stack is
// unknown (S22).
const ReasonCall = "call instruction not recorded"

// Inferred is a caller that was not recorded, as far as machine code shows it (S22).
type Inferred struct {
	Location LocationNo // of its call, or of the function if several calls may be it; None if the caller is unknown
	Calls    bool       // the caller's code may call the callee itself: nothing is missing between them
}

// Infer finds the function between a call and a function that was seen above it
// without its own caller: the function that the call enters, unless that may have
// left for another one by a jump; then the one that calls the callee.
// It is false when nothing need be missing: the call itself leads to the callee.
// A callee of None may be called by anyone. callsMain says that a call
// without a known target calls the main function, if there is only one.
func (r *Resolver) Infer(call, callee LocationNo, callsMain bool) (found Inferred, missing bool) {
	found.Location = None
	to, ok := r.called(call, callsMain)
	if !ok {
		return found, true
	}
	reached, all := r.reach(to)
	calling := -1 // the only one of them whose code leads to the callee
	var at []exit
	for n, e := range reached {
		sites := r.leading(e, callee)
		switch {
		case len(sites) == 0:
		case calling >= 0:
			return found, true
		default:
			calling, at = n, sites
		}
	}
	switch own := r.isOwn(reached, callee); {
	case calling >= 0:
		return Inferred{r.caller(reached[calling], at), true}, true
	case own:
		return found, false
	case len(reached) != 1 || !all:
		return found, true
	}
	x, _, _ := r.exits(reached[0].object, reached[0].offset)
	return Inferred{r.caller(reached[0], nil), x.computedCalls && callee >= 0 && !r.isTable(callee)}, true
}

// called returns where a call goes, by its instruction, or else main.
func (r *Resolver) called(call LocationNo, callsMain bool) (destination, bool) {
	if c := r.callAt(call); c != nil {
		return c.to, true
	}
	main := destination{slot: symtab.Slot{Symbol: "main"}}
	return main, callsMain && len(r.entries(main)) == 1
}

// reached are the functions that a call may be in.
type reached struct {
	entries []entry
	all     bool // there can be no other
}

// reach returns the functions that a call may be in when it calls another: the
// one that it enters and those that this leaves for by a jump. all says that
// there can be no other. They are found once.
func (r *Resolver) reach(to destination) (found []entry, all bool) {
	r.forget()
	known, ok := r.reaches[to]
	if !ok {
		known.entries, known.all = r.findReach(to)
		r.reaches[to] = known
	}
	return known.entries, known.all
}

func (r *Resolver) findReach(to destination) (found []entry, all bool) {
	found = slices.Clone(r.entries(to))
	all = len(found) > 0
	for n := 0; n < len(found); n++ {
		x, _, ok := r.exits(found[n].object, found[n].offset)
		if !ok || !x.known || x.computedJumps || len(found) > maxTailCallers {
			all = false
		}
		if !ok || len(found) > maxTailCallers {
			continue
		}
		for _, j := range x.jumps {
			next := r.entries(j.to)
			all = all && len(next) > 0
			for _, e := range next {
				if !slices.Contains(found, e) {
					found = append(found, e)
				}
			}
		}
	}
	return found, all
}

// leading returns the calls of a function that lead to a callee: to its entry in
// the procedure linkage table, to itself, to a function that jumps to it, or to
// one that chooses among functions of its load object.
func (r *Resolver) leading(caller entry, callee LocationNo) (sites []exit) {
	x, _, ok := r.exits(caller.object, caller.offset)
	if !ok || callee < 0 {
		return nil
	}
	slot, viaTable := r.slotAt(callee)
	for _, c := range x.calls {
		leads := false
		if viaTable {
			leads = c.to.table && c.to.object == r.Program.Locations[callee].Object && c.to.slot == slot
		} else {
			reached, _ := r.reach(c.to)
			leads = r.mayBe(reached, callee)
		}
		if leads {
			sites = append(sites, c)
		}
	}
	return sites
}

// Contradicts reports whether a call proves that it did not lead to a callee: it
// goes to functions that leave for known places only.
func (r *Resolver) Contradicts(call, callee LocationNo) bool {
	c := r.callAt(call)
	if c == nil || r.isTable(callee) {
		return false
	}
	reached, all := r.reach(c.to)
	return all && !r.mayBe(reached, callee)
}

// mayBe reports whether the function of a location is among entries, or one of
// them chooses among functions of its load object.
func (r *Resolver) mayBe(list []entry, location LocationNo) bool {
	object := r.Program.Locations[location].Object
	return r.isOwn(list, location) || slices.ContainsFunc(list, func(e entry) bool { return e.object == object && r.isChooser(e) })
}

// isOwn reports whether the function of a location is among entries.
func (r *Resolver) isOwn(list []entry, location LocationNo) bool {
	if location < 0 {
		return false
	}
	f := &r.Program.Functions[r.Program.Locations[location].Function]
	return slices.Contains(list, entry{f.Object, f.Offset})
}

func (r *Resolver) isChooser(e entry) bool {
	f, ok := r.Program.Objects[e.object].table.Function(e.offset)
	return ok && f.Indirect
}

// isTable reports whether a location is in a procedure linkage table.
func (r *Resolver) isTable(location LocationNo) bool {
	return r.Program.Functions[r.Program.Locations[location].Function].Kind == symtab.PLT
}

// slotAt returns the slot of the entry of a procedure linkage table at a
// location; the zero slot, which no call has, if the entry cannot be decoded.
func (r *Resolver) slotAt(location LocationNo) (slot symtab.Slot, isTable bool) {
	if !r.isTable(location) {
		return slot, false
	}
	l := r.Program.Locations[location]
	t := r.Program.Objects[l.Object].table
	region, _ := t.Region(l.Offset)
	for _, size := range [...]uint64{16, 8} { // of entries, which may be aligned to no more than that
		start := l.Offset - (region.Address+l.Offset-region.Offset)%size
		stub, arch := r.Bytes(l.Object, start, maxStub)
		if at, ok := disasm.StubSlot(arch, stub, region.Address+start-region.Offset); ok {
			if slot, ok := t.Slot(at); ok {
				return slot, true
			}
		}
	}
	return slot, true
}

// caller returns the location of a function's call: of the only one, else of the
// function without an instruction.
func (r *Resolver) caller(e entry, sites []exit) LocationNo {
	t := r.Program.Objects[e.object].table
	f, _ := t.Function(e.offset)
	n := r.tableFunction(e.object, f)
	if len(sites) == 1 {
		return r.At(n, sites[0].end-1)
	}
	return r.Program.location(n, f.Offset, ReasonCall, nil)
}

// SetsFrame returns where a location's function sets its frame pointer before it
// gets there: the offset after the instruction, the function's end if it gets there
// without, 0 if no instruction does. It is unknown if the code is, or where its
// functions start.
func (r *Resolver) SetsFrame(location LocationNo) (offset uint64, known bool) {
	l := &r.Program.Locations[location]
	x, f, ok := r.exits(l.Object, l.Offset)
	if !ok || l.Reason != "" || !x.known || f.Kind == symtab.Static {
		return 0, false
	}
	if slices.ContainsFunc(x.early, func(s stretch) bool { return s.from <= l.Offset && l.Offset < s.until }) {
		return f.Offset + f.Size, true
	}
	return x.frame, true
}

// Returns reports whether a location's instruction returns from its function, or
// does nothing before one that does: its frame pointer is the caller's again.
func (r *Resolver) Returns(location LocationNo) bool {
	l := &r.Program.Locations[location]
	if l.Object < 0 || l.Reason != "" {
		return false
	}
	code, arch := r.Bytes(l.Object, l.Offset, maxStub)
	for i := range disasm.Walk(arch, code, l.Offset) {
		if i.Err != nil || i.Inst.Kind != insn.Nop {
			return i.Err == nil && i.Inst.Kind == insn.Return
		}
	}
	return false
}
