package symbolize

import (
	"cmp"
	"slices"
	"sort"

	"stackmill/internal/memo"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/insn/disasm"
	"stackmill/stages/loadobject/isa"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
)

// Instruction is a row of instructions.
type Instruction struct {
	Offset     uint64 // as Location.Offset
	Size       int
	Text       string
	HasTarget  bool   // Target is known
	Target     uint64 // where a direct call or jump goes, as Offset
	TargetName string // the function to which a call or jump goes, with the distance from its start
	File       string
	Line       int32
}

// Disassembly lists the instructions of a function, or of its parts near PCs, sorted by offset.
// Bytes that cannot be decoded are listed, too.
type Disassembly struct {
	Instructions []Instruction // none if the result is from the cache
	Count        int           // number of instructions
	Content      int64         // hash of the instructions
	// Starts maps PCs inside an instruction to its start. There are such PCs because collectors
	// guess where the call before a return address starts.
	Starts map[uint64]uint64
}

// Disassembler disassembles functions. After Resolver.Finish, several disassemblers of one resolver
// may be used concurrently.
type Disassembler struct {
	r        *Resolver
	code     machineCode
	cache    *DisassemblyCache
	printers map[isa.Arch]*disasm.Printer
	stubs    map[entry]string // names of entries of procedure linkage tables
	readable func(linkage string) string
	// These belong to the current function.
	items []disasm.Item
	calls []bool // by instruction: it is a call
	found int    // number of PCs in the code
}

// NewDisassembler returns a disassembler of the resolver's functions. Disassemblers may share a
// cache.
func NewDisassembler(r *Resolver, outlines *DisassemblyCache) *Disassembler {
	return &Disassembler{
		r: r, code: machineCode{r, fileContents{rec: r.rec, blocks: r.blocks, readOnly: true}}, cache: outlines, printers: map[isa.Arch]*disasm.Printer{}, stubs: map[entry]string{},
		readable: symtab.NewNames().Readable,
	}
}

// Close closes the load objects' files.
func (d *Disassembler) Close() { d.code.closeFiles() }

// All is the distance around PCs with which whole functions are disassembled.
const All = -1

// Function disassembles a function near pcs, which are sorted offsets: the code at most `within`
// bytes away, or All of it. The result is empty if the machine code is unavailable. If only a part
// is available, PCs outside of it are listed as Unavailable. The instructions use the memory of
// list if it suffices.
func (d *Disassembler) Function(list []Instruction, function program.FunctionNo, pcs []uint64, within int) Disassembly {
	out := Disassembly{Instructions: list[:0]}
	d.calls, d.found = d.calls[:0], 0
	d.appendAvailable(&out, function, pcs, within)
	whole := len(out.Instructions)
	if whole > 0 && d.found < len(pcs) {
		d.appendMissing(&out, function, pcs)
	}
	out.Count, out.Content = len(out.Instructions), contentOf(out.Instructions)
	d.store(&out, function, pcs, within, whole == out.Count)
	return out
}

// Unavailable is the text listed for a PC in a part of the code that the file lacks.
const Unavailable = "(not in the file)"

// appendMissing lists the PCs that are in no known instruction, with size 0.
func (d *Disassembler) appendMissing(out *Disassembly, function program.FunctionNo, pcs []uint64) {
	known := out.Instructions // in the order of offsets
	for _, pc := range pcs {
		at := pc
		if start, ok := out.Starts[pc]; ok {
			at = start
		}
		if _, ok := slices.BinarySearchFunc(known, at, func(i Instruction, at uint64) int { return cmp.Compare(i.Offset, at) }); !ok {
			i := Instruction{Offset: pc, Text: Unavailable}
			i.File, i.Line = d.lines(function, pc)(pc)
			out.Instructions = append(out.Instructions, i)
		}
	}
	if len(out.Instructions) == len(known) {
		return
	}
	slices.SortFunc(out.Instructions, func(a, b Instruction) int { return cmp.Compare(a.Offset, b.Offset) })
}

// appendAvailable disassembles the available part of a function near pcs (see Function).
func (d *Disassembler) appendAvailable(out *Disassembly, function program.FunctionNo, pcs []uint64, within int) {
	f := &d.r.Program.Functions[function]
	switch {
	case f.Kind == funcinfo.PLT:
		d.appendPLT(out, function, pcs, within)
		return
	case f.Kind != funcinfo.Static || within == All:
		code, arch := d.code.Code(function)
		d.appendCode(out, function, f.Offset, code, arch, pcs, within)
		return
	}
	// In a static region, it is unknown where instructions start, except at PCs (S6).
	for len(pcs) > 0 {
		n := 1 // number of PCs whose windows overlap
		for n < len(pcs) && pcs[n]-pcs[n-1] <= 2*uint64(within)+longestInst {
			n++
		}
		start := f.Offset + max(pcs[0]-f.Offset, uint64(within)) - uint64(within)
		end := min(pcs[n-1]+uint64(within)+longestInst, f.Offset+f.Size)
		code, arch := d.code.codeAt(function, start, end-start)
		skip := min(arrival(arch, code, pcs[0]-start), uint64(len(code)))
		d.appendCode(out, function, start+skip, code[skip:], arch, pcs[:n], within)
		pcs = pcs[n:]
	}
}

