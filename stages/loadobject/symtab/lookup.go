package symtab

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"stackmill/stages/loadobject/funcinfo"
)

// Function returns the function at an offset of the file; false outside of the executable regions.
// For code without a symbol it returns an artificial static function (S6), which fills the gap
// between two functions, or between a function and an end of the region.
func (t *Table) Function(off uint64) (Function, bool) {
	f := &t.Functions
	i := f.countUpTo(off)
	if i > 0 && off-f.offsets[i-1] < f.rest[i-1].size {
		return f.At(i - 1), true
	}
	r, ok := t.Region(off)
	if !ok {
		return Function{}, false
	}
	start, end := r.Offset, r.Offset+r.Size
	if i > 0 {
		start = max(start, f.end(i-1))
	}
	if i < f.Len() {
		end = min(end, f.offsets[i])
	}
	scope := funcinfo.BuildScope // the name contains the address, so it is unique only within a build
	if f.Len() == 0 {            // an object without symbols
		scope = funcinfo.ModuleScope
	}
	return Function{
		Scope:   scope,
		Offset:  start,
		Address: r.Address + (start - r.Offset),
		Size:    end - start,
		Name:    fmt.Sprintf("<static>@0x%x", start),
		Kind:    funcinfo.Static,
	}, true
}

// OfModule returns a copy of the table that has only the functions of one module.
func (t *Table) OfModule(module int) *Table {
	other := *t
	other.Functions = t.Functions.ofModule(int32(module))
	return &other
}

// Relocate returns a copy of a table of kernel symbols, with by added to the addresses. It omits
// the functions of kernel modules, which are loaded at addresses of their own.
func (t *Table) Relocate(by uint64) *Table {
	other := *t
	other.Functions = t.Functions.relocate(0, by)
	return &other
}

// PLT returns the function of the object's procedure linkage table; false without one. If the table
// has several sections, which are shown as one function, it returns the first of them.
func (t *Table) PLT() (Function, bool) {
	f := &t.Functions
	i := slices.IndexFunc(f.rest, func(r function) bool { return kinds[r.kind] == funcinfo.PLT })
	if i < 0 {
		return Function{}, false
	}
	return f.At(i), true
}

// Region returns the executable region at an offset of the file.
func (t *Table) Region(off uint64) (Region, bool) {
	return regionAt(t.Regions, off, func(r *Region) uint64 { return r.Offset })
}

// regionAt returns the region that contains at, from a list sorted by start.
func regionAt(list []Region, at uint64, start func(*Region) uint64) (Region, bool) {
	i := sort.Search(len(list), func(i int) bool { return start(&list[i]) > at })
	if i > 0 && at-start(&list[i-1]) < list[i-1].Size {
		return list[i-1], true
	}
	return Region{}, false
}

// Line returns the source file and line of the instruction at an offset of the
// file; false when the instruction has none (gprofng-experiment 6.7).
func (t *Table) Line(off uint64) (file string, line int32, ok bool) {
	p, ok := t.Place(off)
	return p.File, p.Line, ok
}

// Place returns the source position of an instruction: file and line as Line does, and
// discriminator.
func (t *Table) Place(off uint64) (p funcinfo.Place, ok bool) {
	i := t.Lines.Before(off)
	if i < 0 {
		return p, false
	}
	row := t.Lines.At(i)
	if row.File < 0 {
		return p, false
	}
	return t.place(row), true
}

// place returns a row's source position.
func (t *Table) place(row Row) funcinfo.Place {
	if row.File < 0 {
		return funcinfo.Place{}
	}
	return funcinfo.Place{File: t.Files[row.File], Line: row.Line, Discriminator: row.Discriminator}
}

// Addresses are a table's executable regions, sorted by address.
type Addresses []Region

// Addresses returns the table's executable regions, for lookups by link-time address.
func (t *Table) Addresses() Addresses {
	a := Addresses(slices.Clone(t.Regions))
	slices.SortStableFunc(a, func(x, y Region) int { return cmp.Compare(x.Address, y.Address) })
	return a
}

// Region returns the region that contains an address.
func (a Addresses) Region(addr uint64) (Region, bool) {
	return regionAt(a, addr, func(r *Region) uint64 { return r.Address })
}

// Offset converts a link-time virtual address to an offset in the file.
func (a Addresses) Offset(addr uint64) (uint64, bool) {
	r, ok := a.Region(addr)
	return r.Offset + (addr - r.Address), ok
}

// Bytes estimates the memory that the table takes, in bytes.
func (t *Table) Bytes() int64 {
	n := len(t.Segments)*40 + len(t.Regions)*48 + t.Functions.bytes() + len(t.Modules)*48 + t.Lines.Bytes()
	for _, s := range t.Slots {
		n += len(s.Symbol) + 32
	}
	for _, m := range t.Modules {
		n += len(m.Name) + len(m.ShortPath)
	}
	for _, s := range t.Files {
		n += len(s) + 16
	}
	n += t.Inlines.Rows.Bytes() + len(t.Inlines.Calls)*20 + len(t.Inlines.Regions)*16
	for _, f := range t.Inlines.Functions {
		n += len(f.Name) + len(f.Linkage) + 64
	}
	return int64(n)
}
