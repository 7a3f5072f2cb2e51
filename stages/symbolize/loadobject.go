package symbolize

import (
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
)

const unknownModule = symtab.Unknown

// loadObject is what the resolver has of a load object: the table of its symbols, and what it
// found in it.
type loadObject struct {
	table         *symtab.Table
	file          string                        // from which table is, empty without one
	placer        pcPlacer                      // nil: as mapped
	functions     map[uint64]program.FunctionNo // functions of table by offset, as far as they were asked for
	byAddress     symtab.Addresses              // the regions of table, once they were asked for
	report        func(touched bool)            // records what was wrong with its files
	referrers     map[uint64][]bodyReference    // of the bodies of parallel regions, once they were asked for
	regionHolders map[uint64]program.FunctionNo // the holders of their regions by the bodies' offsets, as far as they were asked for; None for none
	touched       bool
	kernel        bool // it is the kernel or one of its modules
}

// isLinked reports whether the dynamic linker may find functions of it by their symbols: not
// those of the kernel, nor those that lists of generated code have.
func (o *loadObject) isLinked() bool { return o.table != nil && !o.kernel && len(o.table.Regions) > 0 }

func (o *loadObject) touch() { o.touched = true }

// objectDraft is a load object that is not yet in the program.
type objectDraft struct {
	program.Object
	loadObject
}

// addObject adds a load object to the program.
func (r *Resolver) addObject(o objectDraft) program.ObjectNo {
	o.Lines = o.table != nil && o.table.Lines.Len() > 0
	r.loadObjects = append(r.loadObjects, o.loadObject)
	return r.Program.AddObject(o.Object)
}

// tableModule interns a module of an object's table.
func (r *Resolver) tableModule(object program.ObjectNo, m symtab.Module) program.ModuleNo {
	p := r.Program
	n := p.InternModule(object, m.Name, m.Language)
	p.Modules[n].ShortPath = m.ShortPath
	return n
}
