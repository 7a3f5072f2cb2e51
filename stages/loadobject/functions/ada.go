package functions

import "stackmill/stages/loadobject/symtab"

// nameAda decodes the names of Ada functions. It does so only in Ada units, because GNAT's encoding
// looks like ordinary names in other languages.
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
