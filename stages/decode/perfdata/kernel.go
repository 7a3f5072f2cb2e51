package perfdata

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/isa"
)

// The kernel's half of the address space, on x86-64 and arm64.
const (
	kernelStart = 0xffff800000000000
	kernelEnd   = ^uint64(0) - 4095
)

// kernelEnd32 is the end of the kernel's addresses on 32-bit machines: the last pages have code for
// programs.
const kernelEnd32 = 0xffff0000

// ksymbolGone is the flag of a KSYMBOL record for removed code.
const ksymbolGone = 1

// kernelMap notes the mapping of a kernel module or of the kernel itself. For the kernel, the
// recorded path ends in the name of a symbol, and the file offset is the symbol's address
// (perf-data 9).
func (t *timeline) kernelMap(m decode.MapEvent) {
	symbol, self := strings.CutPrefix(m.Path, decode.KernelPath)
	switch {
	case self && t.r.rec.Kernel == decode.KernelSymbol{}:
		t.r.rec.Kernel = decode.KernelSymbol{Name: symbol, Address: m.FileOffset, Start: m.Address, End: m.Address + m.Size}
		t.kernelID = m.BuildID
	case !self && !strings.HasPrefix(m.Path, "[guest.") && t.r.mayBeKernel(m.Address):
		m.Modes, m.BuildID = 5, cmp.Or(m.BuildID, t.r.meta.imageIDs[m.Path])
		t.kernel = append(t.kernel, m)
	}
}

// mayBeKernel reports whether an address may be kernel code.
func (p *recordParser) mayBeKernel(address uint64) bool {
	if p.halved() {
		return address >= kernelStart
	}
	return address != 0
}

// halved reports whether the kernel is known to have the upper half of the address space.
func (p *recordParser) halved() bool {
	arch := isa.Named(p.rec.Arch, p.rec.WordBits)
	return arch == isa.AMD64 || arch == isa.ARM64
}

// separate finds where kernel addresses begin if the architecture does not say: on some machines it
// depends on the kernel's configuration, and some recordings do not name the machine. It takes the
// lowest recorded kernel address that is above all mappings of programs.
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
		for _, m := range slices.Concat(p.Mappings, p.DataMappings) {
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
	case from > kernelStart: // most likely, the kernel has the upper half here, too
		t.r.rec.Kernel.From = kernelStart
	default:
		t.r.rec.Kernel.From = from
	}
}

// ksymbol notes code that the kernel generated, such as a BPF program, and its removal.
func (t *timeline) ksymbol(s *sideband, c *cursor) {
	m := decode.MapEvent{Time: t.ns(s.time), Address: c.U64(), Size: uint64(c.U32()), Modes: 5}
	c.U16() // type: BPF or other
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

// kernelImage returns the kernel's mappings for a process: the kernel itself, and the modules and
// generated code on the process's stacks, or all of them if some stacks are not yet unwound.
func (t *timeline) kernelImage(p *process) []decode.MapEvent {
	image := []decode.MapEvent{t.kernelItself()}
	if len(t.kernel) == 0 {
		return image
	}
	words := kernelWords(p.Stacks)
	used := map[uint64]bool{}
	for _, m := range t.kernel {
		if !m.Unmap && decode.Touches(words, m.Address, m.Size) {
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

// kernelItself returns the mapping of the kernel without modules.
func (t *timeline) kernelItself() decode.MapEvent {
	start, end := cmp.Or(t.r.rec.Kernel.From, kernelStart), uint64(kernelEnd)
	if start < kernelEnd32 {
		end = kernelEnd32
	}
	return decode.MapEvent{
		Path: decode.KernelPath, Address: start, Size: end - start, FileOffset: start,
		Modes: 5, BuildID: cmp.Or(t.kernelID, t.r.meta.imageIDs[decode.KernelPath]),
	}
}

// kernelWords returns the sorted kernel addresses on stacks.
func kernelWords(stacks *decode.Stacks) (words []uint64) {
	seen := make([]int, stacks.Nodes()) // by node: how many words, from the node's own towards the root, are in words
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

// The cpumode values of records from the hypervisor and from virtual machines.
const (
	miscHypervisor  = 3
	miscGuestKernel = 4
	miscGuestUser   = 5
)

// The corresponding markers in call chains.
const (
	contextHypervisor  = ^uint64(0) - 31
	contextGuest       = ^uint64(0) - 2047
	contextGuestKernel = ^uint64(0) - 2175
	contextGuestUser   = ^uint64(0) - 2559
)

// foreignSpace is the address space of the hypervisor or of virtual machines. One bit of its
// addresses is flipped, which makes them non-canonical: no address of the host equals them.
type foreignSpace struct {
	path, reason string
	bit          uint64
}

var (
	guest      = foreignSpace{"[guest]", "PC in a virtual machine, whose load objects are not recorded", 1 << 62}
	hypervisor = foreignSpace{"[hypervisor]", "PC in the hypervisor, whose functions are not recorded", 1 << 61}
)

// spaceOf returns the bit to flip in the addresses of a record with the given misc field; 0 for
// addresses of the host.
func spaceOf(misc uint16) uint64 {
	switch misc & miscMode {
	case miscGuestKernel, miscGuestUser:
		return guest.bit
	case miscHypervisor:
		return hypervisor.bit
	}
	return 0
}

// contextSpace returns the bit to flip in the words after a marker.
func contextSpace(marker uint64) uint64 {
	switch marker {
	case contextGuest, contextGuestKernel, contextGuestUser:
		return guest.bit
	case contextHypervisor:
		return hypervisor.bit
	}
	return 0
}

// half is the size of the mapped part of each half of a foreign address space, in bytes: the range
// of 5-level page tables.
const (
	half      = 1 << 56
	upperHalf = 1<<64 - half
)

// image returns the mappings of the space if a sample of the process was there.
func (f *foreignSpace) image(p *process) []decode.MapEvent {
	if p.spaces&f.bit == 0 {
		return nil
	}
	code := &decode.Code{Reason: f.reason}
	lower := decode.MapEvent{Path: f.path, Address: f.bit, Size: half, Modes: 5, Code: code}
	upper := decode.MapEvent{Path: f.path, Address: upperHalf ^ f.bit, Size: half, FileOffset: upperHalf, Modes: 5, Code: code}
	return []decode.MapEvent{lower, upper}
}
