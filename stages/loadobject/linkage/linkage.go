// Package linkage follows the stack pointer through the instructions of procedure linkage tables,
// to find the caller's frame. Some linkers write no call frame information for such tables, and no
// linker writes it for all their forms.
package linkage

import (
	"cmp"
	"slices"

	"stackmill/stages/loadobject/cfi"
	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/insn/disasm"
	"stackmill/stages/loadobject/isa"
)

// maxTable bounds the code of a table: half a million entries.
const maxTable = 16 << 20

// unknown is the depth of code to which no path leads.
const unknown = -1

// Depths returns the stack depths in a procedure linkage table, whose code lies at addr, by
// ascending address. Each entry starts with the depth after a call. So does the code after a jump
// through a slot: until the slot is bound, it contains the address of that code. Other code has the
// depth of the jump or call that leads to it.
func Depths(arch isa.Arch, code []byte, addr uint64) []cfi.Depth {
	t := table{arch: arch, code: code[:min(len(code), maxTable)], addr: addr}
	for i := range disasm.Walk(arch, t.code, addr) {
		t.items = append(t.items, i)
		t.depths = append(t.depths, unknown)
	}
	for i := range t.items {
		if _, ok := disasm.StubSlot(arch, t.codeAt(i), t.items[i].Addr); ok && t.startsBlock(i) {
			t.follow(i, entryDepth(arch))
		}
	}
	// Later entries first: the first entry, which calls the dynamic linker, gets its depth from their
	// jumps to it.
	for i := len(t.items) - 1; i >= 0; i-- {
		if t.depths[i] == unknown && t.startsBlock(i) {
			t.follow(i, entryDepth(arch))
		}
	}
	var list []cfi.Depth
	for i, d := range t.depths {
		if n := len(list); n == 0 || list[n-1].Bytes != d {
			list = append(list, cfi.Depth{Address: t.items[i].Addr, Bytes: d})
		}
	}
	return list
}

// entryDepth is the depth after a call: the size of the return address on the stack.
func entryDepth(arch isa.Arch) int32 {
	switch arch {
	case isa.AMD64:
		return 8
	case isa.X86:
		return 4
	}
	return 0
}

// table is the code of a procedure linkage table. depths has the stack depth before each
// instruction.
type table struct {
	arch   isa.Arch
	code   []byte
	addr   uint64
	items  []disasm.Item
	depths []int32
}

// codeAt returns the code from an instruction on.
func (t *table) codeAt(i int) []byte { return t.code[t.items[i].Addr-t.addr:] }

// startsBlock reports whether control reaches an instruction only by jump, by call or from padding.
func (t *table) startsBlock(i int) bool {
	if i == 0 {
		return true
	}
	before := &t.items[i-1]
	k := before.Inst.Kind
	return before.Err != nil || k == insn.Jump || k == insn.Return || k == insn.Trap || k == insn.Nop
}

// follow sets the depth before an instruction, and from it the depths before all instructions that
// control reaches from there.
func (t *table) follow(i int, depth int32) {
	type block struct {
		item  int
		depth int32
	}
	for next := []block{{i, depth}}; len(next) > 0; {
		p := next[len(next)-1]
		next = next[:len(next)-1]
		for i, depth := p.item, p.depth; i < len(t.items) && t.depths[i] == unknown && t.items[i].Err == nil; i++ {
			t.depths[i] = depth
			item := &t.items[i]
			if target, ok := t.find(item.Inst.Target); ok && item.Inst.HasTarget {
				to := depth
				if item.Inst.Kind == insn.Call {
					to += entryDepth(t.arch)
				}
				next = append(next, block{target, to})
			}
			if k := item.Inst.Kind; k == insn.Jump || k == insn.Return || k == insn.Trap {
				break
			}
			change, ok := t.stackChange(i)
			if !ok {
				break
			}
			depth -= change
		}
	}
}

// stackChange returns how many bytes an instruction adds to the stack pointer, false if that
// is unknown. For a call it is 0, since the callee removes the return address.
func (t *table) stackChange(i int) (bytes int32, ok bool) {
	e, err := disasm.Effects(t.arch, t.codeAt(i), t.items[i].Addr)
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
	return slices.BinarySearchFunc(t.items, addr, func(i disasm.Item, addr uint64) int { return cmp.Compare(i.Addr, addr) })
}
