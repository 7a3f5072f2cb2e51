package symbolize

import (
	"encoding/binary"
	"slices"

	"stackmill/internal/memo"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/insn/disasm"
	"stackmill/stages/loadobject/isa"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
)

// createThread is the function that starts a thread; one of its arguments is the function in which the
// thread begins.
const createThread = "pthread_create"

// startArgument is the register of this argument, which is the third one.
var startArgument = map[isa.Arch]insn.Register{isa.AMD64: 1, isa.ARM64: 2}

// Bounds of the search for functions in which threads begin.
const (
	maxCreations  = 64       // calls of createThread in a load object
	maxBefore     = 4 << 10  // bytes of code before a call in which its arguments are set
	maxStartCode  = 64 << 10 // bytes of a function in which threads begin
	maxSearched   = 256 << 20
	searchedBytes = 1 << 20 // bytes that are searched at a time
)

// BeginsThread reports whether machine code proves that threads begin in the function of a location,
// so that its caller is the C library: the code of its load object passes the function's address to
// pthread_create, and does not call the function itself (S18).
func (r *Resolver) BeginsThread(location program.LocationNo) bool {
	l := r.Program.Location(location)
	if l.Object < 0 || l.Reason != "" {
		return false
	}
	starts := memo.Get(r.graph.threadStarts, l.Object, func() []codeRange { return r.findThreadStarts(l.Object) })
	return slices.ContainsFunc(starts, func(s codeRange) bool { return s.from <= l.Offset && l.Offset < s.until })
}

// findThreadStarts returns the code of the functions that a load object passes to pthread_create.
func (r *Resolver) findThreadStarts(object program.ObjectNo) (starts []codeRange) {
	o := &r.loadObjects[object]
	if o.table == nil || o.placer != nil {
		return nil
	}
	argument, ok := startArgument[o.table.Arch]
	if !ok {
		return nil
	}
	creates := r.entries(object, createThread)
	if len(creates.addresses)+len(creates.slots) == 0 {
		return nil
	}
	var functions []uint64 // addresses
	for _, call := range r.callsTo(object, creates) {
		if f, ok := r.argumentOf(object, call, argument); ok && !slices.Contains(functions, f) {
			functions = append(functions, f)
		}
	}
	for _, f := range functions {
		offset, ok := r.addresses(object).Offset(f)
		if !ok || r.isCalled(object, f, offset) {
			continue
		}
		region, _ := o.table.Region(offset)
		code, arch := r.Bytes(object, offset, min(maxStartCode, region.Offset+region.Size-offset))
		if size := symtab.Extent(arch, code, f); size > 0 {
			starts = append(starts, codeRange{offset, offset + size})
		}
	}
	return starts
}

// callees holds the addresses of functions, and of slots that contain addresses of functions.
type callees struct{ addresses, slots []uint64 }

// isCalled reports whether a load object's code calls a function of its own, or jumps to it, by its
// address or through the procedure linkage table.
func (r *Resolver) isCalled(object program.ObjectNo, address, offset uint64) bool {
	to := callees{addresses: []uint64{address}}
	if f, ok := r.loadObjects[object].table.Function(offset); ok && f.Linkage != "" {
		entries := r.entries(object, f.Linkage)
		to.addresses, to.slots = append(to.addresses, entries.addresses...), entries.slots
	}
	return len(r.callsTo(object, to)) > 0
}

// entries returns the addresses at which calls enter the functions with a symbol.
func (r *Resolver) entries(object program.ObjectNo, symbol string) (to callees) {
	t := r.loadObjects[object].table
	for _, n := range t.Functions.BySymbol(symbol) {
		to.addresses = append(to.addresses, t.Functions.At(n).Address)
	}
	for _, s := range t.Slots {
		if s.Symbol == symbol {
			to.slots = append(to.slots, s.Address)
		}
	}
	if len(to.slots) == 0 {
		return to
	}
	const step = 8 // the smallest entry of a procedure linkage table, in bytes
	for _, region := range t.Regions {
		if !r.isLinkage(object, region) {
			continue
		}
		code, arch := r.Bytes(object, region.Offset, region.Size)
		for at := uint64(0); at < uint64(len(code)); at += step {
			if slot, ok := disasm.StubSlot(arch, code[at:], region.Address+at); ok && slices.Contains(to.slots, slot) {
				to.addresses = append(to.addresses, region.Address+at)
			}
		}
	}
	return to
}

// isLinkage reports whether a region is a procedure linkage table.
func (r *Resolver) isLinkage(object program.ObjectNo, region symtab.Region) bool {
	f, ok := r.loadObjects[object].table.Function(region.Offset)
	return ok && f.Kind == funcinfo.PLT
}

