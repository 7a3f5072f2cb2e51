package perfdata

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/isa"
)

// The kernel's half of the address space.
const (
	kernelStart = 0xffff800000000000
	kernelEnd   = ^uint64(0) - 4095
)

// kernelEnd32 is the end on machines with words of 32 bits: the last pages have code for
// programs.
const kernelEnd32 = 0xffff0000

// ksymbolGone is the flag of a KSYMBOL record that says its code is gone.
const ksymbolGone = 1

// kernelMap keeps where a kernel module is, or the kernel itself, whose name is
// followed by a symbol's name and whose offset is that symbol's address
// (perf-data 9).
func (t *timeline) kernelMap(m decode.MapEvent) {
	symbol, self := strings.CutPrefix(m.Path, decode.KernelPath)
	switch {
	case self && t.r.rec.Kernel == decode.KernelSymbol{}:
		t.r.rec.Kernel = decode.KernelSymbol{Name: symbol, Address: m.FileOffset, Start: m.Address, End: m.Address + m.Size}
		t.kernelID = m.BuildID
	case !self && !strings.HasPrefix(m.Path, "[guest.") && t.r.mayBeKernel(m.Address):
		m.Modes, m.BuildID = 5, cmp.Or(m.BuildID, t.r.imageIDs[m.Path])
		t.kernel = append(t.kernel, m)
	}
}

// mayBeKernel reports whether the kernel may have code at an address.
func (r *reader) mayBeKernel(address uint64) bool {
	if r.halved() {
		return address >= kernelStart
	}
	return address != 0
}

// halved reports whether the kernel is known to have its half of the address space.
func (r *reader) halved() bool {
	arch := isa.Named(r.rec.Arch, r.rec.WordBits)
	return arch == isa.AMD64 || arch == isa.ARM64
}

// separate finds where the kernel's part of memory begins on other machines, where it may
// depend on how the kernel was configured, and in recordings that do not name the machine: at
// the first of the kernel's words above all that programs have mapped.
func (t *timeline) separate() {
	if t.r.halved() {
		return
	}
	var words []uint64
	for _, p := range t.recorded {
		words = append(words, kernelWords(p.Stacks)...)
	}
	end := uint64(kernelEnd)
	if isa.Narrow(t.r.rec.Arch) || t.r.rec.Arch == "" && !slices.ContainsFunc(words, func(w uint64) bool { return w > math.MaxUint32 }) {
		end = kernelEnd32
	}
	user := uint64(0)
	for _, p := range t.recorded {
		for _, m := range slices.Concat(p.Image, p.Data) {
			if !m.Unmap && m.Address < min(end, kernelStart) {
				user = max(user, m.Address+m.Size)
			}
		}
	}
	from := end
	lower := func(address uint64) {
		if address >= user {
			from = min(from, address&^uint64(t.r.rec.PageSize-1))
		}
	}
	for _, w := range words {
		lower(w)
	}
	for _, m := range t.kernel {
		lower(m.Address)
	}
	switch {
	case from == end:
	case from > kernelStart: // mostly it has its half there, too
		t.r.rec.Kernel.From = kernelStart
	default:
		t.r.rec.Kernel.From = from
	}
}

// ksymbol keeps where the kernel made code while it ran, such as a BPF program,
// for as long as it was there.
func (t *timeline) ksymbol(s *sideband, c *cursor) {
	m := decode.MapEvent{Time: t.ns(s.time), Address: c.U64(), Size: uint64(c.U32()), Modes: 5}
	c.U16() // type: BPF or not
	gone := c.U16()&ksymbolGone != 0
	m.Path = text(c.Rest[:max(len(c.Rest)-t.r.trailerSize(), 0)])
	switch {
	case c.Short || !t.r.mayBeKernel(m.Address) || m.Path == "":
	case gone:
		t.kernel = append(t.kernel, decode.MapEvent{Unmap: true, Time: m.Time, Address: m.Address})
	case m.Size > 0:
		m.Code = &decode.Code{Functions: []decode.CodeFunction{{Name: m.Path, Address: m.Address, Size: m.Size}}}
		t.kernel = append(t.kernel, m)
	}
}

// kernelImage returns the kernel's mappings for a process: the kernel's own, and those
// of modules and pieces of code on its stacks, or of all if some stacks are still to be
// unwound.
func (t *timeline) kernelImage(p *process) []decode.MapEvent {
	image := []decode.MapEvent{t.kernelItself()}
	if len(t.kernel) == 0 {
		return image
	}
	words := kernelWords(p.Stacks)
	used := map[uint64]bool{}
	for _, m := range t.kernel {
		i, _ := slices.BinarySearch(words, m.Address)
		// A return address may be the first byte after the code.
		if !m.Unmap && i < len(words) && words[i]-m.Address <= m.Size {
			used[m.Address] = true
		}
	}
	for _, m := range t.kernel {
		if used[m.Address] || len(p.dumps) > 0 {
			image = append(image, m)
		}
	}
	return image
}

// kernelItself returns the mapping of the kernel without its modules.
func (t *timeline) kernelItself() decode.MapEvent {
	start, end := cmp.Or(t.r.rec.Kernel.From, kernelStart), uint64(kernelEnd)
	if start < kernelEnd32 {
		end = kernelEnd32
	}
	return decode.MapEvent{
		Path: decode.KernelPath, Address: start, Size: end - start, FileOffset: start,
		Modes: 5, BuildID: cmp.Or(t.kernelID, t.r.imageIDs[decode.KernelPath]),
	}
}

// kernelWords returns the kernel's words on stacks, sorted.
func kernelWords(stacks *decode.Stacks) (words []uint64) {
	seen := make([]int, stacks.Nodes()) // how many words from the node on are in the list
	for n := range int32(stacks.Len()) {
		node := stacks.Leaf(n)
		for left := stacks.Kernel(n); left > 0 && seen[node] < left; left-- {
			seen[node] = left
			word, _, caller := stacks.Node(node)
			words, node = append(words, word), caller
		}
	}
	slices.Sort(words)
	return words
}
