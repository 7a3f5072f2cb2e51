package symbolize

import (
	"slices"

	"stackmill/internal/memo"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/insn/disasm"
	"stackmill/stages/loadobject/isa"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
)

// ReasonCall is the reason why the location of an inferred caller has no instruction (S22).
const ReasonCall = "call instruction not recorded"

// InferredCaller is a caller that was not recorded, inferred from machine code (S22).
type InferredCaller struct {
	Location program.LocationNo // location of the call, or of the whole caller if several calls are possible; None if the caller is unknown
	Calls    bool               // the caller may call the callee directly: nothing is missing between them
}

// Infer finds the function that is missing on a stack between a call and its apparent callee: the
// function that the call enters or, if that may have jumped elsewhere, the reachable function whose
// code calls the callee. missing is false if the call itself may lead to the callee. If callee is
// None, any function may be the caller. callsMain reports whether a call with an unknown target
// calls the main function; Infer assumes so if there is only one main function.
func (s *Scope) Infer(call, callee program.LocationNo, callsMain func() bool) (found InferredCaller, missing bool) {
	to, ok := s.callDestination(call, callsMain)
	if !ok {
		return InferredCaller{Location: program.None}, true
	}
	if callee >= 0 && s.r.isTable(callee) { // the location, not only its function, decides which entry it is
		return s.findCaller(to, callee)
	}
	k := inferenceKey{to, program.None}
	if callee >= 0 {
		k.callee = s.r.Program.Location(callee).Function
	}
	known := memo.Get(s.inferences, k, func() (found inferenceResult) {
		found.InferredCaller, found.missing = s.findCaller(to, callee)
		return found
	})
	return known.InferredCaller, known.missing
}

// inferenceKey is the destination of a call and the callee's function, None for no callee. Infer
// has the same result for all locations in that function.
type inferenceKey struct {
	call   destinationNo
	callee program.FunctionNo
}

// inferenceResult is a result of Infer.
type inferenceResult struct {
	InferredCaller
	missing bool
}

// findCaller finds the missing function as Infer does, between a call with a known destination and
// its apparent callee.
func (s *Scope) findCaller(to destinationNo, callee program.LocationNo) (found InferredCaller, missing bool) {
	r := s.r
	found.Location = program.None
	reached := s.reachableFrom(to)
	calling := -1 // the only reachable function whose code leads to the callee
	var at callMatch
	for n, e := range reached.entries {
		site := s.callsLeadingTo(e, callee)
		switch {
		case site.count == 0:
		case calling >= 0:
			return found, true
		default:
			calling, at = n, site
		}
	}
	switch own := callee >= 0 && reached.mayContain(r.entryOf(callee)); {
	case calling >= 0:
		return InferredCaller{r.caller(reached.entries[calling], at), true}, true
	case own:
		return found, false
	case len(reached.entries) != 1 || !reached.all:
		return found, true
	}
	only := reached.entries[0]
	x := r.exits(only.object, only.offset)
	r.resolveCalls(x)
	return InferredCaller{r.caller(only, callMatch{}), x.computedCalls && callee >= 0 && !r.isTable(callee)}, true
}

// callDestination returns the destination of a call as its instruction shows it, or else main.
func (s *Scope) callDestination(call program.LocationNo, callsMain func() bool) (destinationNo, bool) {
	if c := s.r.callAt(call); c != nil {
		return c.to, true
	}
	main := destinationKey{slot: symtab.Slot{Symbol: "main"}}
	return s.r.graph.intern(main), callsMain() && len(s.entriesNamed(main.slot.Symbol)) == 1
}

// reachableSet holds the functions that a call may reach without a further call: the function that
// it enters, and those reached from there by jumps.
type reachableSet struct {
	entries  []entry
	choosers []program.ObjectNo // load objects with IFUNC resolvers that choose the function to call
	all      bool               // the set is complete
	byName   bool               // some functions were found by name, so the set depends on the scope
}

// reachableFrom returns the functions that a call with this destination may reach.
func (s *Scope) reachableFrom(to destinationNo) *reachableSet {
	known := s.r.graph.destinations[to].reachable
	if known == nil {
		known = s.reachable[to]
	}
	if known == nil {
		if known = s.findReachable(to); known.byName {
			s.reachable[to] = known
		} else {
			s.r.graph.destinations[to].reachable = known
		}
	}
	return known
}

func (s *Scope) findReachable(to destinationNo) *reachableSet {
	r := s.r
	found := slices.Clip(s.entries(to))
	known := &reachableSet{all: len(found) > 0, byName: r.graph.destinations[to].slot.Symbol != ""}
	known.addChooser(&r.graph.destinations[to])
	for n := 0; n < len(found); n++ {
		x := r.exits(found[n].object, found[n].offset)
		if x == nil || !x.known || x.computedJumps || len(found) > maxTailCallers {
			known.all = false
		}
		if x == nil || len(found) > maxTailCallers {
			continue
		}
		for _, j := range x.jumps {
			next := s.entries(j.to)
			known.all = known.all && len(next) > 0
			known.byName = known.byName || r.graph.destinations[j.to].slot.Symbol != ""
			known.addChooser(&r.graph.destinations[j.to])
			for _, e := range next {
				if !slices.Contains(found, e) {
					found = append(found, e)
				}
			}
		}
	}
	known.entries = found
	for _, e := range found {
		if f, ok := r.loadObjects[e.object].table.Function(e.offset); ok && f.Indirect {
			known.choosers = append(known.choosers, e.object)
		}
	}
	return known
}