// appendPLT disassembles the sections of a procedure linkage table that contain PCs. All sections
// together are one function (symtab.Table.PLT).
func (d *Disassembler) appendPLT(out *Disassembly, function program.FunctionNo, pcs []uint64, within int) {
	t := d.r.loadObjects[d.r.Program.Functions[function].Object].table
	for len(pcs) > 0 {
		n := 1
		if s, ok := t.Function(pcs[0]); ok {
			n = sort.Search(len(pcs), func(i int) bool { return pcs[i] >= s.Offset+s.Size })
			code, arch := d.code.codeAt(function, s.Offset, s.Size)
			d.appendCode(out, function, s.Offset, code, arch, pcs[:n], within)
		}
		pcs = pcs[n:]
	}
}

// arrival returns how many bytes of code to skip so that decoding arrives at an instruction that
// starts at distance.
func arrival(arch isa.Arch, code []byte, distance uint64) uint64 {
next:
	for skip := range min(uint64(len(code)), distance, longestInst) {
		for item := range disasm.Walk(arch, code[skip:], skip) {
			if item.Err != nil || item.Addr > distance {
				continue next
			}
			if item.Addr == distance {
				return skip
			}
		}
	}
	return distance
}

// appendCode disassembles code, which begins with an instruction, at an offset of the file.
func (d *Disassembler) appendCode(out *Disassembly, function program.FunctionNo, offset uint64, code []byte, arch isa.Arch, pcs []uint64, within int) {
	f := &d.r.Program.Functions[function]
	address := f.Address + (offset - f.Offset)
	items := decodeAround(d.items[:0], arch, code, address, address-offset, pcs, within)
	d.items = items
	if len(items) == 0 || arch == 0 {
		return
	}
	printer := memo.Get(d.printers, arch, func() *disasm.Printer { return disasm.NewPrinter(arch) })
	selected, found := selectInstructions(out, items, address-offset, pcs, within)
	d.found += found
	lines := d.lines(function, offset)
	for n := range items {
		if !selected[n] {
			continue
		}
		item := &items[n]
		at := item.Addr - address
		out.Instructions = append(out.Instructions, Instruction{Offset: offset + at, Size: item.Inst.Len, Text: printer.Text(item, code[at:])})
		i := &out.Instructions[len(out.Instructions)-1]
		i.File, i.Line = lines(i.Offset)
		d.setTarget(i, f, &item.Inst)
		d.calls = append(d.calls, item.Inst.Kind == insn.Call)
	}
}

// lines returns a function that returns the source line at an offset. Call it with ascending
// offsets only, from `offset` on.
func (d *Disassembler) lines(function program.FunctionNo, offset uint64) func(uint64) (string, int32) {
	if c := d.r.generatedCode[function]; c != nil {
		return func(at uint64) (string, int32) {
			place := lineAt(c, at)
			return place.File, place.Line
		}
	}
	t := d.r.loadObjects[d.r.Program.Functions[function].Object].table
	n := t.Lines.Before(offset)
	return func(at uint64) (string, int32) {
		for n+1 < t.Lines.Len() && t.Lines.At(n+1).Offset <= at {
			n++
		}
		if n < 0 || t.Lines.At(n).File < 0 {
			return "", 0
		}
		row := t.Lines.At(n)
		return t.Files[row.File], row.Line
	}
}

// decodeAround decodes the instructions near each PC (at most `within` bytes plus an instruction's
// length away), and appends them to items. The code is at address; shift is address minus offset.
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

// selectInstructions reports, for each instruction, whether it is at most `within` bytes away from
// an instruction with a PC. found is the number of PCs that are in the code. It adds the starts of
// the PCs' instructions to out. shift is address minus offset.
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

// instructionAt returns which of n instructions contains a PC, -1 if none does. If the PC is inside
// an instruction that is followed by a call, it returns the call, since collectors guess where the
// call before a return address starts. at returns the bounds of an instruction, and whether it is a
// call.
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

// addStart adds the start of the instruction that contains a PC to *starts, and makes the map if
// necessary.
func addStart(starts *map[uint64]uint64, pc, start uint64) {
	if *starts == nil {
		*starts = map[uint64]uint64{}
	}
	(*starts)[pc] = start
}
