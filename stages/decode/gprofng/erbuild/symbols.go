package erbuild

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"slices"
	"strings"
)

// SymbolModule is a module of a symbol table that Studio 12.3 archives in place of a copy
// of a load object (studio-experiment 6).
type SymbolModule struct {
	Language       uint32
	Object, Source string // files; `(unknown)` without debug information
	Functions      []SymbolFunction
}

// SymbolFunction is one name of a function: its offset in the load object's file, and size.
type SymbolFunction struct {
	Offset, Size uint32
	Name         string
}

// The kinds of packets of a symbol table.
const (
	symbolSegment  = 1
	symbolMessage  = 2
	symbolModule   = 4
	symbolFunction = 5
	symbolText     = 13
)

// SymbolTable returns the content of an archived symbol table: of a load object recorded as
// path, whose text has so many bytes.
func SymbolTable(path string, inode, textSize uint32, modules ...SymbolModule) []byte {
	b := SymbolPacket(nil, symbolSegment, []uint32{0x100, inode, textSize, 6}, path)
	b = SymbolPacket(b, symbolMessage, []uint32{9})
	b = SymbolPacket(b, symbolText, nil, "Archived by er_archive: "+Studio123.collector())
	for _, m := range modules {
		b = SymbolPacket(b, symbolModule, []uint32{m.Language, 1}, m.Object, m.Source)
		for _, f := range m.Functions {
			b = SymbolPacket(b, symbolFunction, []uint32{f.Offset, f.Size, f.Offset}, f.Name)
		}
	}
	return b
}

// SymbolPacket appends a packet of numbers and texts to a symbol table.
func SymbolPacket(b []byte, kind uint16, numbers []uint32, texts ...string) []byte {
	o, start := binary.LittleEndian, len(b)
	b = append(b, 0, 0, 0, 0)
	for _, n := range numbers {
		b = o.AppendUint32(b, n)
	}
	for _, t := range texts {
		b = append(append(b, t...), make([]byte, (len(t)+4)&^3-len(t))...)
	}
	o.PutUint16(b[start:], kind<<8)
	o.PutUint16(b[start+2:], uint16(len(b)-start))
	return b
}

// SymbolTableOf returns the symbol table that Studio 12.3 would archive for a load object.
func SymbolTableOf(file, recorded string) ([]byte, error) {
	f, err := elf.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	modules := []SymbolModule{{Object: "(unknown)", Source: "(unknown)"}}
	moduleOf := map[uint64]int{}
	if d, err := f.DWARF(); err == nil {
		if modules, err = sources(d, recorded, modules, moduleOf); err != nil {
			return nil, err
		}
	}
	list, _ := f.Symbols()
	if len(list) == 0 {
		list, _ = f.DynamicSymbols()
	}
	for _, s := range list {
		if int(s.Section) >= len(f.Sections) || elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Section == elf.SHN_UNDEF || s.Size == 0 {
			continue
		}
		sec, m := f.Sections[s.Section], &modules[moduleOf[s.Value]]
		m.Functions = append(m.Functions, SymbolFunction{uint32(s.Value - sec.Addr + sec.Offset), uint32(s.Size), s.Name})
	}
	if plt := f.Section(".plt"); plt != nil {
		modules[0].Functions = append(modules[0].Functions, SymbolFunction{uint32(plt.Offset), uint32(plt.Size), "@plt"})
	}
	var size uint32
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags == elf.PF_R|elf.PF_X {
			size = uint32(p.Memsz)
		}
	}
	return SymbolTable(recorded, 1, size, modules...), nil
}

// sources appends the units that debug information has, and notes which functions belong to
// them by their addresses.
func sources(d *dwarf.Data, object string, modules []SymbolModule, moduleOf map[uint64]int) ([]SymbolModule, error) {
	r := d.Reader()
	for {
		e, err := r.Next()
		if e == nil || err != nil {
			return modules, err
		}
		switch e.Tag {
		case dwarf.TagCompileUnit:
			name, _ := e.Val(dwarf.AttrName).(string)
			if dir, _ := e.Val(dwarf.AttrCompDir).(string); dir != "" && !strings.HasPrefix(name, "/") {
				name = dir + "/" + name
			}
			modules = append(modules, SymbolModule{Language: language(e), Object: object, Source: name})
		case dwarf.TagSubprogram:
			if low, ok := e.Val(dwarf.AttrLowpc).(uint64); ok {
				moduleOf[low] = len(modules) - 1
			}
		}
	}
}

// language translates the language of a unit.
func language(e *dwarf.Entry) uint32 {
	code, _ := e.Val(dwarf.AttrLanguage).(int64)
	switch {
	case slices.Contains([]int64{0x04, 0x1a, 0x21, 0x2b}, code):
		return 4
	case slices.Contains([]int64{0x07, 0x08, 0x0e, 0x22, 0x23}, code):
		return 7
	case code == 0x8001:
		return 1
	}
	return 9
}