// addChooser adds the load object of a destination whose function an IFUNC resolver chooses.
func (x *reachableSet) addChooser(d *destination) {
	if d.slot.Resolver != 0 {
		x.choosers = append(x.choosers, d.object)
	}
}

// mayContain reports whether a function is in the set, or may be one that an IFUNC resolver
// chooses.
func (x *reachableSet) mayContain(f entry) bool {
	return slices.Contains(x.entries, f) || slices.Contains(x.choosers, f.object)
}

// entryOf returns the function of a location.
func (r *Resolver) entryOf(location program.LocationNo) entry {
	f := &r.Program.Functions[r.Program.Location(location).Function]
	return entry{f.Object, f.Offset}
}

// callMatch holds the number of matching calls in a function, and where the first one ends.
type callMatch struct {
	count int
	end   uint64 // the end of the first call
}

// callsLeadingTo returns the calls in a function that lead to a callee: calls of the callee, of its
// entry in the procedure linkage table, of a function that jumps to either, or through an IFUNC
// resolver that may choose it. If the callee is code that several entries of a table share, calls
// of any entry lead to it.
func (s *Scope) callsLeadingTo(caller entry, callee program.LocationNo) (found callMatch) {
	r := s.r
	x := r.exits(caller.object, caller.offset)
	if x == nil || callee < 0 {
		return found
	}
	slot, viaTable := r.slotAt(callee)
	f := r.entryOf(callee)
	calls := r.resolveCalls(x)
	for i := range calls {
		c, leads := &calls[i], false
		if viaTable {
			leads = s.entersTable(c.to, f.object, slot)
		} else {
			leads = s.reachableFrom(c.to).mayContain(f)
		}
		if !leads {
			continue
		}
		if found.count++; found.count == 1 {
			found.end = c.end
		}
	}
	return found
}

// Contradicts reports whether machine code proves that a call does not lead to a callee. For such a
// proof, all functions that the call may reach must be known.
func (s *Scope) Contradicts(call, callee program.LocationNo) bool {
	c := s.r.callAt(call)
	if c == nil || s.r.isTable(callee) {
		return false
	}
	reached := s.reachableFrom(c.to)
	return reached.all && !reached.mayContain(s.r.entryOf(callee))
}

// isTable reports whether a location is in a procedure linkage table.
func (r *Resolver) isTable(location program.LocationNo) bool {
	return r.Program.Functions[r.Program.Location(location).Function].Kind == funcinfo.PLT
}

// entersTable reports whether a call goes to an entry of a load object's procedure linkage table,
// or to a function that jumps to an entry. slot selects the entry; the zero slot matches any entry.
func (s *Scope) entersTable(to destinationNo, object program.ObjectNo, slot symtab.Slot) bool {
	r := s.r
	isEntry := func(n destinationNo) bool {
		d := &r.graph.destinations[n]
		return d.table && d.object == object && (d.slot == slot || d.slot == symtab.Slot{} || slot == symtab.Slot{})
	}
	if isEntry(to) {
		return true
	}
	for _, e := range s.reachableFrom(to).entries {
		if e.object != object {
			continue
		}
		x := r.exits(e.object, e.offset)
		if x != nil && slices.ContainsFunc(x.jumps, func(j exit) bool { return isEntry(j.to) }) {
			return true
		}
	}
	return false
}

// slotAt returns the slot of the global offset table through which the entry at a location jumps;
// isTable says that the location is in a procedure linkage table. The slot is zero for code that
// entries share or that cannot be decoded.
func (r *Resolver) slotAt(location program.LocationNo) (slot symtab.Slot, isTable bool) {
	if !r.isTable(location) {
		return slot, false
	}
	l := r.Program.Location(location)
	t := r.loadObjects[l.Object].table
	region, _ := t.Region(l.Offset)
	address := region.Address + l.Offset - region.Offset
	step := uint64(8) // entries have at least this alignment
	if t.Arch == isa.ARM64 {
		step = 4
	}
	for start := address - address%step; start >= region.Address && address-start < maxStub; start -= step {
		stub, arch := r.Bytes(l.Object, region.Offset+start-region.Address, maxStub)
		if at, ok := disasm.StubSlot(arch, stub, start); ok {
			if slot, ok := t.Slot(at); ok {
				return slot, true
			}
		}
	}
	return slot, true
}

// caller returns the location of the matching call in a function if there is only one, else the
// function's start, without an instruction.
func (r *Resolver) caller(e entry, at callMatch) program.LocationNo {
	t := r.loadObjects[e.object].table
	f, _ := t.Function(e.offset)
	n := r.tableFunction(e.object, f)
	if at.count == 1 {
		return r.LocationAt(n, at.end-1)
	}
	return r.Program.InternLocation(n, f.Offset, ReasonCall, nil)
}