// callsTo returns the offsets of at most maxCreations direct calls of functions in a load object's
// file. A jump to a function counts, because it is the call of a caller that ends with it. Some of
// the calls may be bytes that only look like one.
func (r *Resolver) callsTo(object program.ObjectNo, to callees) (calls []uint64) {
	searched := uint64(0)
	for _, region := range r.loadObjects[object].table.Regions {
		if r.isLinkage(object, region) {
			continue
		}
		for from := uint64(0); from < region.Size && searched < maxSearched; from += searchedBytes {
			code, arch := r.Bytes(object, region.Offset+from, min(searchedBytes+longestCall, region.Size-from))
			searched += uint64(len(code))
			for at := range callsIn(arch, code, region.Address+from, to) {
				if at < searchedBytes {
					calls = append(calls, region.Offset+from+at)
				}
				if len(calls) == maxCreations {
					return calls
				}
			}
		}
	}
	return calls
}

// callsIn iterates over the places in code, which is at address addr, that have the bytes of a direct
// call of one of the functions.
func callsIn(arch isa.Arch, code []byte, addr uint64, to callees) func(yield func(at uint64) bool) {
	return func(yield func(at uint64) bool) {
		for i := 0; i+longestCall <= len(code); i += arch.Step() {
			found := false
			pc := addr + uint64(i)
			switch word := binary.LittleEndian.Uint32(code[i:]); {
			case arch == isa.ARM64:
				if word>>26&0b011111 == 0b000101 { // bl, b
					found = slices.Contains(to.addresses, pc+uint64(int64(int32(word<<6)>>4)))
				}
			case code[i] == 0xe8, code[i] == 0xe9: // call relative, jump relative
				found = slices.Contains(to.addresses, pc+5+uint64(int64(int32(binary.LittleEndian.Uint32(code[i+1:])))))
			case code[i] == 0xff && (code[i+1] == 0x15 || code[i+1] == 0x25): // call, jump through a slot
				found = slices.Contains(to.slots, pc+6+uint64(int64(int32(binary.LittleEndian.Uint32(code[i+2:])))))
			}
			if found && !yield(uint64(i)) {
				return
			}
		}
	}
}

// argumentOf returns the address that a call, at an offset of a load object's file, passes in a
// register. It returns false if the straight-line code before the call does not determine the address.
func (r *Resolver) argumentOf(object program.ObjectNo, call uint64, argument insn.Register) (address uint64, ok bool) {
	t := r.loadObjects[object].table
	f, ok := t.Function(call)
	region, inRegion := t.Region(call)
	if !ok || !inRegion {
		return 0, false
	}
	start := max(f.Offset, region.Offset, call-min(call, maxBefore))
	code, arch := r.Bytes(object, start, call-start)
	if uint64(len(code)) < call-start {
		return 0, false
	}
	var known constants
	at := 0
	for at < len(code) {
		e, err := disasm.Effects(arch, code[at:], region.Address+(start-region.Offset)+uint64(at))
		if err != nil {
			known = constants{}
			at += arch.Step()
			continue
		}
		known.apply(&e, arch)
		at += e.Len
	}
	c := known[argument]
	return c.value, c.known && at == len(code)
}

// constants are the values of general registers, as far as they are known.
type constants [32]struct {
	known bool
	value uint64
}

// apply updates the values with the effect of an instruction.
func (c *constants) apply(e *insn.Effect, arch isa.Arch) {
	switch e.Kind {
	case insn.Jump, insn.Return, insn.Trap: // it is not known from where the next instruction is reached
		*c = constants{}
		return
	case insn.Call:
		for n := range c {
			c[n].known = c[n].known && keptByCalls[arch]>>n&1 != 0
		}
		return
	}
	result := c[0]
	result.known = false
	if e.Width == 4 && e.Op == insn.SetConst { // an address in the lowest 4 GiB
		result.known, result.value = true, uint64(uint32(e.Value))
	}
	if e.Width == 8 && e.Dest >= 0 {
		switch from := e.Source; {
		case e.Op == insn.SetConst:
			result.known, result.value = true, uint64(e.Value)
		case e.Op == insn.Move && from >= 0:
			result = c[from]
		case e.Op == insn.AddConst && from >= 0:
			result = c[from]
			result.value += uint64(e.Value)
		}
	}
	for n := range c {
		if e.Written>>n&1 != 0 {
			c[n].known = false
		}
	}
	if e.Dest >= 0 && int(e.Dest) < len(c) {
		c[e.Dest] = result
	}
}

// keptByCalls has bit 1<<r for each register r that called functions preserve.
var keptByCalls = map[isa.Arch]uint32{
	isa.AMD64: 1<<3 | 1<<6 | 1<<12 | 1<<13 | 1<<14 | 1<<15, // rbx, rbp, r12 to r15
	isa.ARM64: 0x3ff << 19,                                 // x19 to x28
}
