package dwarf

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"stackmill/stages/loadobject/bytereader"
	"stackmill/stages/loadobject/symtab"
)

// procedure is a procedure with code whose symbol does not tell its name: of
// Fortran the main program, a subroutine, a function or an alternate entry to one
// (S8), of GNU C a function within a function.
type procedure struct {
	offset  uint64 // in the file, of its first instruction or that of another part
	linkage string // empty when not told
	name    string // with the modules and procedures around it
}

const (
	tagEntryPoint = 0x03
	tagModule     = 0x1e
)

// procedureScope is what the entries below an entry are named in.
type procedureScope struct {
	path   string // of the entry
	outer  string // of what is around it, where alternate entries belong
	inside bool   // a procedure
}

// readProcedures reads the Fortran procedures of a unit: their symbols tell neither
// the main program's name nor what an internal procedure is internal to. Of C it
// reads what is within other functions.
func (a *adder) readProcedures(u *unit, s, ranges *sections) error {
	names, err := a.procedureNames(u, s, ranges)
	for _, offset := range slices.Sorted(maps.Keys(names)) { // those that are inlined
		n, ok := s.functions[offset]
		if ok && names[offset] != "" && !a.names.list[a.names.origins[n]].linkage {
			a.names.origins[n] = a.name(functionName{text: names[offset]})
		}
	}
	return err
}

// procedureNames reads a unit's procedures and adds those that have code. The
// result are the names that their symbols do not tell, by entry.
func (a *adder) procedureNames(u *unit, s, ranges *sections) (map[uint64]string, error) {
	lang := language(u.attrs[attrLanguage].u)
	if lang != "Fortran" && !(lang == "C" && a.hasNested()) {
		return nil, nil
	}
	abbrevs := s.abbrevs(u.abbrevs, u.format)
	c := u.entries
	var here procedureScope
	var around []procedureScope
	names := map[uint64]string{} // by the entry's offset
	copies := map[int]uint64{}   // of procedures without a name, the entry that has it
	for len(c.Rest) > 0 {
		offset := u.at(&c)
		code := c.ULEB()
		if code == 0 {
			if len(around) == 0 {
				break
			}
			here, around = around[len(around)-1], around[:len(around)-1]
			continue
		}
		d := abbrevs.get(code)
		if d == nil {
			return nil, fmt.Errorf("the entry at offset %d has no abbreviation", offset)
		}
		below, err := here, error(nil)
		switch {
		case d.tag == tagModule || d.tag == tagSubprogram || d.tag == tagEntryPoint:
			var e procedureEntry
			if err = e.read(&c, d, u, s); err != nil || c.Short {
				break
			}
			scope := here.path
			if d.tag == tagEntryPoint {
				scope = here.outer
			}
			name := e.name
			if name == "" {
				name = names[e.origin]
			} else if scope != "" {
				name = scope + "::" + name
			}
			if a.text += len(name); len(name) > maxPath || a.text > maxText {
				return nil, fmt.Errorf("the names of procedures are too long")
			}
			names[offset] = name
			below = procedureScope{name, here.path, here.inside || d.tag != tagModule}
			if lang == "C" && e.origin == 0 && !here.inside {
				break // its symbol is its name
			}
			a.spans = ranges.spans(a.spans[:0], u, e.code)
			if low, ok := ranges.address(u, e.code.low); ok && len(a.spans) == 0 {
				a.spans = append(a.spans, span{low: low}) // alternate entries have no end
			}
			for _, x := range a.spans {
				if off, ok := a.addresses.Offset(x.low); ok {
					if name == "" {
						copies[len(a.procedures)] = e.origin
					}
					a.procedures = append(a.procedures, procedure{off, e.linkage, name})
				}
			}
		case d.children && d.sibling && codeless(d.tag, here.inside):
			if err = u.jump(&c, d); err == nil {
				continue
			}
		default:
			err = u.format.skip(&c, d)
		}
		if err != nil {
			return nil, err
		}
		if d.children {
			if len(around) == maxNested {
				return nil, fmt.Errorf("the entry at offset %d is one of more than %d within each other", offset, maxNested)
			}
			around = append(around, here)
			here = below
		}
	}
	if lang == "C" { // the others' symbols are their names
		maps.DeleteFunc(names, func(_ uint64, name string) bool { return !strings.Contains(name, "::") })
	}
	for i, origin := range copies {
		a.procedures[i].name = names[origin]
	}
	if c.Short {
		return names, errShort
	}
	return names, nil
}

// hasNested reports whether a function may be within another one: gcc gives such
// symbols a number behind a dot, before what else it appends to them.
func (a *adder) hasNested() bool {
	if a.nested == nil {
		found := slices.ContainsFunc(a.table.Functions, func(f symtab.Function) bool {
			base, _ := symtab.CloneMarks(f.Linkage)
			i := strings.LastIndexByte(base, '.')
			return i > 0 && i+1 < len(base) && strings.Trim(base[i+1:], "0123456789") == ""
		})
		a.nested = &found
	}
	return *a.nested
}

// procedureEntry is what the entry of a module or procedure says.
type procedureEntry struct {
	name, linkage string
	origin        uint64 // the entry that has its name, 0 for none
	code          pcs
}

func (e *procedureEntry) read(c *bytereader.Reader, d *abbrev, u *unit, s *sections) error {
	text := func(v value) string {
		t := s.string(u, v)
		return string(t[:min(len(t), maxPath)])
	}
	return u.format.attributes(c, d, func(attr uint32, v value) {
		switch attr {
		case attrName:
			e.name = text(v)
		case attrLinkageName, attrMIPSLinkageName:
			e.linkage = text(v)
		case attrSpecification, attrOrigin:
			e.origin, _ = reference(u, v)
		case attrLowPC:
			e.code.low = v
		case attrHighPC:
			e.code.high = v
		case attrRanges:
			e.code.ranges = v
		}
	})
}

// nameProcedures gives the functions that are such procedures, and then their
// clones and cold parts, the procedures' names.
func (a *adder) nameProcedures() {
	if len(a.procedures) == 0 {
		return
	}
	type symbol struct {
		module  int32
		linkage string
	}
	renamed := map[symbol]string{}
	functions := a.table.Functions
	for _, p := range a.procedures {
		i := sort.Search(len(functions), func(i int) bool { return functions[i].Offset >= p.offset })
		if p.name == "" || i == len(functions) || functions[i].Offset != p.offset || functions[i].Kind == symtab.PLT {
			continue
		}
		f := &functions[i]
		base, clones := symtab.CloneMarks(f.Linkage)
		if p.linkage != "" && p.linkage != base && p.linkage != f.Linkage || f.Kind == symtab.Body {
			continue
		}
		name := valid(p.name)
		if known, _ := strings.CutSuffix(f.Name, clones); strings.HasSuffix(known, "::"+name) {
			name = known // DWARF 2 has no modules, the symbol has
		}
		f.Name = name + clones
		renamed[symbol{f.Module, base}] = name
	}
	for i := range functions {
		f := &functions[i]
		base, clones := symtab.CloneMarks(f.Linkage)
		if name, ok := renamed[symbol{f.Module, base}]; ok && clones != "" {
			f.Name = name + clones
		}
	}
}
