package symbolize

import (
	"cmp"
	"slices"
	"strings"

	"stackmill/stages/loadobject/isa"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
	"stackmill/stages/symbolize/image"
)

// The kernel's addresses in Linux on x86-64 and A64: the upper part of the address space, except
// the last page, which stays empty, and a page of code for programs.
const (
	kernelStart  = 0xffff000000000000
	vsyscallPage = 0xffffffffff600000
	lastPage     = 0xfffffffffffff000
	lastPages32  = 0xffff0000 // of a kernel with words of 32 bits
)

// IsKernel reports whether a PC is in the kernel (S25).
func (r *Resolver) IsKernel(pc uint64) bool {
	from := r.rec.Kernel.From
	if from != 0 && from < lastPages32 {
		return pc >= from && pc < lastPages32
	}
	if pc < cmp.Or(from, kernelStart) || pc >= lastPage || pc&^0xfff == vsyscallPage {
		return false
	}
	if from != 0 {
		return true
	}
	arch := archOf(r.rec)
	return (arch == isa.AMD64 || arch == isa.ARM64) && strings.HasPrefix(r.rec.OS, "Linux")
}

// inKernel sets the kind of a function in a mapping of the kernel.
func (r *Resolver) inKernel(f program.Function, m *image.Mapping) program.Function {
	if r.IsKernel(m.Address) {
		f.Kind = program.Kernel
	}
	return f
}

// pcPlacer returns the offset of a PC in an object's table; false if it has none.
type pcPlacer func(m *image.Mapping, pc uint64) (uint64, bool)

// absolutePC is the pcPlacer of lists of symbols.
func absolutePC(_ *image.Mapping, pc uint64) (uint64, bool) { return pc, true }

// kernelPlacer returns the pcPlacer of the kernel's image, which may not be at its link-time
// address, or of a module, which is relocatable (perf-data 10.1).
func (r *Resolver) kernelPlacer(t *symtab.Table) pcPlacer {
	if len(t.Regions) == 0 {
		return absolutePC
	}
	if len(t.Segments) > 0 {
		addresses := t.Addresses()
		moved := r.moved(t, addresses)
		return func(_ *image.Mapping, pc uint64) (uint64, bool) { return addresses.Offset(pc - moved) }
	}
	i := slices.IndexFunc(t.Regions, func(g symtab.Region) bool { return g.Name == ".text" })
	return func(m *image.Mapping, pc uint64) (uint64, bool) {
		inside := m.FileOffset + (pc - m.Address)
		if i < 0 || inside >= t.Regions[i].Size {
			return 0, false
		}
		return t.Regions[i].Offset + inside, true
	}
}

// moved returns the distance of the kernel from its link-time address. `_text` is the start of its
// code and `_stext` the start of its text section, whether or not they are functions.
func (r *Resolver) moved(t *symtab.Table, a symtab.Addresses) uint64 {
	k := r.rec.Kernel
	if k.Address == 0 {
		return 0
	}
	for f := range t.Functions.All() {
		if slices.Contains(symtab.Split(f.Aliases), k.Name) {
			return k.Address - f.Address
		}
	}
	linked := a[0].Address
	for _, g := range a {
		if k.Name == "_stext" && g.Name == ".text" {
			linked = g.Address
		}
	}
	return k.Address - linked
}
