// Package linkage follows the stack pointer through procedure linkage tables. Some
// linkers write no call frame information for their tables, and none does for all of
// its forms, so that only the instructions say where the caller's frame is.
package linkage

import (
	"sort"

	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/insn/disasm"
	"stackmill/stages/loadobject/isa"
)

// Depth says how many bytes above the stack pointer the caller's frame begins (its
// canonical frame address), from an address on.
type Depth struct {
	Address uint64
	Bytes   int32 // negative: unknown
}

// maxTable bounds the code of a table that is looked at: half a million entries.
const maxTable = 16 << 20

// unknown is the depth of code that nothing known leads to.
const unknown = -1

// Depths returns the depths in a procedure linkage table, whose code lies at addr,
// by growing addresses. Entries are entered by calls. So is the code after a jump
// through a slot, to which the slot leads until it is bound. Code to which other code
// of the table jumps or calls has the depth that it has there.
func Depths(arch isa.Arch, code []byte, addr uint64) []Depth {
	t := table{arch: arch, code: code[:min(len(code), maxTable)], addr: addr}
	for i := range disasm.Walk(arch, t.code, addr) {
		t.items = append(t.items, i)
		t.depths = append(t.depths, unknown)
	}
	for i := range t.items {
		if _, ok := disasm.StubSlot(arch, t.from(i), t.items[i].Addr); ok && t.begins(i) {
			t.follow(i, entered(arch))
		}
	}
	// The entries behind a head lead to it: later ones first.
	for i := len(t.items) - 1; i >= 0; i-- {
		if t.depths[i] == unknown && t.begins(i) {
			t.follow(i, entered(arch))
		}
	}
	var list []Depth
	for i, d := range t.depths {
		if n := len(list); n == 0 || list[n-1].Bytes != d {
			list = append(list, Depth{t.items[i].Addr, d})
		}
	}
	return list
}

// entered is the depth at which a call enters a function.
func entered(arch isa.Arch) int32 {
	switch arch {
	case isa.AMD64:
		return 8
	case isa.X86:
		return 4
	}
	return 0
}

// table is a table's code with its instructions and the depth before each.
type table struct {
	arch   isa.Arch
	code   []byte
	addr   uint64
	items  []disasm.Item
	depths []int32
}

// from returns the code from an instruction on.
func (t *table) from(i int) []byte { return t.code[t.items[i].Addr-t.addr:] }

// begins reports whether no other instruction goes on to this one.
func (t *table) begins(i int) bool {
	if i == 0 {
		return true
	}
	before := &t.items[i-1]
	k := before.Inst.Kind
	return before.Err != nil || k == insn.Jump || k == insn.Return || k == insn.Trap || k == insn.Nop
}

// follow gives depths to an instruction and to those to which control goes on from it.
func (t *table) follow(i int, depth int32) {
	type place struct {
		item  int
		depth int32
	}
	for next := []place{{i, depth}}; len(next) > 0; {
		p := next[len(next)-1]
		next = next[:len(next)-1]
		for i, depth := p.item, p.depth; i < len(t.items) && t.depths[i] == unknown && t.items[i].Err == nil; i++ {
			t.depths[i] = depth
			item := &t.items[i]
			if target, ok := t.find(item.Inst.Target); ok && item.Inst.HasTarget {
				to := depth
				if item.Inst.Kind == insn.Call {
					to += entered(t.arch) // the return address that it pushes
				}
				next = append(next, place{target, to})
			}
			if k := item.Inst.Kind; k == insn.Jump || k == insn.Return || k == insn.Trap {
				break
			}
			moved, ok := t.moved(i)
			if !ok {
				break
			}
			depth -= moved
		}
	}
}

// moved returns how many bytes an instruction adds to the stack pointer, false if that
// is unknown. A call takes off again what it pushed.
func (t *table) moved(i int) (bytes int32, ok bool) {
	e, err := disasm.Effects(t.arch, t.from(i), t.items[i].Addr)
	sp := insn.Register(t.arch.SP())
	switch {
	case err != nil:
		return 0, false
	case e.Base == sp:
		return int32(e.Update), true
	}
	return 0, e.Written>>sp&1 == 0
}

// find returns the instruction at an address.
func (t *table) find(addr uint64) (int, bool) {
	i := sort.Search(len(t.items), func(i int) bool { return t.items[i].Addr >= addr })
	return i, i < len(t.items) && t.items[i].Addr == addr
}
