package symbolize

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sort"

	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/insn/disasm"
	"stackmill/stages/loadobject/isa"
	"stackmill/stages/loadobject/symtab"
)

// exit is an instruction by which control leaves a function, from at to end in
// the file.
type exit struct {
	at, end uint64
	to      destinationNo
}

// exits are the ways in which control leaves a function, from its machine code.
type exits struct {
	until         uint64    // the function's end
	static        bool      // it is code that no symbol covers: it may be several functions
	calls         []exit    // in the order of offsets
	jumps         []exit    // to other functions
	computedCalls bool      // it calls addresses that it computes
	computedJumps bool      // it jumps to such addresses
	frame         uint64    // the offset after the first instruction that sets the frame pointer, 0 if none does
	early         []stretch // straight-line code after that instruction that is jumped to from before it
	known         bool      // all of the code was looked at
}

// stretch is a piece of code, by offsets in the file.
type stretch struct{ from, until uint64 }

// maxExitCode bounds the machine code of a function that is looked at: the
// largest that compilers make of sources, interpreters' main loops, have 100 KiB.
const maxExitCode = 512 << 10

// exits returns the ways out of the function at an offset of a load object's
// file, nil if there is none. They are found once.
func (r *Resolver) exits(object ObjectNo, offset uint64) *exits {
	o := &r.Program.Objects[object]
	if o.table == nil || o.place != nil {
		return nil
	}
	if x := r.graph.exits[entry{object, offset}]; x != nil { // most are asked for by their start
		return x
	}
	f, ok := o.table.Function(offset)
	if !ok {
		return nil
	}
	k := entry{object, f.Offset}
	x := r.graph.exits[k]
	if x == nil {
		x = r.findExits(object, f)
		r.graph.exits[k] = x
	}
	return x
}

// exitsAt returns the ways out of a location's function, nil if they are unknown.
func (r *Resolver) exitsAt(l *Location) *exits {
	if l.Reason != "" {
		return nil
	}
	// Its function is the table's unless it stands for several, or for one of which a
	// body was made.
	if f := &r.Program.Functions[l.Function]; f.Object == l.Object && l.Offset-f.Offset < f.Size {
		return r.exits(l.Object, f.Offset)
	}
	return r.exits(l.Object, l.Offset)
}

// exitSearch looks for the exits of one function.
type exitSearch struct {
	r        *Resolver
	function symtab.Function
	found    *exits
	targets  []uint64 // of jumps from before the frame pointer is set, as distances from the start
	straight bool     // since one of them
}

func (r *Resolver) findExits(object ObjectNo, f symtab.Function) *exits {
	code, arch := r.Bytes(object, f.Offset, min(f.Size, maxExitCode))
	x := &exits{until: f.Offset + f.Size, static: f.Kind == symtab.Static, known: arch != 0 && uint64(len(code)) == f.Size}
	s := exitSearch{r: r, function: f, found: x}
	calls, jumps := r.graph.calls[:0], r.graph.jumps[:0]
	for i := range disasm.Walk(arch, code, f.Address) {
		at := i.Addr - f.Address
		end := at + uint64(i.Inst.Len)
		if x.frame == 0 || s.straight || len(s.targets) > 0 {
			s.frame(&i, at, end, setsFramePointer(arch, code[at:end]))
		}
		jump := i.Inst.Kind == insn.Jump || i.Inst.Kind == insn.CondJump
		if i.Err != nil || i.Inst.Kind != insn.Call && (!jump || i.Inst.HasTarget && i.Inst.Target-f.Address < f.Size) {
			continue
		}
		e := exit{f.Offset + at, f.Offset + end, r.destination(object, i.Inst)}
		switch {
		case !jump && e.to >= 0:
			calls = append(calls, e)
		case !jump:
			x.computedCalls = true
		case e.to >= 0:
			jumps = append(jumps, e)
		default:
			x.computedJumps = true
		}
	}
	x.calls, x.jumps = slices.Clone(calls), slices.Clone(jumps)
	r.graph.calls, r.graph.jumps = calls, jumps
	return x
}

// frame looks whether an instruction sets the frame pointer or, once one did, is
// reached without.
func (s *exitSearch) frame(i *disasm.Item, at, end uint64, sets bool) {
	f, x := &s.function, s.found
	if x.frame == 0 {
		if target := i.Inst.Target - f.Address; i.Inst.Kind == insn.CondJump && i.Inst.HasTarget && target < f.Size {
			s.targets = append(s.targets, target)
		}
		if sets {
			x.frame = f.Offset + end
			slices.Sort(s.targets)
		}
		return
	}
	for len(s.targets) > 0 && s.targets[0] < at {
		s.targets = s.targets[1:]
	}
	if len(s.targets) > 0 && s.targets[0] == at && !s.straight {
		x.early, s.straight = append(x.early, stretch{f.Offset + at, f.Offset + end}), true
	}
	if s.straight {
		x.early[len(x.early)-1].until = f.Offset + end
		s.straight = i.Err == nil && i.Inst.Kind != insn.Jump && i.Inst.Kind != insn.Return && i.Inst.Kind != insn.Trap
	}
}

// setsFramePointer reports whether an instruction makes the frame pointer point
// to the frame: on x86 `mov %rsp,%rbp` or `lea n(%rsp),%rbp`, on A64 `mov x29,
// sp` or `add x29, sp, #n`.
func setsFramePointer(arch isa.Arch, code []byte) bool {
	if arch == isa.ARM64 {
		return len(code) == 4 && binary.LittleEndian.Uint32(code)&0xffc003ff == 0x910003fd
	}
	if arch == isa.AMD64 {
		if len(code) == 0 || code[0] != 0x48 {
			return false
		}
		code = code[1:]
	}
	for _, form := range [...]string{"\x89\xe5", "\x8b\xec", "\x8d\x6c\x24", "\x8d\xac\x24"} {
		if bytes.HasPrefix(code, []byte(form)) {
			return true
		}
	}
	return false
}

// callAt returns the call at a location, whose offset is anywhere in the
// instruction (S21); nil if there is no call, or its target is unknown.
func (r *Resolver) callAt(location LocationNo) *exit {
	l := &r.Program.Locations[location]
	x := r.exitsAt(l)
	if x == nil {
		return nil
	}
	n := sort.Search(len(x.calls), func(i int) bool { return x.calls[i].end > l.Offset })
	if n == len(x.calls) || x.calls[n].at > l.Offset {
		return nil
	}
	return &x.calls[n]
}

// CallEnters reports whether the call at a location goes to a function itself.
func (r *Resolver) CallEnters(call LocationNo, function FunctionNo) bool {
	c := r.callAt(call)
	f := &r.Program.Functions[function]
	return c != nil && slices.Contains(r.entries(c.to), entry{f.Object, f.Offset})
}
