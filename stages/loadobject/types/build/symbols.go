package build

import (
	debugelf "debug/elf"
	"maps"
	"slices"
	"strings"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/types"
)

// symbol is a symbol of data in the object, or one that the object needs from others.
type symbol struct {
	address, size uint64
	name          []byte // with its version
	undefined     bool
	local         bool // of one unit, or hidden from other objects
}

// bare is the name without its version.
func (x *symbol) bare() string {
	name, _, _ := strings.Cut(string(x.name), "@")
	return name
}

// symbols reads the symbols of the object and of the file with its debug information.
// Damage is noted where the symbols of functions are read.
func (r *reader) symbols() []symbol {
	var list []symbol
	files := []*elf.File{r.Object}
	if r.Source != r.Object {
		files = append(files, r.Source)
	}
	for _, f := range files {
		for _, kind := range []debugelf.SectionType{debugelf.SHT_SYMTAB, debugelf.SHT_DYNSYM} { // files have one of each
			i := slices.IndexFunc(f.Sections, func(s elf.Section) bool { return s.Type == kind })
			if i < 0 {
				continue
			}
			names := f.ByIndex(int(f.Sections[i].Link))
			if names == nil {
				continue
			}
			b, err := f.Data(&f.Sections[i])
			if err != nil {
				continue
			}
			text, err := f.Data(names)
			if err != nil {
				continue
			}
			list = r.entriesOf(list, f, b, text)
		}
	}
	return list
}

// entriesOf appends the symbols of data of one table.
func (r *reader) entriesOf(list []symbol, f *elf.File, b, names []byte) []symbol {
	for e := range f.Symbols(b) {
		if !r.fits(len(list)) {
			break
		}
		undefined := e.Section == debugelf.SHN_UNDEF
		if !undefined && (e.Type != debugelf.STT_OBJECT || e.Size == 0 || e.Size > maxExtent) {
			continue
		}
		x := symbol{address: e.Value, size: e.Size, undefined: undefined, local: e.Binding == debugelf.STB_LOCAL}
		x.name = dwarf.TextAt(names, uint64(e.Name))
		x.name = x.name[:min(len(x.name), dwarf.MaxPath)]
		list = append(list, x)
	}
	return list
}

// define gives variables that units only declare the addresses of the symbols of that
// name: programs contain copies of variables of their libraries. Local symbols may
// belong to another unit's variable: they come last, and never stand for a variable
// that the object needs from others.
func (a *assembly) define(symbols []symbol) {
	declared, told := a.declared()
	if len(declared) == 0 {
		return
	}
	local := maps.Clone(declared)
	for i := range symbols {
		if x := &symbols[i]; x.undefined {
			delete(local, x.bare())
		}
	}
	for _, pass := range []struct {
		local    bool
		declared map[string]rawVariableNo
	}{{false, declared}, {true, local}} {
		for i := range symbols {
			x := &symbols[i]
			if x.undefined || x.local != pass.local || told[x.address] || !a.mapped(x.address) {
				continue
			}
			name := x.bare()
			if n, ok := pass.declared[name]; ok {
				v := &a.variables[n]
				v.fixed, v.address, v.scope = true, x.address, 0
				told[x.address] = true
				delete(declared, name)
				delete(local, name)
			}
		}
	}
}

// declared returns the variables that units only declare, by the names of their
// symbols, and the addresses of the others.
func (a *assembly) declared() (declared map[string]rawVariableNo, told map[uint64]bool) {
	declared, told = map[string]rawVariableNo{}, map[uint64]bool{}
	for i := range a.variables {
		v := &a.variables[i]
		switch {
		case v.fixed && !v.thread:
			told[v.address] = true
		case v.declared:
			name := v.linkage
			if name == "" {
				name = v.name
			}
			if _, ok := declared[name]; !ok {
				declared[name] = rawVariableNo(i)
			}
		}
	}
	return declared, told
}

// extend gives variables the sizes of their symbols if these are larger: an array at
// the end continues, or its type has no length.
func (a *assembly) extend(symbols []symbol) {
	at := make(map[uint64]types.VariableNo, len(a.out.Globals))
	for _, n := range a.out.Globals {
		v := &a.out.Variables[n]
		if a.open(v.Type) {
			at[v.Address] = n
		}
	}
	if len(at) == 0 {
		return
	}
	for _, x := range symbols {
		if n, ok := at[x.address]; ok {
			v := &a.out.Variables[n]
			if size := int64(x.size); size > max(v.Size, a.out.Types[v.Type].Size) {
				v.Size = size
			}
		}
	}
}

// open reports whether variables of a type may be larger than the type is.
func (a *assembly) open(typ types.TypeNo) bool {
	for range maxDepth {
		typ = a.out.Strip(typ)
		t := &a.out.Types[typ]
		switch {
		case t.Size < 0 || t.Kind == types.Array && t.Count <= 0:
			return true
		case !t.Kind.Aggregate() || t.Members == 0:
			return false
		}
		typ = a.out.Members[t.End()-1].Type
	}
	return false
}
