package symbolize

import (
	"strings"

	"stackmill/stages/symbolize/image"
	"stackmill/stages/symbolize/insn"
)

// Where Linux on x86-64 and A64 maps itself: the upper part of the address space
// but for its last page, which stays empty, and a page of code for programs.
const (
	kernelStart  = 0xffff000000000000
	vsyscallPage = 0xffffffffff600000
	lastPage     = 0xfffffffffffff000
)

// IsKernel reports whether a PC is an instruction of the kernel's (S25).
func (r *Resolver) IsKernel(pc uint64) bool {
	if pc < kernelStart || pc >= lastPage || pc&^0xfff == vsyscallPage {
		return false
	}
	arch := archOf(r.rec)
	return (arch == insn.AMD64 || arch == insn.ARM64) && strings.HasPrefix(r.rec.OS, "Linux")
}

// inKernel makes a function of a mapping one of the kernel's if it is.
func (r *Resolver) inKernel(f Function, m *image.Mapping) Function {
	if r.IsKernel(m.Address) {
		f.Kind = Kernel
	}
	return f
}
