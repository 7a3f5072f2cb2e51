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

// entry is a function of a load object's table, by where it starts in the file.
type entry struct {
	object ObjectNo
	offset uint64
}

// destination is where a direct call or jump goes: a function of the same load
// object or, by a slot of the global offset table, one that the dynamic linker
// finds by its name.
type destination struct {
	entry             // the function, or the load object and the offset in its procedure linkage table
	slot  symtab.Slot // zero for a function of the same load object
	table bool        // it goes by way of the procedure linkage table
}

// destination follows a call or jump in a load object. It is false if the
// instruction does not say where it goes.
func (r *Resolver) destination(object ObjectNo, inst insn.Inst) (d destination, ok bool) {
	t := r.Program.Objects[object].table
	if t == nil {
		return d, false
	}
	if inst.HasSlot {
		d.object = object
		d.slot, ok = t.Slot(inst.Slot)
		return d, ok
	}
	target, ok := r.addresses(object).Offset(inst.Target)
	if !inst.HasTarget || !ok {
		return d, false
	}
	stub, arch := r.Bytes(object, target, maxStub)
	if at, isStub := disasm.StubSlot(arch, stub, inst.Target); isStub {
		d.entry, d.table = entry{object, target}, true
		d.slot, ok = t.Slot(at)
		return d, ok
	}
	f, ok := t.Function(target)
	d.entry = entry{object, f.Offset}
	return d, ok && f.Kind != symtab.PLT
}

// addresses returns a load object's regions by address.
func (r *Resolver) addresses(object ObjectNo) symtab.Addresses {
	o := &r.Program.Objects[object]
	if o.byAddress == nil {
		o.byAddress = o.table.Addresses()
	}
	return o.byAddress
}

// entries returns the functions that a destination may be: one, or all of its name
// in any load object; nil if there are none.
func (r *Resolver) entries(d destination) []entry {
	if d.slot.Symbol == "" {
		return []entry{d.entry}
	}
	r.forget()
	found, known := r.named[d.slot.Symbol]
	if !known {
		for n := range r.Program.Objects {
			if o := &r.Program.Objects[n]; o.table != nil {
				for _, i := range o.functionsNamed(d.slot.Symbol) {
					found = append(found, entry{ObjectNo(n), o.table.Functions[i].Offset})
				}
			}
		}
		r.named[d.slot.Symbol] = found
	}
	return found
}

// forget drops what was found by name while there were fewer load objects: another
// process has more.
func (r *Resolver) forget() {
	if r.namedOf != len(r.Program.Objects) {
		r.namedOf = len(r.Program.Objects)
		r.named, r.reaches = map[string][]entry{}, map[destination]reached{}
	}
}

// exit is an instruction by which control leaves a function, from at to end in
// the file.
type exit struct {
	at, end uint64
	to      destination
}

// exits are the ways in which control leaves a function, from its machine code.
type exits struct {
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
// file, and the function. They are found once.
func (r *Resolver) exits(object ObjectNo, offset uint64) (*exits, symtab.Function, bool) {
	o := &r.Program.Objects[object]
	if o.table == nil || o.place != nil {
		return nil, symtab.Function{}, false
	}
	f, ok := o.table.Function(offset)
	if !ok {
		return nil, f, false
	}
	k := entry{object, f.Offset}
	x := r.exitsOf[k]
	if x == nil {
		x = r.findExits(object, f)
		r.exitsOf[k] = x
	}
	return x, f, true
}

func (r *Resolver) findExits(object ObjectNo, f symtab.Function) *exits {
	x := &exits{}
	code, arch := r.Bytes(object, f.Offset, min(f.Size, maxExitCode))
	x.known = arch != 0 && uint64(len(code)) == f.Size
	targets := map[uint64]bool{} // of jumps from before the frame pointer is set
	straight := false            // since one of them
	for i := range disasm.Walk(arch, code, f.Address) {
		at := i.Addr - f.Address
		end := at + uint64(i.Inst.Len)
		if x.frame == 0 && i.Inst.Kind == insn.CondJump && i.Inst.HasTarget {
			targets[i.Inst.Target-f.Address] = true
		}
		if x.frame > 0 && targets[at] && !straight {
			x.early, straight = append(x.early, stretch{f.Offset + at, f.Offset + end}), true
		}
		if straight {
			x.early[len(x.early)-1].until = f.Offset + end
			straight = i.Err == nil && i.Inst.Kind != insn.Jump && i.Inst.Kind != insn.Return && i.Inst.Kind != insn.Trap
		}
		if x.frame == 0 && setsFramePointer(arch, code[at:end]) {
			x.frame = f.Offset + end
		}
		jump := i.Inst.Kind == insn.Jump || i.Inst.Kind == insn.CondJump
		if i.Err != nil || i.Inst.Kind != insn.Call && (!jump || i.Inst.HasTarget && i.Inst.Target-f.Address < f.Size) {
			continue
		}
		to, ok := r.destination(object, i.Inst)
		e := exit{f.Offset + at, f.Offset + end, to}
		switch {
		case !jump && ok:
			x.calls = append(x.calls, e)
		case !jump:
			x.computedCalls = true
		case ok:
			x.jumps = append(x.jumps, e)
		default:
			x.computedJumps = true
		}
	}
	return x
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
	if l.Reason != "" {
		return nil
	}
	x, _, ok := r.exits(l.Object, l.Offset)
	if !ok {
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
