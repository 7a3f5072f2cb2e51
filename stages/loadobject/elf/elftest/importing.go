package elftest

import (
	debugelf "debug/elf"
	"encoding/binary"
	"slices"
)

// Offsets in the file that Importing builds; link-time addresses are the same. Each function is one
// call, except Tailed, which is one jump.
const (
	PLT      = 0x1000 // lazily bound entries, after the entry that calls the dynamic linker
	PLTLazy  = 0x1020 // the entry of ext_lazy
	PLTSec   = 0x1100 // .plt.sec: the entry of ext_sec
	PLTGot   = 0x1200 // .plt.got: the entry of ext_got
	Lazy     = 0x1300 // calls ext_lazy through .plt
	Sec      = 0x1310 // calls ext_sec through .plt.sec
	Got      = 0x1320 // calls ext_got through .plt.got
	NoPLT    = 0x1330 // calls ext_noplt, whose address it loads
	TailCall = 0x1340 // calls tailed, which jumps to the entry of ext_lazy
	Tailed   = 0x1350
	Linker   = 0x1360 // calls a function of the dynamic linker through .plt

	pltLinker  = 0x1030
	slots      = 0x3018 // slots of ext_lazy, linker_function, ext_sec, ext_got, ext_noplt
	ImportSize = 0x3100
)

// importer writes the instructions of one instruction set.
type importer struct {
	head                 []byte // starts the table with the lazily bound entries
	lazy, glob           uint64 // relocation types
	stub, padded         func(at, slot uint64) []byte
	call, jump, indirect func(at, to uint64) []byte
}

func relative32(at, size, to uint64) []byte {
	return binary.LittleEndian.AppendUint32(nil, uint32(to-at-size))
}

func x86(prefix string, opcode ...byte) func(at, to uint64) []byte {
	code := append([]byte(prefix), opcode...)
	return func(at, to uint64) []byte {
		return append(code[:len(code):len(code)], relative32(at, uint64(len(code)+4), to)...)
	}
}

func arm64Branch(opcode uint32) func(at, to uint64) []byte {
	return func(at, to uint64) []byte {
		return binary.LittleEndian.AppendUint32(nil, opcode|uint32(to-at)>>2&0x3ffffff)
	}
}

// arm64Stub is adrp x16, page; ldr x17, [x16, #n]; add x16, x16, #n; br x17.
func arm64Stub(landing []byte) func(at, slot uint64) []byte {
	return func(at, slot uint64) []byte {
		pages := uint32(slot>>12) - uint32((at+uint64(len(landing)))>>12)
		b := landing[:len(landing):len(landing)]
		for _, w := range []uint32{
			0x90000010 | pages>>2&0x7ffff<<5 | pages&3<<29,
			0xf9400211 | uint32(slot&0xfff)/8<<10,
			0x91000210 | uint32(slot&0xfff)<<10,
			0xd61f0220,
		} {
			b = binary.LittleEndian.AppendUint32(b, w)
		}
		return b
	}
}

var importers = map[debugelf.Machine]importer{
	debugelf.EM_X86_64: {
		head: []byte("\xff\x35\xfa\x1f\x00\x00\xff\x25\xfc\x1f\x00\x00\x0f\x1f\x40\x00"), // push, jmp *GOT
		lazy: 7, glob: 6,
		stub: x86("", 0xff, 0x25), padded: x86("\xf3\x0f\x1e\xfa\xf2", 0xff, 0x25),
		call: x86("", 0xe8), jump: x86("", 0xe9), indirect: x86("", 0xff, 0x15),
	},
	debugelf.EM_AARCH64: {
		head: []byte("\xf0\x7b\xbf\xa9\x10\x00\x00\xd0\x11\x0a\x40\xf9\x10\x42\x00\x91\x20\x02\x1f\xd6"), // stp, adrp, ldr, add, br
		lazy: 1026, glob: 1025,
		stub: arm64Stub(nil), padded: arm64Stub([]byte("\x5f\x24\x03\xd5")),
		call: arm64Branch(0x94000000), jump: arm64Branch(0x14000000),
		indirect: func(uint64, uint64) []byte { return []byte("\x00\x00\x3f\xd6") }, // blr x0
	},
}

