package functions

import "stackmill/stages/loadobject/symtab"

// nameAda gives the functions of Ada's units their names: symbols have these in GNAT's
// encoding, which cannot be told from names in other languages.
func (a *adder) nameAda() {
	for i := range a.table.Functions {
		f := &a.table.Functions[i]
		if a.table.Modules[f.Module].Language != "Ada" {
			continue
		}
		base, clones := symtab.CloneMarks(f.Linkage)
		if name, ok := symtab.AdaName(base); ok {
			f.Name = name + clones
		}
	}
}
