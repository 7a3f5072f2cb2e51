package functions

import (
	"cmp"
	debugdwarf "debug/dwarf"
	"slices"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/symtab"
)

// mergedUnit is the name that gcc gives to a unit with the code of several source units that it
// optimized together (-flto). The unit's entries have code, and refer to entries in the source
// units. These have no code, but belong to the modules (S5).
const mergedUnit = "<artificial>"

// mergedCode is a function in a unit of merged code.
type mergedCode struct {
	offset uint64 // where the code starts in the file
	origin uint64 // the source unit's entry in .debug_info
}

// readMerged reads the functions of a unit of merged code.
func (a *adder) readMerged(u *dwarf.Unit, s, ranges *dwarf.Sections) error {
	if string(s.Text(u, debugdwarf.AttrName)) != mergedUnit {
		return nil
	}
	w := dwarf.NewWalk(s, u, struct{}{})
	for w.Next() {
		if w.Entry.Tag != debugdwarf.TagSubprogram || !w.Entry.HasOrigin {
			w.Skip()
			continue
		}
		if !w.Attributes() {
			continue
		}
		origin, ok := dwarf.Reference(u, w.Attrs.Get(debugdwarf.AttrAbstractOrigin))
		a.scratch = ranges.Ranges(a.scratch[:0], u, w.Attrs)
		for _, x := range a.scratch {
			if off, in := a.addresses.Offset(x.Low); ok && in {
				a.merged = append(a.merged, mergedCode{off, origin})
			}
		}
	}
	return w.Err
}

// assignMerged gives functions of merged code the modules of their source units. It also gives
// nested functions their names.
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
		if len(here) == 0 || string(s.Text(u, debugdwarf.AttrName)) == mergedUnit {
			return
		}
		module := a.module(u, u, s, nil)
		names, err := a.readProcedures(u, s, s)
		if err != nil {
			a.info.Damagedf(".debug_info", u.Offset, "the unit at offset %d of .debug_info: %v", u.Offset, err)
		}
		for _, x := range here {
			i, found := symtab.FindFunction(a.table.Functions, x.offset)
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
