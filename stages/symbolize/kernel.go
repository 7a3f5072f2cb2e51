package symbolize

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"stackmill/internal/memo"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/isa"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
	"stackmill/stages/symbolize/image"
)

// The addresses of the kernel in Linux on x86-64 and A64: the upper part of the address space. Not
// part of it are the last page, which stays empty, and the vsyscall page, which programs execute.
const (
	kernelStart  = 0xffff000000000000
	vsyscallPage = 0xffffffffff600000
	lastPage     = 0xfffffffffffff000
	lastPages32  = 0xffff0000 // of a 32-bit kernel
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

// pcPlacer converts a PC to an offset as an object's symbol table has them, or returns false if it
// has none for the PC.
type pcPlacer func(m *image.Mapping, pc uint64) (uint64, bool)

// absolutePC is the pcPlacer of symbol lists, whose offsets are addresses.
func absolutePC(_ *image.Mapping, pc uint64) (uint64, bool) { return pc, true }

// kernelPlacer returns the pcPlacer of the kernel's image, which may have been moved from its
// link-time address, or of a kernel module, which is relocatable (perf-data 10.1).
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

// moved returns how far the kernel was moved from its link-time address, by the recorded address of
// a symbol. The symbol may be `_text` (the start of the code) or `_stext` (the start of the text
// section), even if these are not functions.
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

// kernelList is a list of the kernel's symbols at the addresses that they had during the recording:
// the kernel's address can change with each boot.
type kernelList struct {
	table *symtab.Table // nil if the list cannot be used
	moved bool          // the list is from another boot
	why   string        // why the list cannot be used
}

// kernelList relocates a list so that the symbol whose address was recorded has that address, and
// caches the result.
func (r *Resolver) kernelList(t *symtab.Table) kernelList {
	return memo.Get(r.kernelLists, t, func() kernelList { return relocate(t, r.rec.Kernel) })
}

func relocate(t *symtab.Table, recorded decode.KernelSymbol) kernelList {
	if recorded.Address == 0 || recorded.Name == "" {
		return kernelList{table: t}
	}
	listed, ok := addressOf(t, recorded.Name)
	if !ok {
		return kernelList{why: fmt.Sprintf("the list lacks the symbol %s, whose address was recorded: where its functions were is unknown", recorded.Name)}
	}
	moved := recorded.Address - listed
	// The recorded end is the end of the kernel's text, but perf may have extended it to the next
	// mapping (old versions: to the byte before).
	filled := recorded.End%pageOfKernel == 0 || (recorded.End+1)%pageOfKernel == 0
	if end, ok := addressOf(t, "_etext"); ok && !filled && recorded.End != end+moved {
		return kernelList{why: fmt.Sprintf("the list is of another kernel: %#x bytes are from %s to the end of its text, %#x were recorded", end-listed, recorded.Name, recorded.End-recorded.Address)}
	}
	if moved == 0 {
		return kernelList{table: t}
	}
	return kernelList{table: t.Relocate(moved), moved: true}
}

// pageOfKernel is the alignment of the kernel's mappings.
const pageOfKernel = 4096

// addressOf returns the address that a list has for a symbol of the kernel itself, not of a module.
func addressOf(t *symtab.Table, name string) (uint64, bool) {
	for _, i := range t.Functions.BySymbol(name) {
		if f := t.Functions.At(i); f.Module == 0 {
			return f.Address, true
		}
	}
	return 0, false
}

// moduleName returns the name that the kernel has for a module, which was recorded as `[name]` or
// as the path of its file, which may be compressed.
func moduleName(file string) string {
	if name, ok := strings.CutPrefix(file, "["); ok {
		return strings.TrimSuffix(name, "]")
	}
	name, _, _ := strings.Cut(path.Base(file), ".ko")
	return strings.ReplaceAll(name, "-", "_")
}

// moduleList returns the part of the kernel's symbol list that belongs to a kernel module, and the
// list's origin. table is nil if there is no usable list; why says why a list was refused.
func (r *Resolver) moduleList(m *image.Mapping) (table *symtab.Table, origin string, why *remark) {
	name := moduleName(m.Path)
	for _, c := range Candidates(r.locator, decode.KernelPath, r.kernelID) {
		all, err := r.tables.Load(c.Path)
		if err != nil || len(all.Regions) > 0 {
			continue
		}
		n := slices.IndexFunc(all.Modules, func(m symtab.Module) bool { return m.Name == name })
		if n < 0 {
			continue
		}
		l := r.kernelList(all)
		if l.table == nil { // the problem was reported for the kernel itself
			continue
		}
		if l.moved {
			why = &remark{"kernel-symbols", "the list of the kernel's symbols is from another boot, in which the module had another address: it gives the module's functions no names"}
			continue
		}
		own := all.OfModule(n)
		if at := own.Functions.At(0).Address; at < m.Address || at >= m.End() {
			why = &remark{"kernel-symbols", fmt.Sprintf("the list of the kernel's symbols has the module at %#x, but it was recorded at %#x: the list gives its functions no names", at, m.Address)}
			continue
		}
		return own, c.Origin, nil
	}
	return nil, "", why
}
