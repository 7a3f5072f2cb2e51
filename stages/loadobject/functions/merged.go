package functions

import (
	"cmp"
	"slices"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/symtab"
)

// mergedUnit is gcc's name of a unit with the code of several, optimised together
// (-flto). Its entries complete those of the source's units, which have no code but the
// modules (S5).
const mergedUnit = "<artificial>"

// mergedCode is the start of a function's code and the entry that it completes.
type mergedCode struct {
	offset uint64 // in the file
	origin uint64 // in .debug_info
}

// readMerged reads which functions of the source a unit of merged code contains.
func (a *adder) readMerged(u *dwarf.Unit, s, ranges *dwarf.Sections) error {
	if string(s.Text(u, dwarf.AttrName)) != mergedUnit {
		return nil
	}
	w := dwarf.WalkOf(s, u, struct{}{})
	for w.Next() {
		if w.Entry.Tag != dwarf.TagSubprogram || !w.Entry.Origin {
			w.Skip()
			continue
		}
		var code dwarf.Code
		var ref dwarf.Value
		if !w.Attributes(func(attr uint32, v dwarf.Value) {
			if code.Set(attr, v); attr == dwarf.AttrOrigin {
				ref = v
			}
		}) {
			continue
		}
		origin, ok := dwarf.Reference(u, ref)
		a.spans = ranges.Spans(a.spans[:0], u, code)
		for _, x := range a.spans {
			if off, in := a.addresses.Offset(x.Low); ok && in {
				a.merged = append(a.merged, mergedCode{off, origin})
			}
		}
	}
	return w.Err
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
	s := a.info.Sections
	s.Units(func(u *dwarf.Unit) {
		n := 0
		for n < len(list) && list[n].origin < u.Offset+u.Size {
			n++
		}
		here := list[:n]
		list = list[n:]
		if len(here) == 0 || string(s.Text(u, dwarf.AttrName)) == mergedUnit {
			return
		}
		module := a.module(u, u, s, nil)
		names, err := a.procedureNames(u, s, s)
		if err != nil {
			a.info.Damagedf(".debug_info", u.Offset, "the unit at offset %d of .debug_info: %v", u.Offset, err)
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
