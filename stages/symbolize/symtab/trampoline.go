package symtab

import (
	"bytes"
	"debug/elf"
	"slices"
	"sort"

	"stackmill/stages/symbolize/symtab/object"
)

// trampoline is the code to which a signal handler returns. The C library's
// symbol for it is local, so that a stripped library has lost it; but stacks
// show it below every handler, and its instructions are the same everywhere.
type trampoline struct {
	name string
	code []byte
}

var trampolines = map[elf.Machine][]trampoline{
	elf.EM_X86_64: {
		{"__restore_rt", []byte{0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05}}, // mov $rt_sigreturn,%rax; syscall
	},
	elf.EM_386: {
		{"__restore_rt", []byte{0xb8, 173, 0, 0, 0, 0xcd, 0x80}},    // mov $rt_sigreturn,%eax; int $0x80
		{"__restore", []byte{0x58, 0xb8, 119, 0, 0, 0, 0xcd, 0x80}}, // pop %eax; mov $sigreturn,%eax; int $0x80
	},
}

// nameTrampolines adds the first copy of each trampoline, if no symbol covers
// it (S24).
func nameTrampolines(t *Table, f *object.File) {
	for _, x := range trampolines[f.Machine] {
		for _, r := range t.Regions {
			i := bytes.Index(f.Slice(r.Offset, r.Size), x.code)
			if i < 0 || isPLT(r.Name) {
				continue
			}
			t.insert(Function{
				Offset: r.Offset + uint64(i), Address: r.Address + uint64(i), Size: uint64(len(x.code)),
				Linkage: x.name, Aliases: x.name, Name: x.name, Kind: Normal,
			})
			break
		}
	}
}

// insert adds a function unless another one covers its place.
func (t *Table) insert(f Function) {
	i := sort.Search(len(t.Functions), func(i int) bool { return t.Functions[i].Offset > f.Offset })
	if i > 0 && t.Functions[i-1].Offset+t.Functions[i-1].Size > f.Offset {
		return
	}
	if i < len(t.Functions) && t.Functions[i].Offset < f.Offset+f.Size {
		return
	}
	t.Functions = slices.Insert(t.Functions, i, f)
}
