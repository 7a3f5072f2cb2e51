package elf

import debugelf "debug/elf"

// Slot is an entry of the global offset table that contains the address of a function: one in
// another object, or one that the object chooses at run time among several. The dynamic linker
// stores the address, or a static program itself when it starts.
type Slot struct {
	Address  uint64 // link-time
	Symbol   string // empty with a Resolver
	Resolver uint64 // link-time address of the code that chooses the function (IRELATIVE), else 0
	Lazy     bool   // bound at the first call through the procedure linkage table, unless lazy binding is off
}

// slotTypes are the types of the relocations that describe slots.
var slotTypes = map[debugelf.Machine]struct{ jumpSlot, globDat, irelative uint32 }{
	debugelf.EM_X86_64:  {uint32(debugelf.R_X86_64_JMP_SLOT), uint32(debugelf.R_X86_64_GLOB_DAT), uint32(debugelf.R_X86_64_IRELATIVE)},
	debugelf.EM_386:     {uint32(debugelf.R_386_JMP_SLOT), uint32(debugelf.R_386_GLOB_DAT), uint32(debugelf.R_386_IRELATIVE)},
	debugelf.EM_AARCH64: {uint32(debugelf.R_AARCH64_JUMP_SLOT), uint32(debugelf.R_AARCH64_GLOB_DAT), uint32(debugelf.R_AARCH64_IRELATIVE)},
}

// Slots returns the slots of functions. It reads the relocations that the dynamic segment names or,
// in a static program, the relocation sections. It omits relocations beyond the end of the file.
// The total length of the names is at most a small multiple of the file's size.
func (f *File) Slots() []Slot {
	if _, ok := slotTypes[f.Machine]; !ok {
		return nil
	}
	d := f.dynamic()
	symbols, names, _ := f.DynamicSymbols() // damage is noted when functions are read
	r := relocationReader{f: f, symbols: symbols, names: names, budget: 1<<20 + 8*len(f.data)}
	if len(d) == 0 {
		for _, s := range f.Sections {
			if s.Flags&debugelf.SHF_ALLOC != 0 && (s.Type == debugelf.SHT_RELA || s.Type == debugelf.SHT_REL) {
				r.read(s.Address, s.Size, s.Type == debugelf.SHT_RELA)
			}
		}
		return r.slots
	}
	rela := f.Class == debugelf.ELFCLASS64
	if kind, ok := d[debugelf.DT_PLTREL]; ok {
		rela = kind == uint64(debugelf.DT_RELA)
	}
	r.read(d[debugelf.DT_JMPREL], d[debugelf.DT_PLTRELSZ], rela)
	r.read(d[debugelf.DT_RELA], d[debugelf.DT_RELASZ], true)
	r.read(d[debugelf.DT_REL], d[debugelf.DT_RELSZ], false)
	return r.slots
}

type relocationReader struct {
	f              *File
	symbols, names []byte
	budget         int // bytes left for names
	slots          []Slot
}

// read reads a table of relocations with or without addends.
func (r *relocationReader) read(addr, size uint64, addends bool) {
	at, ok := r.f.offset(addr)
	if !ok {
		return
	}
	word := r.f.wordSize()
	step := 2 * word
	if addends {
		step += word
	}
	types := slotTypes[r.f.Machine]
	for b := r.f.sliceAvailable(at, size); len(b) >= step && r.budget > 0; b = b[step:] {
		slot := Slot{Address: r.f.word(b)}
		info := r.f.word(b[word:])
		symbol, kind := debugelf.R_SYM64(info), debugelf.R_TYPE64(info)
		if word == 4 {
			symbol, kind = debugelf.R_SYM32(uint32(info)), debugelf.R_TYPE32(uint32(info))
		}
		switch kind {
		case types.jumpSlot, types.globDat:
			slot.Lazy = kind == types.jumpSlot
			slot.Symbol = r.function(symbol)
		case types.irelative:
			if addends {
				slot.Resolver = r.f.word(b[2*word:])
			} else {
				slot.Resolver = r.content(slot.Address)
			}
		}
		if slot.Symbol != "" || slot.Resolver != 0 {
			r.slots = append(r.slots, slot)
		}
	}
}

// content returns the address stored in a slot, 0 if the slot has no bytes in the file.
func (r *relocationReader) content(slot uint64) uint64 {
	at, ok := r.f.offset(slot)
	if b := r.f.sliceAvailable(at, uint64(r.f.wordSize())); ok && len(b) == r.f.wordSize() {
		return r.f.word(b)
	}
	return 0
}

// function returns the name of a dynamic symbol, empty if the symbol is data.
func (r *relocationReader) function(symbol uint32) string {
	at := uint64(symbol) * uint64(r.f.symbolSize())
	for s := range r.f.Symbols(r.symbols[min(at, uint64(len(r.symbols))):]) {
		if s.Type != debugelf.STT_FUNC && s.Type != debugelf.STT_GNU_IFUNC && s.Type != debugelf.STT_NOTYPE {
			return ""
		}
		name := StringAt(r.names, uint64(s.Name))
		r.budget -= len(name) + 1
		return name
	}
	return ""
}
