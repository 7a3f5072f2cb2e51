package symbolize

import (
	"iter"
	"sort"

	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/insn/disasm"
)

// near appends those of the instructions of code that choose may want: all that lie
// within so many bytes of the instruction of a PC, or of the one after it.
func near(items []disasm.Item, code iter.Seq[disasm.Item], shift uint64, pcs []uint64, within int) []disasm.Item {
	far := int64(within) + longestInst
	for item := range code {
		for within != All && len(pcs) > 0 && int64(item.Addr-shift-pcs[0]) > far {
			pcs = pcs[1:]
		}
		switch {
		case within == All, len(pcs) > 0 && int64(item.Addr-shift-pcs[0]) >= -far:
			items = append(items, item)
		case len(pcs) == 0:
			return items
		}
	}
	return items
}

// choose says which instructions are wanted and finds those that PCs stand for.
// shift is the distance from offsets to addresses.
func choose(out *Disassembly, items []disasm.Item, shift uint64, pcs []uint64, within int) []bool {
	wanted := make([]bool, len(items))
	for _, pc := range pcs {
		n := sort.Search(len(items), func(i int) bool { return items[i].Addr > pc+shift }) - 1
		if n < 0 || items[n].Addr+uint64(items[n].Inst.Len) <= pc+shift {
			continue // not in the code
		}
		if items[n].Addr < pc+shift && items[n].Inst.Kind != insn.Call && n+1 < len(items) && items[n+1].Inst.Kind == insn.Call {
			n++
		}
		if meant := items[n].Addr - shift; meant != pc {
			if out.Meant == nil {
				out.Meant = map[uint64]uint64{}
			}
			out.Meant[pc] = meant
		}
		wanted[n] = true
		for i := n; i > 0 && items[n].Addr-items[i-1].Addr <= uint64(max(within, 0)); i-- {
			wanted[i-1] = true
		}
		for i := n; i+1 < len(items) && items[i+1].Addr-items[n].Addr <= uint64(max(within, 0)); i++ {
			wanted[i+1] = true
		}
	}
	for n := range wanted {
		wanted[n] = wanted[n] || within == All
	}
	return wanted
}
