package symtab

import (
	"cmp"
	debugelf "debug/elf"
	"errors"
	"slices"
	"sort"

	"stackmill/stages/loadobject/elf"
)

// Variable is a data symbol. Its type is unknown.
type Variable struct {
	Address, Size uint64 // link-time; bytes, at least 1
	Name          string
}

// Variables are the data symbols of a load object. They are not in its Table because only events
// with data addresses need them. They are immutable and safe for concurrent use.
type Variables struct {
	// List is sorted by address, then by descending size, then by name.
	List   []Variable
	Damage error // damage of the symbol tables, usually nil
}

// ReadVariables reads the data symbols of all symbol tables of a file. The result does not refer to
// the file's bytes.
func ReadVariables(f *elf.File) *Variables {
	v := &Variables{}
	left := 1<<20 + 8*len(f.Bytes()) // in a hostile file, each symbol's name could be the whole string table
	for t, err := range f.SymbolTables(debugelf.SHT_SYMTAB, debugelf.SHT_DYNSYM) {
		v.Damage = errors.Join(v.Damage, err)
		if left = v.add(f, t.Symbols, t.Names, left); left < 0 {
			v.Damage = errors.Join(v.Damage, errNames)
			break
		}
	}
	slices.SortStableFunc(v.List, func(a, b Variable) int {
		return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(b.Size, a.Size), cmp.Compare(a.Name, b.Name))
	})
	return v
}

// add appends the symbols of one table. left is how many bytes of names may be read. It returns how
// many are left; negative if they did not suffice.
func (v *Variables) add(f *elf.File, data, names []byte, left int) int {
	for s := range f.Symbols(data) {
		if s.Type != debugelf.STT_OBJECT || s.Section == debugelf.SHN_UNDEF || s.Size == 0 || s.Value+s.Size < s.Value {
			continue
		}
		name := elf.StringAt(names, uint64(s.Name))
		if left -= len(name); left < 0 {
			break
		}
		v.List = append(v.List, Variable{s.Value, s.Size, name})
	}
	return left
}

// At returns the index of the variable that contains a link-time address; false if none does. It
// considers only variables with the highest start that is not above the address.
func (v *Variables) At(address uint64) (int, bool) {
	i := sort.Search(len(v.List), func(i int) bool { return v.List[i].Address > address }) - 1
	for i > 0 && v.List[i-1].Address == v.List[i].Address { // the first of several aliases
		i--
	}
	if i < 0 || address-v.List[i].Address >= v.List[i].Size {
		return 0, false
	}
	return i, true
}

// Bytes estimates the memory that the variables take, in bytes.
func (v *Variables) Bytes() int64 {
	n := len(v.List) * 32
	for _, x := range v.List {
		n += len(x.Name)
	}
	return int64(n)
}
