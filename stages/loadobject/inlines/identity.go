package inlines

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
)

// unnamed is the name of an inlined function that has no name, or whose name is in a missing file.
const unnamed = "(unknown)"

// deeper is the callee of all calls that are inlined deeper than maxLevels.
const deeper entryNo = -1

// identity identifies an inlined function. Different entries with the same identity describe one
// function: a function in a header has an entry in each unit that includes the header.
type identity struct {
	name         string // linkage name, or the name qualified with scopes and parameters
	linkage      bool
	file         int32 // of the declaration, -1 if unknown
	line, column int32
	unit         string // empty if the file is known
	ordinal      int    // distinguishes otherwise equal entries of one unit
}

type inlinedFunction struct {
	identity
	entry  entryNo // the first entry of the function to which a call refers
	symbol int     // index into the table's functions of its own code, -1 for none
}

// entryPosition identifies the entry of a function that has no linkage name.
type entryPosition struct {
	sections int32
	unit     uint64
	offset   uint64
}

func (a entryPosition) compare(b entryPosition) int {
	return cmp.Or(cmp.Compare(a.sections, b.sections), cmp.Compare(a.unit, b.unit), cmp.Compare(a.offset, b.offset))
}

// Finish adds the inlined functions to the table. units maps the units that were read only for
// these functions to their compilation directories. files are source files that became modules
// because they declare such functions.
func (r *Reader) Finish() (units map[string]string, files []string) {
	r.resolvePending()
	calls := r.table.Inlines.Calls
	numbers := map[entryNo]int32{}
	var entries []entryNo
	addEntry := func(n entryNo) {
		if _, known := numbers[n]; !known {
			numbers[n] = 0
			entries = append(entries, n)
		}
	}
	for i := range calls {
		addEntry(entryNo(calls[i].Function))
	}
	bodies := slices.Sorted(maps.Keys(r.bodies))
	for _, f := range bodies {
		addEntry(r.bodies[f])
	}
	for f, n := range r.starts {
		_, r.table.Functions[f].Line, _ = r.position(n)
	}
	identities := r.identities(entries)
	symbols := r.ownSymbols(entries, identities)
	known := map[inlinedFunction]int32{}
	var list []inlinedFunction
	for i, n := range entries {
		c := inlinedFunction{identity: identities[i], symbol: symbols[i]}
		no, again := known[c]
		if !again {
			no = int32(len(list))
			known[c] = no
			c.entry = n
			list = append(list, c)
		}
		numbers[n] = no
	}
	modules := newModules(r.table)
	for i := range list {
		r.table.Inlines.Functions = append(r.table.Inlines.Functions, r.function(&list[i], modules))
	}
	for i := range calls {
		calls[i].Function = numbers[entryNo(calls[i].Function)]
	}
	for _, f := range bodies {
		if n := r.bodies[f]; r.isKnown(n) {
			r.table.Inlines.Regions = append(r.table.Inlines.Regions, symtab.RegionHolder{Body: r.table.Functions[f].Offset, Function: numbers[n]})
		}
	}
	if _, known := numbers[deeper]; known {
		r.info.Remarkf("code is inlined more than %d levels deep: the deeper levels are shown as one, %s", maxLevels, symtab.DeeperInlined)
	}
	for _, n := range r.readable.Notes() {
		r.info.Note(n)
	}
	return r.directories, modules.files
}

// identities returns the identity of each entry's function.
func (r *Reader) identities(entries []entryNo) []identity {
	list := make([]identity, len(entries))
	positions := map[identity][]entryPosition{} // by identity, without the ordinal
	at := make([]entryPosition, len(entries))
	for i, n := range entries {
		if !r.isKnown(n) {
			list[i] = identity{name: unnamed, file: -1, ordinal: int(min(n, 0))}
			continue
		}
		list[i] = r.identity(n)
		if list[i].linkage {
			continue
		}
		last, _ := r.declaration(n)
		e := &r.entries[last]
		if at[i] = (entryPosition{offset: e.offset}); e.unit >= 0 {
			at[i].sections, at[i].unit = r.units[e.unit].sections, r.units[e.unit].offset
		}
		if !slices.Contains(positions[list[i]], at[i]) {
			positions[list[i]] = append(positions[list[i]], at[i])
		}
	}
	for _, x := range positions {
		slices.SortFunc(x, entryPosition.compare)
	}
	for i, n := range entries {
		if !r.isKnown(n) || list[i].linkage {
			continue
		}
		x := positions[list[i]]
		own, _ := slices.BinarySearchFunc(x, at[i], entryPosition.compare)
		for own > 0 && x[own-1].sections == at[i].sections && x[own-1].unit == at[i].unit {
			own--
			list[i].ordinal++
		}
	}
	return list
}

