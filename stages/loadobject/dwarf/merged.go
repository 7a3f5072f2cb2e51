package dwarf

import (
	"cmp"
	"slices"

	"stackmill/stages/loadobject/symtab"
)

// mergedUnit is what gcc calls a unit that holds the code of several, optimised
// together (-flto). Its entries complete those of the source's units, which have no
// code: they tell the modules (S5).
const mergedUnit = "<artificial>"

// mergedCode is the start of a function's code and the entry that it completes.
type mergedCode struct {
	offset uint64 // in the file
	origin uint64 // in .debug_info
}

// readMerged reads which functions of the source a unit of merged code has.
func (a *adder) readMerged(u *unit, s, ranges *sections) error {
	if string(s.text(u, attrName)) != mergedUnit {
		return nil
	}
	w := walkOf(s, u, struct{}{})
	for w.next() {
		if w.entry.tag != tagSubprogram || !w.entry.origin {
			w.skip()
			continue
		}
		var code pcs
		var ref value
		if !w.attributes(func(attr uint32, v value) {
			if code.set(attr, v); attr == attrOrigin {
				ref = v
			}
		}) {
			continue
		}
		origin, ok := reference(u, ref)
		a.spans = ranges.spans(a.spans[:0], u, code)
		for _, x := range a.spans {
			if off, in := a.addresses.Offset(x.low); ok && in {
				a.merged = append(a.merged, mergedCode{off, origin})
			}
		}
	}
	return w.err
}

// assignMerged gives the functions of merged code the modules of the source's
// units, and those within other functions their names.
func (a *adder) assignMerged() {
	list := a.merged
	slices.SortFunc(list, func(x, y mergedCode) int {
		return cmp.Or(cmp.Compare(x.origin, y.origin), cmp.Compare(x.offset, y.offset))
	})
	if len(list) == 0 {
		return
	}
	s := a.info.sections
	s.units(func(u *unit) {
		n := 0
		for n < len(list) && list[n].origin < u.offset+u.size {
			n++
		}
		here := list[:n]
		list = list[n:]
		if len(here) == 0 || string(s.text(u, attrName)) == mergedUnit {
			return
		}
		module := a.module(u, u, s, nil)
		names, err := a.procedureNames(u, s, s)
		if err != nil {
			a.info.damagedf(".debug_info", u.offset, "the unit at offset %d of .debug_info: %v", u.offset, err)
		}
		for _, x := range here {
			i, found := slices.BinarySearchFunc(a.table.Functions, x.offset, func(f symtab.Function, off uint64) int { return cmp.Compare(f.Offset, off) })
			if !found {
				continue
			}
			if module != a.table.Modules[0] {
				a.table.Functions[i].Module = a.moduleIndex(module)
			}
			if name := names[x.origin]; name != "" {
				a.procedures = append(a.procedures, procedure{offset: x.offset, name: name})
			}
		}
	}, func(uint64, error) {})
}
