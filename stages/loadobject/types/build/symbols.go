package build

import (
	"cmp"
	debugelf "debug/elf"
	"maps"
	"strings"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/types"
)

// symbol is a symbol for data. It may be undefined: defined in another object.
type symbol struct {
	address, size uint64
	name          []byte // including its version
	undefined     bool
	local         bool // STB_LOCAL: of one unit, or hidden from other objects
}

// unversioned returns the name without its version.
func (x *symbol) unversioned() string {
	name, _, _ := strings.Cut(string(x.name), "@")
	return name
}

// symbols reads the symbols of the object and of the file with its debug information.
// It ignores damage, which the reader of functions notes.
func (r *reader) symbols() []symbol {
	var list []symbol
	files := []*elf.File{r.Object}
	if r.Source != r.Object {
		files = append(files, r.Source)
	}
	for _, f := range files {
		for _, kind := range []debugelf.SectionType{debugelf.SHT_SYMTAB, debugelf.SHT_DYNSYM} {
			for t, err := range f.SymbolTables(kind) {
				if err == nil {
					list = r.appendSymbols(list, f, t.Symbols, t.Names)
				}
			}
		}
	}
	return list
}

// appendSymbols appends the data symbols of one table.
func (r *reader) appendSymbols(list []symbol, f *elf.File, b, names []byte) []symbol {
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

// define gives variables that are only declared the addresses of the symbols with their names,
// because programs contain copies of their libraries' variables. Local symbols come last. They are
// not used if there is an undefined symbol of the name, because they may belong to a variable of
// another unit.
func (a *assembly) define(symbols []symbol) {
	declared, defined := a.declarations()
	if len(declared) == 0 {
		return
	}
	local := maps.Clone(declared)
	for i := range symbols {
		if x := &symbols[i]; x.undefined {
			delete(local, x.unversioned())
		}
	}
	for _, pass := range []struct {
		local    bool
		declared map[string]rawVariableNo
	}{{false, declared}, {true, local}} {
		for i := range symbols {
			x := &symbols[i]
			if x.undefined || x.local != pass.local || defined[x.address] || !a.isData(x.address) {
				continue
			}
			name := x.unversioned()
			if n, ok := pass.declared[name]; ok {
				v := &a.variables[n]
				v.static, v.address, v.scope = true, x.address, 0
				defined[x.address] = true
				delete(declared, name)
				delete(local, name)
			}
		}
	}
}

// declarations returns the variables that are only declared, by symbol, and the static addresses of
// all other variables.
func (a *assembly) declarations() (declared map[string]rawVariableNo, defined map[uint64]bool) {
	declared, defined = map[string]rawVariableNo{}, map[uint64]bool{}
	for i := range a.variables {
		v := &a.variables[i]
		switch {
		case v.static && !v.thread:
			defined[v.address] = true
		case v.declared:
			name := cmp.Or(v.linkage, v.name)
			if _, ok := declared[name]; !ok {
				declared[name] = rawVariableNo(i)
			}
		}
	}
	return declared, defined
}

// extend gives variables of open-ended types, such as flexible arrays, the sizes that their symbols
// have.
func (a *assembly) extend(symbols []symbol) {
	at := make(map[uint64]types.VariableNo, len(a.out.Globals))
	for _, n := range a.out.Globals {
		v := &a.out.Variables[n]
		if a.isOpenEnded(v.Type) {
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

// isOpenEnded reports whether a variable may be larger than its type, as with a flexible array.
func (a *assembly) isOpenEnded(typ types.TypeNo) bool {
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
