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

// exit is a call, or a jump to another function: the instruction at offsets [at, end) in the file,
// and its destination.
type exit struct {
	at, end uint64
	to      destinationNo
}

// exits lists the calls of a function, and its jumps to other functions, as found in its machine
// code.
type exits struct {
	object        program.ObjectNo
	unresolved    []directCall // calls whose destinations were not looked up yet; resolveCalls moves them to the field calls
	calls         []exit       // sorted by offset
	jumps         []exit       // jumps to other functions
	computedCalls bool         // some calls go to computed addresses
	computedJumps bool         // some jumps go to computed addresses
	known         bool         // all of the code was examined
}

// directCall is a call with a known target: to is its address or, with slot, the address of the
// slot that holds it.
type directCall struct {
	at, end, to uint64
	slot        bool
}

// resolveCalls returns the calls of a function that have known destinations. It finds the
// destinations when first called, since most functions only need those of their jumps.
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

// maxExitCode bounds the machine code of a function that is examined. The largest functions in
// practice, the main loops of interpreters, have 100 KiB.
const maxExitCode = 512 << 10

// wholeCode returns the machine code of a function; whole says that all of it is known.
func (r *Resolver) wholeCode(object program.ObjectNo, f symtab.Function) (code []byte, arch isa.Arch, whole bool) {
	code, arch = r.Bytes(object, f.Offset, min(f.Size, maxExitCode))
	return code, arch, arch != 0 && uint64(len(code)) == f.Size
}

// exits returns the calls and jumps of the function at an offset of a load object's file, nil if no
// function is there.
func (r *Resolver) exits(object program.ObjectNo, offset uint64) *exits {
	return findOnce(r, &r.graph.exits, entry{object, offset}, (*Resolver).findExits)
}

// functionMap holds a property of functions, by load object and the function's offset.
type functionMap[T any] []map[uint64]*T

// of returns the part of the map that belongs to a load object.
func (b *functionMap[T]) of(object program.ObjectNo) map[uint64]*T {
	for int(object) >= len(*b) {
		*b = append(*b, map[uint64]*T{})
	}
	return (*b)[object]
}

// findOnce returns the property of the function at an offset. If all lacks it, it calls find and
// adds the result. It returns nil if no function is there, or if the symbol table does not use
// offsets in the file.
func findOnce[T any](r *Resolver, all *functionMap[T], at entry, find func(*Resolver, program.ObjectNo, symtab.Function) *T) *T {
	known := all.of(at.object)
	if x := known[at.offset]; x != nil { // most offsets are starts of functions
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

// startOf returns the start of the function that contains a location's code. If the location is
// outside of its function's bounds, it returns the location itself: a procedure linkage table has
// several sections, and user mode shows bodies as part of other functions.
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

// callAt returns the call instruction that contains a location (S21), nil if there is none with a
// known target.
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

// CallEnters reports whether the call at a location goes directly to a function, not by way of
// another one.
func (s *Scope) CallEnters(call program.LocationNo, function program.FunctionNo) bool {
	c := s.r.callAt(call)
	f := &s.r.Program.Functions[function]
	return c != nil && slices.Contains(s.entries(c.to), entry{f.Object, f.Offset})
}

// longestCall is the length in bytes of the longest call instruction, which is one of x86.
const longestCall = 8

// NoCallEnds reports whether machine code proves that no call instruction ends with the byte at a
// location, so that the next byte is not a return address.
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
