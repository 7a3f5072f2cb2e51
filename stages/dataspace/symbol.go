package dataspace

import (
	"cmp"
	"slices"
	"sort"

	elfobject "stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/symbolize"
)

// symbol is a variable that only the symbol table tells of, without its type.
type symbol struct {
	address, size uint64 // link-time; bytes
	name          string
}

// findSymbols reads the symbols of a load object's data.
func (o *object) findSymbols() {
	o.data = []symbol{}
	err := o.read(func(f *elfobject.File) error {
		list := symtab.ReadVariables(f)
		for _, s := range list.List {
			o.data = append(o.data, symbol{s.Address, s.Size, s.Name})
		}
		return list.Damage
	})
	if err != nil && !o.resolver.Faulted(err) {
		o.space.problem(o.resolver.Program.Objects[o.number].Path, "symbols of data", err)
	}
	slices.SortStableFunc(o.data, func(a, b symbol) int {
		return cmp.Or(cmp.Compare(a.address, b.address), cmp.Compare(b.size, a.size), cmp.Compare(a.name, b.name))
	})
}

// read passes the load object's file.
func (o *object) read(use func(*elfobject.File) error) error {
	path := o.resolver.ObjectFile(o.number)
	f, err := elfobject.Open(path)
	if err != nil {
		o.resolver.Faulted(err)
		return err
	}
	defer f.Close()
	fault := elfobject.Guard(path, func() { err = use(f) })
	return cmp.Or(fault, err)
}

// symbolAt returns the number of the symbol at a link-time address, None for none.
func (o *object) symbolAt(at uint64) symbolNo {
	if o.data == nil {
		o.findSymbols()
	}
	i := sort.Search(len(o.data), func(i int) bool { return o.data[i].address > at }) - 1
	for i > 0 && o.data[i-1].address == o.data[i].address { // of aliases, the first
		i--
	}
	if i < 0 || at-o.data[i].address >= o.data[i].size {
		return symbolize.None
	}
	return symbolNo(i)
}

// maxScalar is the size of the largest scalars, bytes.
const maxScalar = 16

// symbolObject returns the data object of a symbol. Its type is not known; that
// it is an aggregate, its size tells.
func (s *Space) symbolObject(o *object, n symbolNo) ObjectNo {
	x := &o.data[n]
	k := objectKey{parent: Scalars, load: o.number, member: none, scopeKind: ScopeLoadObject,
		scope: s.resolver.Program.Objects[o.number].Name, descriptor: "{- " + x.name + "}"}
	kind := KindScalar
	if x.size > maxScalar {
		kind, k.parent = KindAggregate, Total
	}
	number, _ := s.intern(k, func() Object {
		return Object{Kind: kind, Name: x.name, Type: "-", Offset: -1, Size: int64(x.size)}
	})
	return number
}
