package symbolize

import (
	"sort"

	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/insn/disasm"
	"stackmill/stages/loadobject/isa"
)

// decodeAround decodes the instructions of code within this many bytes of each PC, plus one
// instruction's length, and appends them to items. address is the code's, shift the
// distance from offsets to addresses.
func decodeAround(items []disasm.Item, arch isa.Arch, code []byte, address, shift uint64, pcs []uint64, within int) []disasm.Item {
	far := int64(within) + longestInst
	for at := uint64(0); at < uint64(len(code)); {
		if within != All {
			distance := func() int64 { return int64(pcs[0] - (address + at - shift)) } // of the next PC
			for len(pcs) > 0 && distance() < -far {
				pcs = pcs[1:]
			}
			if len(pcs) == 0 {
				return items
			}
			if before := distance() - far; before > 0 {
				at += disasm.Pass(arch, code[at:], uint64(before))
				continue
			}
		}
		items = append(items, disasm.At(arch, code[at:], address+at))
		at += uint64(items[len(items)-1].Inst.Len)
	}
	return items
}

// selectInstructions reports, for each instruction, whether it is within this many bytes of the
// instruction of a PC, and how many PCs are in the code. It adds the starts of the PCs'
// instructions to out. shift is the distance from offsets to addresses.
func selectInstructions(out *Disassembly, items []disasm.Item, shift uint64, pcs []uint64, within int) (selected []bool, found int) {
	selected = make([]bool, len(items))
	at := func(n int) (start, end uint64, call bool) {
		i := &items[n]
		return i.Addr, i.Addr + uint64(i.Inst.Len), i.Inst.Kind == insn.Call
	}
	for _, pc := range pcs {
		n := instructionAt(pc+shift, len(items), at)
		if n < 0 {
			continue // not in the code
		}
		if start := items[n].Addr - shift; start != pc {
			addStart(&out.Starts, pc, start)
		}
		selected[n], found = true, found+1
		for i := n; i > 0 && items[n].Addr-items[i-1].Addr <= uint64(max(within, 0)); i-- {
			selected[i-1] = true
		}
		for i := n; i+1 < len(items) && items[i+1].Addr-items[n].Addr <= uint64(max(within, 0)); i++ {
			selected[i+1] = true
		}
	}
	for n := range selected {
		selected[n] = selected[n] || within == All
	}
	return selected, found
}

// instructionAt returns the index, of n instructions, of the one that contains a PC, or of the
// call after it; -1 for none. Collectors guess where the call before a return address starts. at
// returns the bounds of an instruction, and whether it is a call.
func instructionAt(pc uint64, n int, at func(int) (start, end uint64, call bool)) int {
	i := sort.Search(n, func(i int) bool { start, _, _ := at(i); return start > pc }) - 1
	if i < 0 {
		return -1
	}
	start, end, call := at(i)
	if end <= pc {
		return -1
	}
	if start < pc && !call && i+1 < n {
		if _, _, next := at(i + 1); next {
			i++
		}
	}
	return i
}

// addStart adds the start of a PC's instruction to a map that may be nil.
func addStart(starts *map[uint64]uint64, pc, start uint64) {
	if *starts == nil {
		*starts = map[uint64]uint64{}
	}
	(*starts)[pc] = start
}
