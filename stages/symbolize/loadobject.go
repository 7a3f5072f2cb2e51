package symbolize

import (
	"sync"

	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
)

const unknownModule = symtab.Unknown

// loadObject is the state of a load object in the resolver: its symbol table, and properties found
// in it on demand.
type loadObject struct {
	table         *symtab.Table
	file          string                        // of the table, empty without one
	placer        pcPlacer                      // nil: offsets are as mapped
	functions     map[uint64]program.FunctionNo // functions of table by offset
	byAddress     func() symtab.Addresses       // the regions of table
	report        func(touched bool)            // adds the problems of its files
	referrers     map[uint64][]bodyReference    // by offset of a parallel region's body
	regionHolders map[uint64]program.FunctionNo // by offset of a body; None for none
	touched       bool
	kernel        bool // it is the kernel or one of its modules
}

// isLinked reports whether the dynamic linker may find its functions by their symbols: not those
// of the kernel, nor those in lists of generated code.
func (o *loadObject) isLinked() bool { return o.table != nil && !o.kernel && len(o.table.Regions) > 0 }

func (o *loadObject) touch() { o.touched = true }

// objectDraft is a load object that the program does not have yet.
type objectDraft struct {
	program.Object
	loadObject
}

// addObject adds a load object to the program.
func (r *Resolver) addObject(o objectDraft) program.ObjectNo {
	if o.table != nil {
		o.Lines, o.byAddress = o.table.Lines.Len() > 0, sync.OnceValue(o.table.Addresses)
	}
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
