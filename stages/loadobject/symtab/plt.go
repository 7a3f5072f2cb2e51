package symtab

import (
	"bytes"
	debugelf "debug/elf"
	"slices"
	"strings"

	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/insn/disasm"
	"stackmill/stages/loadobject/isa"
)

func isPLT(section string) bool {
	return section == ".plt" || section == ".iplt" || strings.HasPrefix(section, ".plt.")
}

// pltGap bounds the distance in bytes between the starts of two consecutive entries of a table.
const pltGap = 32

// armLandingPad is the instruction `bti c` of A64. Entries that begin with it are longer.
const armLandingPad = "\x5f\x24\x03\xd5"

// LinkageTables returns the procedure linkage tables of an object.
func LinkageTables(f *elf.File) []Region {
	return slices.DeleteFunc(codeRegions(f, slots(f)), func(r Region) bool { return !isPLT(r.Name) })
}

// codeRegions returns the executable regions of an object, sorted and without overlaps. Procedure
// linkage tables are separate regions.
func codeRegions(f *elf.File, slots []Slot) []Region {
	list := regions(f)
	named := f.Type == debugelf.ET_REL || slices.ContainsFunc(list, func(r Region) bool { return isPLT(r.Name) })
	bare := !slices.ContainsFunc(f.Sections, isCode)
	if named || !bare && !slices.ContainsFunc(slots, func(s Slot) bool { return s.Lazy }) {
		return list
	}
	return splitPLTs(list, f, slots, f.Arch(), bare)
}

// splitPLTs makes procedure linkage tables without sections of their own separate regions. It
// recognizes them by their instructions: a table has consecutive entries, of which at least one is
// bound lazily. In an object without any sections (bare), it suffices that an entry calls a
// function that the object chooses at run time. A function that only jumps to another load object
// has the same instructions, but its slot is not bound lazily.
func splitPLTs(list []Region, f *elf.File, slots []Slot, arch isa.Arch, bare bool) []Region {
	t := Table{Slots: slots}
	var out []Region
	for _, s := range list {
		code := f.Slice(s.Offset, s.Size)
		rest := s
		for _, r := range findPLTs(code, s.Address, &t, arch, bare) {
			start, end := s.Offset+r[0], s.Offset+r[1]
			out = append(out, Region{rest.Name, rest.Offset, rest.Address, start - rest.Offset},
				Region{".plt", start, s.Address + r[0], end - start})
			rest.Size -= end - rest.Offset
			rest.Address, rest.Offset = s.Address+r[1], end
		}
		out = append(out, rest)
	}
	return slices.DeleteFunc(out, func(r Region) bool { return r.Size == 0 })
}

// findPLTs finds the procedure linkage tables in a region's code. It returns their ranges, as
// offsets in code.
func findPLTs(code []byte, addr uint64, t *Table, arch isa.Arch, bare bool) (runs [][2]uint64) {
	step, skip := uint64(8), uint64(8)
	if arch == isa.ARM64 { // without its `bti c`, an entry still looks like one
		step, skip = 4, 16
	}
	var run struct {
		start, last, width uint64
		lazy               bool
	}
	end := func() {
		if run.lazy {
			before := uint64(0)
			if n := len(runs); n > 0 {
				before = runs[n-1][1]
			}
			runs = append(runs, [2]uint64{pltStart(code, before, run.start, arch), min(run.last+run.width, uint64(len(code)))})
		}
		run.lazy, run.width = false, 0
	}
	for at := -addr % step; at < uint64(len(code)); {
		stub, ok := disasm.StubSlot(arch, code[at:min(at+32, uint64(len(code)))], addr+at)
		slot, known := t.Slot(stub)
		if !ok || !known {
			at += step
			continue
		}
		if run.width == 0 || at-run.last > pltGap {
			end()
			run.start, run.width = at, stubWidth(code[at:])
		} else {
			run.width = at - run.last
		}
		run.last, run.lazy = at, run.lazy || slot.Lazy || bare && slot.Resolver != 0
		at += skip
	}
	end()
	return runs
}

// stubWidth returns the size in bytes of an entry that is the only one of its table.
func stubWidth(code []byte) uint64 {
	switch {
	case bytes.HasPrefix(code, []byte(armLandingPad)):
		return 24
	case len(code) > 7 && code[0] == 0x4c && code[7] == 0xe8: // mov slot,%r11; call
		return 32
	}
	return 16
}

// pltHead is code that precedes the entries that jump to functions: its first bytes, and its size.
type pltHead struct {
	start string
	size  uint64
}

var pltHeads = map[isa.Arch][]pltHead{
	isa.AMD64: {
		{"\xff\x35", 16}, {"\x68", 16}, {"\xf3\x0f\x1e\xfa\x68", 16},
		{"\xf3\x0f\x1e\xfa\x41\x53\xff\x35", 32},         // mold: endbr64; push %r11; push
		{"\xe8\x0b\x00\x00\x00\xf3\x90\x0f\xae\xe8", 32}, // a retpoline: call; pause; lfence
		{"\xff\x35", 48}, // the retpoline after `push; mov %r11`
	},
	isa.X86:   {{"\xff\x35", 16}, {"\x68", 16}, {"\xf3\x0f\x1e\xfa\x68", 16}},
	isa.ARM64: {{"\xf0\x7b\xbf\xa9", 32}, {armLandingPad + "\xf0\x7b\xbf\xa9", 32}},
}

// pltStart returns the start of a procedure linkage table. From the first entry that jumps, at
// start, it searches backward for the table's head and for entries that call the dynamic linker, as
// in a `.plt` that belongs to `.plt.sec`. It stops at before, the end of the previous table.
func pltStart(code []byte, before, start uint64, arch isa.Arch) uint64 {
	for {
		n := slices.IndexFunc(pltHeads[arch], func(h pltHead) bool {
			return start-before >= h.size && bytes.HasPrefix(code[start-h.size:], []byte(h.start))
		})
		if n < 0 {
			return start
		}
		start -= pltHeads[arch][n].size
	}
}
