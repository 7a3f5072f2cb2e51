package symbolize

import (
	"slices"
	"sort"

	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/insn/disasm"
	"stackmill/stages/loadobject/isa"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
)

// exit is an instruction by which control leaves a function, from at to end in
// the file.
type exit struct {
	at, end uint64
	to      destinationNo
}

// exits are the ways in which control leaves a function, from its machine code.
type exits struct {
	object        program.ObjectNo
	unresolved    []directCall // calls whose destinations nobody has asked for
	calls         []exit       // the others, in the order of offsets
	jumps         []exit       // to other functions
	computedCalls bool         // it calls addresses that it computes, as far as destinations were asked for
	computedJumps bool         // it jumps to such addresses
	known         bool         // all of the code was looked at
}

// directCall is a call that says where it goes: its target or the address of its slot.
type directCall struct {
	at, end, to uint64
	slot        bool
}

// resolveCalls returns the calls of a function whose destinations are known. Most functions are
// looked at for their jumps only.
func (r *Resolver) resolveCalls(x *exits) []exit {
	if len(x.unresolved) > 0 {
		x.calls = make([]exit, 0, len(x.unresolved))
		for _, c := range x.unresolved {
			inst := insn.Inst{HasTarget: !c.slot, Target: c.to, HasSlot: c.slot, Slot: c.to}
			if to := r.destination(x.object, inst); to >= 0 {
				x.calls = append(x.calls, exit{c.at, c.end, to})
			} else {
				x.computedCalls = true
			}
		}
		x.unresolved = nil
	}
	return x.calls
}

// maxExitCode bounds the machine code of a function that is looked at: the
// largest that compilers make of sources, interpreters' main loops, have 100 KiB.
const maxExitCode = 512 << 10

// wholeCode returns the machine code of a function; whole says that it is all.
func (r *Resolver) wholeCode(object program.ObjectNo, f symtab.Function) (code []byte, arch isa.Arch, whole bool) {
	code, arch = r.Bytes(object, f.Offset, min(f.Size, maxExitCode))
	return code, arch, arch != 0 && uint64(len(code)) == f.Size
}

// exits returns the ways out of the function at an offset of a load object's
// file, nil if there is none. They are found once.
func (r *Resolver) exits(object program.ObjectNo, offset uint64) *exits {
	return findOnce(r, &r.graph.exits, entry{object, offset}, (*Resolver).findExits)
}

// functionMap is what was found of functions, by their load objects and where they start.
type functionMap[T any] []map[uint64]*T

// of returns what was found of the functions of a load object.
func (b *functionMap[T]) of(object program.ObjectNo) map[uint64]*T {
	for int(object) >= len(*b) {
		*b = append(*b, map[uint64]*T{})
	}
	return (*b)[object]
}

// findOnce returns what find finds of the function at a place, nil if there is none or
// it is not where its load object's file says. all has what was found before.
func findOnce[T any](r *Resolver, all *functionMap[T], at entry, find func(*Resolver, program.ObjectNo, symtab.Function) *T) *T {
	known := all.of(at.object)
	if x := known[at.offset]; x != nil { // most are asked for by their start
		return x
	}
	o := &r.loadObjects[at.object]
	if o.table == nil || o.placer != nil {
		return nil
	}
	f, ok := o.table.Function(at.offset)
	if !ok {
		return nil
	}
	x := known[f.Offset]
	if x == nil {
		x = find(r, at.object, f)
		known[f.Offset] = x
	}
	return x
}

// startOf returns where the function of a location starts, or a place in it: a
// procedure linkage table has several sections, and user mode shows bodies as part of
// the functions that they were made from.
func (r *Resolver) startOf(l *program.Location) entry {
	if f := &r.Program.Functions[l.Function]; l.Offset-f.Offset < f.Size {
		return entry{l.Object, f.Offset}
	}
	return entry{l.Object, l.Offset}
}

func (r *Resolver) findExits(object program.ObjectNo, f symtab.Function) *exits {
	code, arch, whole := r.wholeCode(object, f)
	x := &exits{object: object, known: whole}
	calls, jumps := r.graph.scratchCalls[:0], r.graph.scratchJumps[:0]
	for i := range disasm.Exits(arch, code, f.Address, f.Size) {
		at := f.Offset + i.Addr - f.Address
		end := at + uint64(i.Inst.Len)
		if i.Inst.Kind == insn.Call {
			switch {
			case i.Inst.HasSlot:
				calls = append(calls, directCall{at, end, i.Inst.Slot, true})
			case i.Inst.HasTarget:
				calls = append(calls, directCall{at, end, i.Inst.Target, false})
			default:
				x.computedCalls = true
			}
		} else if to := r.destination(object, i.Inst); to >= 0 {
			jumps = append(jumps, exit{at, end, to})
		} else {
			x.computedJumps = true
		}
	}
	x.unresolved, x.jumps = slices.Clone(calls), slices.Clone(jumps)
	r.graph.scratchCalls, r.graph.scratchJumps = calls, jumps
	return x
}

// callAt returns the call at a location, whose offset is anywhere in the
// instruction (S21); nil if there is no call, or its target is unknown.
func (r *Resolver) callAt(location program.LocationNo) *exit {
	l := r.Program.Location(location)
	if l.Reason != "" {
		return nil
	}
	at := r.startOf(l)
	x := r.exits(at.object, at.offset)
	if x == nil {
		return nil
	}
	calls := r.resolveCalls(x)
	n := sort.Search(len(calls), func(i int) bool { return calls[i].end > l.Offset })
	if n == len(calls) || calls[n].at > l.Offset {
		return nil
	}
	return &calls[n]
}

// CallEnters reports whether the call at a location goes to a function itself.
func (s *Scope) CallEnters(call program.LocationNo, function program.FunctionNo) bool {
	c := s.r.callAt(call)
	f := &s.r.Program.Functions[function]
	return c != nil && slices.Contains(s.entries(c.to), entry{f.Object, f.Offset})
}

// longestCall is the length of the longest call instruction, on x86.
const longestCall = 8

// NoCallEnds reports whether the machine code shows that no call ends with the byte at a
// location: nothing returns to the next one.
func (r *Resolver) NoCallEnds(location program.LocationNo) bool {
	l := r.Program.Location(location)
	if l.Object < 0 || l.Reason != "" || l.Offset < longestCall || r.loadObjects[l.Object].placer != nil {
		return false
	}
	code, arch := r.Bytes(l.Object, l.Offset+1-longestCall, longestCall)
	if arch == 0 || len(code) < longestCall {
		return false
	}
	for n := len(code); n > 0; n -= arch.Step() {
		if inst, err := disasm.Decode(arch, code[len(code)-n:], 0); err == nil && inst.Kind == insn.Call && inst.Len == n {
			return false
		}
	}
	return true
}
