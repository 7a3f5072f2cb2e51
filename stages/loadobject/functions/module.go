package functions

import (
	"cmp"
	debugdwarf "debug/dwarf"
	"slices"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/lines"
	"stackmill/stages/loadobject/symtab"
)

// module returns a unit's module, named after the unit or its first source file.
func (a *adder) module(u, split *dwarf.Unit, names *dwarf.Sections, p *lines.Program) symtab.Module {
	name, language := a.info.UnitName(u, split, names, p.FirstFile())
	if name == "" {
		return a.table.Modules[0]
	}
	if _, known := a.directories[name]; !known && language != "Go" {
		a.directories[name] = string(a.info.Sections.Text(u, debugdwarf.AttrCompDir))
	}
	return symtab.Module{Name: name, Language: language}
}

// assign gives each function its module: the module whose code contains the function's start. It
// adds these modules to the table.
func (a *adder) assign() {
	slices.SortStableFunc(a.code, func(x, y moduleCode) int { return cmp.Compare(x.low, y.low) })
	i := 0
	var covering []moduleCode // modules whose code starts at or before the function
	for n := range a.table.Functions {
		f := &a.table.Functions[n]
		if f.Kind == funcinfo.PLT {
			continue
		}
		for ; i < len(a.code) && a.code[i].low <= f.Offset; i++ {
			covering = append(covering, a.code[i])
		}
		for len(covering) > 0 && covering[len(covering)-1].high <= f.Offset {
			covering = covering[:len(covering)-1]
		}
		if len(covering) > 0 {
			f.Module = a.moduleIndex(covering[len(covering)-1].module)
		}
	}
}

func (a *adder) moduleIndex(m symtab.Module) int32 {
	i, ok := a.modules[m]
	if !ok {
		i = int32(len(a.table.Modules))
		a.table.Modules = append(a.table.Modules, m)
		a.modules[m] = i
	}
	return i
}
