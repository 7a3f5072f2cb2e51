package elf

import debugelf "debug/elf"

// Slot is a word that the dynamic linker, or a static program's start, fills with
// the address of a function, for calls that do not know it.
type Slot struct {
	Address  uint64 // link-time
	Symbol   string // empty with a Resolver
	Resolver uint64 // link-time address of the code that chooses the function (IRELATIVE), else 0
	Lazy     bool   // filled by the first call through the procedure linkage table, unless that is forbidden
}

// slotTypes are the relocations of the entries of the global offset table.
var slotTypes = map[debugelf.Machine]struct{ lazy, eager, chosen uint32 }{
	debugelf.EM_X86_64:  {uint32(debugelf.R_X86_64_JMP_SLOT), uint32(debugelf.R_X86_64_GLOB_DAT), uint32(debugelf.R_X86_64_IRELATIVE)},
	debugelf.EM_386:     {uint32(debugelf.R_386_JMP_SLOT), uint32(debugelf.R_386_GLOB_DAT), uint32(debugelf.R_386_IRELATIVE)},
	debugelf.EM_AARCH64: {uint32(debugelf.R_AARCH64_JUMP_SLOT), uint32(debugelf.R_AARCH64_GLOB_DAT), uint32(debugelf.R_AARCH64_IRELATIVE)},
}

// Slots returns the slots of functions that the dynamic segment lists, or, in a static
// program, the sections of relocations; those beyond the end of the file are left out.
// Their names together are no longer than a small multiple of the file.
func (f *File) Slots() []Slot {
	if _, ok := slotTypes[f.Machine]; !ok {
		return nil
	}
	d := f.dynamic()
	symbols, names, _ := f.DynamicSymbols() // damage is noted where they are read as functions
	r := relocations{f: f, symbols: symbols, names: names, budget: 1<<20 + 8*len(f.data)}
	if len(d) == 0 {
		for _, s := range f.Sections {
			if s.Flags&debugelf.SHF_ALLOC != 0 && (s.Type == debugelf.SHT_RELA || s.Type == debugelf.SHT_REL) {
				r.read(s.Address, s.Size, s.Type == debugelf.SHT_RELA)
			}
		}
		return r.slots
	}
	rela := f.Class == debugelf.ELFCLASS64
	if kind, ok := d[int64(debugelf.DT_PLTREL)]; ok {
		rela = kind == uint64(debugelf.DT_RELA)
	}
	r.read(d[int64(debugelf.DT_JMPREL)], d[int64(debugelf.DT_PLTRELSZ)], rela)
	r.read(d[int64(debugelf.DT_RELA)], d[int64(debugelf.DT_RELASZ)], true)
	r.read(d[int64(debugelf.DT_REL)], d[int64(debugelf.DT_RELSZ)], false)
	return r.slots
}

type relocations struct {
	f              *File
	symbols, names []byte
	budget         int
	slots          []Slot
}

// read reads a table of relocations with or without addends.
func (r *relocations) read(addr, size uint64, addends bool) {
	at, ok := r.f.offset(addr)
	if !ok {
		return
	}
	wide := r.f.Class == debugelf.ELFCLASS64
	step := 8
	if wide {
		step = 16
	}
	plain := step
	if addends {
		step += step / 2
	}
	types := slotTypes[r.f.Machine]
	for b := r.f.upTo(at, size); len(b) >= step && r.budget > 0; b = b[step:] {
		var slot Slot
		var symbol, kind uint32
		if wide {
			info := r.f.Order.Uint64(b[8:])
			slot.Address, symbol, kind = r.f.Order.Uint64(b), uint32(info>>32), uint32(info)
		} else {
			info := r.f.Order.Uint32(b[4:])
			slot.Address, symbol, kind = uint64(r.f.Order.Uint32(b)), info>>8, info&0xff
		}
		switch kind {
		case types.lazy, types.eager:
			slot.Lazy = kind == types.lazy
			slot.Symbol = r.function(symbol)
		case types.chosen:
			slot.Resolver = r.word(b[plain:step])
			if !addends {
				slot.Resolver = r.content(slot.Address)
			}
		}
		if slot.Symbol != "" || slot.Resolver != 0 {
			r.slots = append(r.slots, slot)
		}
	}
}

// word reads an address; 0 if there is none.
func (r *relocations) word(b []byte) uint64 {
	switch len(b) {
	case 8:
		return r.f.Order.Uint64(b)
	case 4:
		return uint64(r.f.Order.Uint32(b))
	}
	return 0
}

// content is the address that the file has in a slot.
func (r *relocations) content(slot uint64) uint64 {
	at, ok := r.f.offset(slot)
	if !ok {
		return 0
	}
	size := uint64(8)
	if r.f.Class == debugelf.ELFCLASS32 {
		size = 4
	}
	return r.word(r.f.upTo(at, size))
}

// function returns the name of a dynamic symbol, unless it is known to be data.
func (r *relocations) function(symbol uint32) string {
	size, info := uint64(24), uint64(4)
	if r.f.Class == debugelf.ELFCLASS32 {
		size, info = 16, 12
	}
	at := uint64(symbol) * size
	if at+size > uint64(len(r.symbols)) {
		return ""
	}
	s := r.symbols[at:]
	if t := debugelf.ST_TYPE(s[info]); t != debugelf.STT_FUNC && t != debugelf.STT_GNU_IFUNC && t != debugelf.STT_NOTYPE {
		return ""
	}
	name := String(r.names, uint64(r.f.Order.Uint32(s)))
	r.budget -= len(name) + 1
	return name
}
