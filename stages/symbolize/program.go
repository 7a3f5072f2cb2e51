// Package symbolize turns PCs into locations: which load object, function and
// source line an instruction belongs to, at the time it ran.
package symbolize

import (
	"cmp"
	"path"

	"stackmill/schema"
	"stackmill/stages/arena"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
)

// Program is the structure of the programs of one recording, as far as its
// stacks touch it. Objects, modules, functions and locations are referred to
// by their number.
type Program struct {
	Objects   []Object
	Modules   []Module
	Functions []Function
	Locations arena.List[Location]
	Relations map[FunctionNo]Relation // of clones, outline functions and bodies
	// Inlines are the functions inlined at each location, the outermost first;
	// known when the resolver has finished.
	Inlines [][]Level
	// versions gives the methods of a Java virtual machine's generated code.
	versions map[FunctionNo]FunctionNo

	modules   map[moduleKey]ModuleNo
	functions map[functionKey]FunctionNo
	locations locations

	objectIDs, functionIDs, locationIDs schema.IDs

	identified int // how many of the first locations have their identifiers
}

// Object is a row of load_objects.
type Object struct {
	ID                  int64
	Name, Path, BuildID string
	Checksum            uint32
	Kind                string // elf, dynamic, java, artificial, unknown
	Symbols             string // archive, path, cache, recording, none
	FunctionCount       int
	table               *symtab.Table
	file                string                 // from which table is, empty without one
	place               placing                // nil: as mapped
	numbers             map[uint64]FunctionNo  // functions of table by offset, as far as they were asked for
	byAddress           symtab.Addresses       // the regions of table, once they were asked for
	complain            func(touched bool)     // records what was wrong with its files
	referrers           map[uint64][]reference // of the bodies of parallel regions, once they were asked for
	held                map[uint64]FunctionNo  // the holders of their regions by the bodies' offsets, as far as they were asked for; None for none
	touched             bool
	lined               bool // a profile names its lines
	kernel              bool // it is the kernel or one of its modules
}

// isLinked reports whether the dynamic linker may find functions of it by their symbols: not
// those of the kernel, nor those that lists of generated code have.
func (o *Object) isLinked() bool { return o.table != nil && !o.kernel && len(o.table.Regions) > 0 }

// HasLines reports whether its source lines are known.
func (o *Object) HasLines() bool {
	return o.lined || o.table != nil && o.table.Lines.Len() > 0
}

// Module is a row of modules.
type Module struct {
	ID             int64
	Object         ObjectNo
	Name, Language string
	ShortPath      string // that builds in other directories share
}

// Function is a row of functions.
type Function struct {
	ID                     int64
	Object                 ObjectNo
	Module                 ModuleNo
	Name, Linkage, Aliases string
	GprofngName, PerfName  string // by the tools' choice of alias (S4)
	Kind                   funcinfo.Kind
	Scope                  funcinfo.NameScope // of the linkage name within the load object
	Address, Offset, Size  uint64
	Line                   int32 // where the source declares it, 0 if unknown
}

// Location is a row of locations.
type Location struct {
	id       int64 // LocationID
	Object   ObjectNo
	Function FunctionNo
	Offset   uint64
	funcinfo.Place
	Reason string
}

// Location returns a location, which is valid until the next one is added.
func (p *Program) Location(n LocationNo) *Location { return p.Locations.At(int(n)) }

// The kinds of functions that symbol tables do not have.
const (
	Dynamic                  = funcinfo.Dynamic
	Java       funcinfo.Kind = "java"
	Artificial funcinfo.Kind = "artificial"
	Kernel     funcinfo.Kind = "kernel"
	Unknown    funcinfo.Kind = "unknown"
)

const unknownModule = symtab.Unknown

type moduleKey struct {
	object ObjectNo
	name   string
}

type functionKey struct {
	object        ObjectNo
	module        ModuleNo
	linkage, name string
	address       uint64
	variant       uint64 // distinguishes pieces of generated code of one name
}

func newProgram() *Program {
	return &Program{
		Relations: map[FunctionNo]Relation{},
		versions:  map[FunctionNo]FunctionNo{},
		modules:   map[moduleKey]ModuleNo{},
		functions: map[functionKey]FunctionNo{},
		locations: newLocations(),
	}
}

// object adds a load object. One build that was mapped under several names is
// several objects: the ids of all but the first depend on their paths as well.
func (p *Program) object(o Object) ObjectNo {
	o.ID = p.objectIDs.Add("object", o.ID, o.Path)
	p.Objects = append(p.Objects, o)
	return ObjectNo(len(p.Objects) - 1)
}

func (p *Program) module(object ObjectNo, name, language string) ModuleNo {
	k := moduleKey{object, name}
	n, ok := p.modules[k]
	if !ok {
		n = ModuleNo(len(p.Modules))
		id := schema.NewID("module").Number(uint64(p.Objects[object].ID)).Text(name).Sum()
		p.Modules = append(p.Modules, Module{id, object, name, language, path.Base(name)})
		p.modules[k] = n
	}
	return n
}

// tableModule interns a module of an object's table.
func (p *Program) tableModule(object ObjectNo, m symtab.Module) ModuleNo {
	n := p.module(object, m.Name, m.Language)
	p.Modules[n].ShortPath = m.ShortPath
	return n
}

// function interns f; variant is 0 unless name and address do not identify it.
func (p *Program) function(f Function, variant uint64) FunctionNo {
	k := functionKey{f.Object, f.Module, f.Linkage, f.Name, f.Address, variant}
	n, ok := p.functions[k]
	if !ok {
		n = FunctionNo(len(p.Functions))
		name := f.Linkage
		if name == "" {
			name = f.Name
		}
		id := schema.NewID("function").Number(uint64(p.Objects[f.Object].ID)).
			Text(p.Modules[f.Module].Name).Text(name).Number(f.Address).Number(variant)
		f.ID = p.functionIDs.Add("function", id.Sum(), f.Name)
		f.GprofngName, f.PerfName = cmp.Or(f.GprofngName, f.Name), cmp.Or(f.PerfName, f.Name)
		p.Functions = append(p.Functions, f)
		p.functions[k] = n
	}
	return n
}