// isKnown reports whether an entry was read. An entry in a missing file never is.
func (r *Reader) isKnown(n entryNo) bool { return n > 0 && r.entries[n].flags&isRead != 0 }

// identity returns the identity of an entry's function, but with ordinal 0.
func (r *Reader) identity(n entryNo) identity {
	var id identity
	id.file, id.line, id.column = r.position(n)
	last, _ := r.declaration(n)
	if around := r.entries[last].around; id.line == 0 && r.inAggregate(around) { // generated by the compiler
		id.file, id.line, id.column = r.position(around)
	}
	if linkage := r.linkage(n); linkage != 0 {
		id.name, id.linkage, id.column = r.texts[linkage], true, 0
	} else {
		r.partsLeft, r.omitEmpty = maxParts, true
		id.name = r.spell(n, 0)
	}
	if e := &r.entries[last]; id.file < 0 && e.unit >= 0 && !(id.linkage && r.isExternal(n)) {
		id.unit = r.units[e.unit].module.Name
	}
	return id
}

// isExternal reports whether a function is visible to other units.
func (r *Reader) isExternal(n entryNo) bool {
	for _, e := range r.chain(max(n, 0)) {
		if e.flags&isExternal != 0 {
			return true
		}
	}
	return false
}

// ownSymbols finds the functions that also have code that is not inlined. It returns, for each
// entry, the index of its function in the table; -1 if there is none, or one in each of several
// units.
func (r *Reader) ownSymbols(entries []entryNo, identities []identity) []int {
	owners := map[int]identity{} // index of a function in the table -> the identity that owns it
	first := map[identity]entryNo{}
	for i, n := range entries {
		f, ok := r.symbols[n]
		if !ok || n <= 0 {
			continue
		}
		if first[identities[i]] == 0 {
			first[identities[i]] = n
		}
		// Several functions may share code, because the linker merges equal code. The owner of the
		// code is the function with the code's symbol.
		if before, known := owners[f]; !known || before != identities[i] && r.isNamed(n, f) && !r.isNamed(first[before], f) {
			owners[f] = identities[i]
		}
	}
	r.findLinked(entries, identities, owners)
	of := map[identity][]int{}
	for f, id := range owners {
		of[id] = append(of[id], f)
	}
	list := make([]int, len(entries))
	for i, n := range entries {
		f, ok := r.symbols[n]
		all := of[identities[i]]
		switch {
		case ok && n > 0 && owners[f] == identities[i]:
			list[i] = f
		case len(all) == 1:
			list[i] = all[0]
		default: // none, or a static function of each unit (S5)
			list[i] = -1
		}
	}
	return list
}

// symbolName returns the symbol of an entry's function, if it has one.
func (r *Reader) symbolName(n entryNo) string {
	if linkage := r.linkage(n); linkage != 0 {
		return r.texts[linkage]
	}
	_, name := r.declaration(n)
	return name
}

// isNamed reports whether the table's function f has the symbol of an entry's function.
func (r *Reader) isNamed(n entryNo, f int) bool {
	return slices.Contains(symtab.Split(r.table.Functions[f].Aliases), r.symbolName(n))
}

