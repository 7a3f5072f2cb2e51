package symtab

import (
	"bytes"
	"cmp"
	debugelf "debug/elf"
	"slices"
	"sort"

	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/isa"
)

// trampoline is a signal trampoline: the code to which a signal handler returns. In stacks it is
// the caller of every handler. Its symbol is local, so that a stripped C library lacks it; in some
// libraries and in the vdso, the symbol has no type. But the instructions are always the same.
type trampoline struct {
	name string
	code []string
}

var trampolines = map[isa.Arch][]trampoline{
	isa.AMD64: {
		{"__restore_rt", []string{
			"\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", // mov $rt_sigreturn,%rax; syscall
			"\xb8\x0f\x00\x00\x00\x0f\x05",         // mov $rt_sigreturn,%eax; syscall
		}},
	},
	isa.X86: {
		{"__restore_rt", []string{"\xb8\xad\x00\x00\x00\xcd\x80"}},  // mov $rt_sigreturn,%eax; int $0x80
		{"__restore", []string{"\x58\xb8\x77\x00\x00\x00\xcd\x80"}}, // pop %eax; mov $sigreturn,%eax; int $0x80
	},
	isa.ARM64: {
		{"__restore_rt", []string{"\x68\x11\x80\xd2\x01\x00\x00\xd4"}}, // mov x8,#rt_sigreturn; svc #0
	},
}

// Trampolines finds signal trampolines in code (S24). It calls yield with the name, start and size
// of the first copy of each.
func Trampolines(arch isa.Arch, code []byte, yield func(name string, start, size int)) {
	for _, x := range trampolines[arch] {
		for _, c := range x.code {
			if i := bytes.Index(code, []byte(c)); i >= 0 {
				yield(x.name, i, len(c))
				break
			}
		}
	}
}

// IsTrampoline reports whether code begins with a signal trampoline.
func IsTrampoline(arch isa.Arch, code []byte) bool {
	return slices.ContainsFunc(trampolines[arch], func(t trampoline) bool {
		return slices.ContainsFunc(t.code, func(c string) bool { return bytes.HasPrefix(code, []byte(c)) })
	})
}

// LongestTrampoline is the size in bytes of the longest signal trampoline.
const LongestTrampoline = 9

// nameTrampolines adds functions for the signal trampolines that no symbol covers.
func nameTrampolines(t *Draft, f *elf.File) {
	if f.Type == debugelf.ET_REL {
		return
	}
	named := map[string]bool{}
	for _, r := range t.Regions {
		if isPLT(r.Name) {
			continue
		}
		Trampolines(t.Arch, f.Slice(r.Offset, r.Size), func(name string, start, size int) {
			if !named[name] {
				t.insert(Function{
					Offset: r.Offset + uint64(start), Address: r.Address + uint64(start), Size: uint64(size),
					Linkage: name, Aliases: name, Name: name, Kind: funcinfo.Normal,
				})
			}
			named[name] = true
		})
	}
}

// FindFunction returns the index of the function that starts at an offset, in a sorted list.
func FindFunction(list []Function, offset uint64) (int, bool) {
	return slices.BinarySearchFunc(list, offset, func(f Function, off uint64) int { return cmp.Compare(f.Offset, off) })
}

// insert adds a function unless it would overlap another.
func (d *Draft) insert(f Function) {
	i := sort.Search(len(d.Functions), func(i int) bool { return d.Functions[i].Offset > f.Offset })
	if i > 0 && d.Functions[i-1].Offset+d.Functions[i-1].Size > f.Offset {
		return
	}
	if i < len(d.Functions) && d.Functions[i].Offset < f.Offset+f.Size {
		return
	}
	d.Functions = slices.Insert(d.Functions, i, f)
}
