package dwarf

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"stackmill/stages/loadobject/symtab"
)

// module names a unit: by its own name, or by its first source file. The name of
// a skeleton unit is that of its split half.
func (a *adder) module(u, half *unit, names *sections, p *program) symtab.Module {
	dir := a.sections.text(u, attrCompDir)
	name, lang := names.text(half, attrName), half.attrs[attrLanguage].u
	if len(name) == 0 && p != nil {
		name = []byte(p.header.path(1))
	}
	if a.text += len(dir) + len(name); len(dir)+len(name) > maxPath || a.text > maxText {
		return a.table.Modules[0]
	}
	m := symtab.Module{Name: string(name), Language: language(lang)}
	switch {
	case len(name) == 0:
		return a.table.Modules[0]
	case m.Language == "Go": // the name is a package's, not a file's
	case path.IsAbs(m.Name):
		m.Name = path.Clean(m.Name)
	default:
		m.Name = path.Join(string(dir), m.Name)
	}
	m.Name = valid(m.Name)
	return m
}

// valid makes a name fit for columns of strings.
func valid(name string) string { return strings.ToValidUTF8(name, "\ufffd") }

// assign gives each function the module whose code it starts in, and the table
// the modules that have functions.
func (a *adder) assign() {
	slices.SortStableFunc(a.code, func(x, y moduleCode) int { return cmp.Compare(x.low, y.low) })
	i := 0
	var covering []moduleCode // that start at or before the function
	for n := range a.table.Functions {
		f := &a.table.Functions[n]
		if f.Kind == symtab.PLT {
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
