package symtab

import (
	"bytes"
	"slices"
	"strings"

	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/insn/disasm"
	"stackmill/stages/loadobject/isa"
)

func isPLT(section string) bool {
	return section == ".plt" || section == ".iplt" || strings.HasPrefix(section, ".plt.")
}

// pltGap is the greatest distance in bytes between the starts of neighbouring entries.
const pltGap = 24

// armLandingPad is A64's `bti c`, which makes entries longer.
const armLandingPad = "\x5f\x24\x03\xd5"

// cutPLT makes the procedure linkage tables in the segments of an object
// without sections regions of their own. They are recognised by their instructions:
// entries one after the other, of which at least one is bound at its first
// call. A function that consists of a jump to another load object looks the
// same, but takes the address from a slot that is filled beforehand.
func cutPLT(segments []Region, f *elf.File, slots []Slot, arch isa.Arch) []Region {
	t := Table{Slots: slots}
	var out []Region
	for _, s := range segments {
		code := f.Slice(s.Offset, s.Size)
		rest := s
		for _, r := range pltRuns(code, s.Address, &t, arch) {
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

// pltRuns returns where the tables in a segment's code start and end.
func pltRuns(code []byte, addr uint64, t *Table, arch isa.Arch) (runs [][2]uint64) {
	step, skip := uint64(8), uint64(8)
	if arch == isa.ARM64 { // after `bti c` a second entry would seem to start
		step, skip = 4, 16
	}
	var run struct {
		start, last, width uint64
		lazy               bool
	}
	end := func() {
		if run.lazy {
			runs = append(runs, [2]uint64{pltStart(code, run.start, arch), min(run.last+run.width, uint64(len(code)))})
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
			run.start, run.width = at, 16
			if bytes.HasPrefix(code[at:], []byte(armLandingPad)) {
				run.width = 24
			}
		} else {
			run.width = at - run.last
		}
		run.last, run.lazy = at, run.lazy || slot.Lazy
		at += skip
	}
	end()
	return runs
}

// pltStart goes back from the first entry that jumps to those that enter the
// linker: the table's head, and the entries that `.plt.sec` has left in `.plt`.
func pltStart(code []byte, start uint64, arch isa.Arch) uint64 {
	starts, size := []string{"\xff\x35", "\x68", "\xf3\x0f\x1e\xfa\x68"}, uint64(16)
	if arch == isa.ARM64 {
		starts, size = []string{"\xf0\x7b\xbf\xa9", armLandingPad + "\xf0\x7b\xbf\xa9"}, 32
	}
	for start >= size && slices.ContainsFunc(starts, func(s string) bool { return bytes.HasPrefix(code[start-size:], []byte(s)) }) {
		start -= size
	}
	return start
}