// findLinked finds, by symbol, the functions whose code that is not inlined is in a unit without
// debug information. It adds them to owners.
func (r *Reader) findLinked(entries []entryNo, identities []identity, owners map[int]identity) {
	owned := map[identity]bool{}
	for _, id := range owners {
		owned[id] = true
	}
	wanted := map[string]int{} // by symbol
	for i, n := range entries {
		if n > 0 && !owned[identities[i]] && r.isExternal(n) {
			wanted[r.symbolName(n)] = i
		}
	}
	if len(wanted) == 0 {
		return
	}
	for f := range r.table.Functions {
		g := &r.table.Functions[f]
		if _, known := owners[f]; known || g.Kind != funcinfo.Normal {
			continue
		}
		for _, symbol := range symtab.Split(g.Aliases) {
			if i, ok := wanted[symbol]; ok && (g.Line == 0 || g.Line == identities[i].line) {
				owners[f], g.Line = identities[i], identities[i].line
			}
		}
	}
}

// modules finds the table's modules by name, and adds new ones.
type modules struct {
	table   *symtab.Draft
	numbers map[string]int32
	files   []string // modules for files that declare functions
}

func newModules(t *symtab.Draft) *modules {
	m := &modules{table: t, numbers: map[string]int32{}}
	for i := range t.Modules {
		if _, known := m.numbers[t.Modules[i].Name]; !known {
			m.numbers[t.Modules[i].Name] = int32(i)
		}
	}
	return m
}

func (m *modules) intern(name, language string) int32 {
	if name == "" {
		return 0
	}
	n, ok := m.numbers[name]
	if !ok {
		n = int32(len(m.table.Modules))
		m.table.Modules = append(m.table.Modules, symtab.Module{Name: name, Language: language})
		m.numbers[name] = n
		m.files = append(m.files, name)
	}
	return n
}

// function converts an inlined function to the form in which the table stores it.
func (r *Reader) function(c *inlinedFunction, m *modules) symtab.InlinedFunction {
	if c.entry == deeper {
		return symtab.InlinedFunction{Name: symtab.DeeperInlined, Deeper: true}
	}
	f := symtab.InlinedFunction{Name: c.name, Scope: r.scopeOf(c), Start: c.line, ID: c.hash(r.table.Files)}
	switch {
	case c.linkage:
		f.Linkage, f.Name = dwarf.Valid(c.name), r.readable.Readable(c.name)
	case r.isKnown(c.entry):
		r.partsLeft, r.omitEmpty = maxParts, false
		if f.Name = r.spell(c.entry, 0); c.ordinal > 0 {
			f.Name += fmt.Sprintf(" #%d", c.ordinal+1)
		}
	}
	f.Name = dwarf.Valid(f.Name)
	name, language := c.unit, ""
	if last, _ := r.declaration(c.entry); c.entry > 0 && r.entries[last].unit >= 0 {
		unit := r.units[r.entries[last].unit].module
		if c.file >= 0 {
			name = r.table.Files[c.file]
		} else {
			name = unit.Name
		}
		if name == unit.Name {
			language = unit.Language
		}
	}
	f.Module = m.intern(name, language)
	if c.symbol >= 0 {
		own := &r.table.Functions[c.symbol]
		f.Own, f.Name = own.Offset, own.Name
	}
	return f
}

// scopeOf returns the scope in which an inlined function's name is unique: the same scope as if the
// function had a symbol in this load object.
func (r *Reader) scopeOf(c *inlinedFunction) funcinfo.NameScope {
	if !r.isKnown(c.entry) || !r.isExternal(c.entry) || strings.Contains(c.name, anonymousNamespace) {
		return funcinfo.ModuleScope
	}
	last, _ := r.declaration(c.entry)
	e := &r.entries[last]
	if c.linkage || e.unit >= 0 && isCFamily(r.units[e.unit].module.Language) && !r.inAggregate(e.around) {
		return funcinfo.ObjectScope
	}
	return funcinfo.ModuleScope
}

// anonymousNamespace occurs in the linkage names of functions in anonymous namespaces. These
// functions are local to a unit, although some compilers mark methods there as external.
const anonymousNamespace = "_GLOBAL__N_"

// hash returns a hash of the identity, which depends only on the debug information.
func (id *identity) hash(files []string) uint64 {
	h := xxhash.New()
	text := func(s string) { fmt.Fprintf(h, "%d:%s,", len(s), s) }
	text(id.name)
	text(id.unit)
	if id.file >= 0 {
		text(files[id.file])
	}
	fmt.Fprintf(h, "%t %d %d %d", id.linkage, id.line, id.column, id.ordinal)
	return h.Sum64()
}