// Importing returns an object for x86-64 or A64 that calls functions of other objects in all the
// ways that compilers and linkers use. Without sections it has only program headers, like an object
// after sstrip. names lists alternately an imported function's name and its replacement.
func Importing(machine debugelf.Machine, sections bool, names ...string) []byte {
	m := importers[machine]
	f := File{Machine: machine}
	text := Section{Name: ".text", Flags: debugelf.SHF_ALLOC | debugelf.SHF_EXECINSTR, Address: Lazy, Offset: Lazy, Data: make([]byte, 0x80)}
	plt := func(name string, at uint64, code []byte) Section {
		return Section{Name: name, Flags: debugelf.SHF_ALLOC | debugelf.SHF_EXECINSTR, Address: at, Offset: at, Data: code}
	}
	lazy := make([]byte, 0x40)
	copy(lazy, m.head)
	copy(lazy[PLTLazy-PLT:], m.stub(PLTLazy, slots))
	copy(lazy[pltLinker-PLT:], m.stub(pltLinker, slots+8))
	for at, code := range map[uint64][]byte{
		Lazy: m.call(Lazy, PLTLazy), Sec: m.call(Sec, PLTSec), Got: m.call(Got, PLTGot), NoPLT: m.indirect(NoPLT, slots+32),
		TailCall: m.call(TailCall, Tailed), Tailed: m.jump(Tailed, PLTLazy), Linker: m.call(Linker, pltLinker),
	} {
		copy(text.Data[at-Lazy:], code)
	}
	list := []Symbol{}
	for _, name := range []string{"ext_lazy", "linker_function", "ext_sec", "ext_got", "ext_noplt"} {
		if i := slices.Index(names, name); i >= 0 {
			name = names[i+1]
		}
		list = append(list, Symbol{Name: name, Type: debugelf.STT_FUNC})
	}
	for i, name := range []string{"lazy", "sec", "got", "noplt", "tail_call", "tailed", "linker"} {
		list = append(list, Symbol{name, debugelf.STT_FUNC, 1, Lazy + 16*uint64(i), 16})
	}
	var relocations []byte
	for i := range uint64(5) {
		kind := m.glob
		if i < 3 {
			kind = m.lazy
		}
		for _, v := range []uint64{slots + 8*i, (i+1)<<32 | kind, 0} {
			relocations = binary.LittleEndian.AppendUint64(relocations, v)
		}
	}
	symtab := f.Symtab(".dynsym", ".dynstr", debugelf.SHT_DYNSYM, list)
	symtab[0].Offset, symtab[1].Offset = 0x2000, 0x2400
	f.Sections = append([]Section{text, plt(".plt", PLT, lazy),
		plt(".plt.sec", PLTSec, m.padded(PLTSec, slots+16)), plt(".plt.got", PLTGot, m.stub(PLTGot, slots+24))}, symtab...)
	f.Sections = append(f.Sections, Section{Name: ".rela.dyn", Type: debugelf.SHT_RELA, Offset: 0x2600, Data: relocations},
		Section{Name: ".dynamic", Type: debugelf.SHT_DYNAMIC, Offset: 0x2800, Data: f.Dynamic(
			uint64(debugelf.DT_SYMTAB), 0x2000, uint64(debugelf.DT_STRTAB), 0x2400, uint64(debugelf.DT_STRSZ), uint64(len(symtab[1].Data)),
			uint64(debugelf.DT_JMPREL), 0x2600, uint64(debugelf.DT_PLTRELSZ), 3*24, uint64(debugelf.DT_PLTREL), uint64(debugelf.DT_RELA),
			uint64(debugelf.DT_RELA), 0x2600+3*24, uint64(debugelf.DT_RELASZ), 2*24)})
	f.Loads = []Load{
		{Flags: debugelf.PF_R | debugelf.PF_X, FileSize: ImportSize, MemSize: ImportSize},
		{Type: debugelf.PT_DYNAMIC, Offset: 0x2800, Address: 0x2800, FileSize: 0x100, MemSize: 0x100},
	}
	b := f.Bytes()
	b = append(b, make([]byte, max(0, ImportSize-len(b)))...)
	if !sections {
		copy(b[40:48], make([]byte, 8)) // position of the section headers
	}
	return b
}
