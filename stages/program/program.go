// Package program holds the program structure to which stacks refer: load objects, modules,
// functions, locations and inlined calls. It reads no files: stages fill it from load objects and
// recordings, and readers of a store from tables.
//
// Start reading with Program.
package program

import (
	"cmp"
	"path"

	"stackmill/internal/chunked"
	"stackmill/internal/memo"
	"stackmill/schema"
	"stackmill/stages/loadobject/funcinfo"
)

// Program is the structure of the programs of one recording: those parts that its stacks refer to.
type Program struct {
	Objects   []Object
	Modules   []Module
	Functions []Function
	Locations chunked.List[Location]
	Relations map[FunctionNo]Relation // clone, outline function or body -> its relation to the function that it was made from
	// Inlines has the functions inlined at each location, the outermost first. It is set once
	// all locations are known.
	Inlines [][]Level

	modules   map[moduleKey]ModuleNo
	functions map[functionKey]FunctionNo
	locations map[locationKey]LocationNo

	objectIDs, functionIDs, locationIDs schema.IDs

	identifiedCount int // number of locations, counted from the first, that have identifiers
}

// Object is a row of load_objects.
type Object struct {
	ID                  int64
	Name, Path, BuildID string
	Checksum            uint32
	Kind                string // elf, dynamic, java, artificial, unknown
	Symbols             string // archive, path, cache, recording, none
	FunctionCount       int
	Lines               bool // its source lines are known
}

// Module is a row of modules.
type Module struct {
	ID             int64
	Object         ObjectNo
	Name, Language string
	ShortPath      string // the same for builds in other directories
}

// Function is a row of functions.
type Function struct {
	ID                     int64
	Object                 ObjectNo
	Module                 ModuleNo
	Name, Linkage, Aliases string
	GprofngName, PerfName  string // the alias that the tool would choose (S4)
	Kind                   funcinfo.Kind
	Scope                  funcinfo.NameScope // scope of the linkage name within the load object
	Address, Offset, Size  uint64
	Line                   int32 // where the source declares it, 0 if unknown
}

// Location is a row of locations.
type Location struct {
	id       int64 // see Program.LocationID
	Object   ObjectNo
	Function FunctionNo
	Offset   uint64
	funcinfo.Place
	Reason string
}

// Location returns a location. The pointer is valid until the next one is added.
func (p *Program) Location(n LocationNo) *Location { return p.Locations.At(int(n)) }

// Total is the name of the artificial function that contains all samples, and of its load
// object.
const Total = "<Total>"

// The kinds of functions that are not in symbol tables.
const (
	Dynamic                  = funcinfo.Dynamic
	Java       funcinfo.Kind = "java"
	Artificial funcinfo.Kind = "artificial"
	Kernel     funcinfo.Kind = "kernel"
	Unknown    funcinfo.Kind = "unknown"
)

type moduleKey struct {
	object ObjectNo
	name   string
}

type functionKey struct {
	object        ObjectNo
	module        ModuleNo
	linkage, name string
	address       uint64
	variant       uint64 // distinguishes generated code of one name
}

// New returns an empty program.
func New() *Program {
	return &Program{
		Relations: map[FunctionNo]Relation{},
		modules:   map[moduleKey]ModuleNo{},
		functions: map[functionKey]FunctionNo{},
		locations: map[locationKey]LocationNo{},
	}
}

// AddObject adds a load object. If a build was mapped under several paths, each becomes an object;
// the IDs of all but the first also depend on the path.
func (p *Program) AddObject(o Object) ObjectNo {
	o.ID = p.objectIDs.Add("object", o.ID, o.Path)
	p.Objects = append(p.Objects, o)
	return ObjectNo(len(p.Objects) - 1)
}

// InternModule interns a module of a load object.
func (p *Program) InternModule(object ObjectNo, name, language string) ModuleNo {
	return memo.Get(p.modules, moduleKey{object, name}, func() ModuleNo {
		id := schema.NewID("module").Number(uint64(p.Objects[object].ID)).Text(name).Sum()
		p.Modules = append(p.Modules, Module{id, object, name, language, path.Base(name)})
		return ModuleNo(len(p.Modules) - 1)
	})
}

// InternFunction returns the number of f, and adds it if it is new. variant distinguishes functions
// with the same name and address, else it is 0.
func (p *Program) InternFunction(f Function, variant uint64) FunctionNo {
	k := functionKey{f.Object, f.Module, f.Linkage, f.Name, f.Address, variant}
	return memo.Get(p.functions, k, func() FunctionNo {
		name := cmp.Or(f.Linkage, f.Name)
		id := schema.NewID("function").Number(uint64(p.Objects[f.Object].ID)).
			Text(p.Modules[f.Module].Name).Text(name).Number(f.Address).Number(variant)
		f.ID = p.functionIDs.Add("function", id.Sum(), f.Name)
		f.GprofngName, f.PerfName = cmp.Or(f.GprofngName, f.Name), cmp.Or(f.PerfName, f.Name)
		p.Functions = append(p.Functions, f)
		return FunctionNo(len(p.Functions) - 1)
	})
}

// Load objects, modules, functions and locations are referred to by their index in the lists of
// a Program.
type (
	ObjectNo   int32
	ModuleNo   int32
	FunctionNo int32
	LocationNo int32
)

// None is an index of any of these types that refers to nothing.
const None = -1

// Life is the time during which an address or a stack means the same code: [From, Until), in ns
// from the founder's start.
type Life struct{ From, Until int64 }

// Intersect returns the time that belongs to both lives.
func (l Life) Intersect(other Life) Life {
	return Life{max(l.From, other.From), min(l.Until, other.Until)}
}

// Contains reports whether time t is in the life.
func (l Life) Contains(t int64) bool { return l.From <= t && t < l.Until }

// Inlined is the kind of functions that exist only as inlined code.
const Inlined funcinfo.Kind = "inlined"

// Level is one function in the chain of inlined functions at an instruction (S10).
type Level struct {
	Function       FunctionNo
	funcinfo.Place // source line in Function
}

// InlinedAt returns the chain of inlined functions at a location, the outermost function first.
func (p *Program) InlinedAt(location LocationNo) []Level {
	if p.Inlines == nil {
		return nil
	}
	return p.Inlines[location]
}

// Relation links a clone, outline function or body to the function from which a compiler made it.
type Relation struct {
	Main FunctionNo
	Line int32 // of a body: its first source line, 0 if unknown
}

// longestChain bounds how many relations are followed from a function: in a damaged object, they
// may form a cycle.
const longestChain = 8

// BodyOf returns the function that contains a parallel region (S11). function is the region's body,
// or a clone or outline function made from the body.
func (p *Program) BodyOf(function FunctionNo) (main FunctionNo, ok bool) {
	for range longestChain {
		relation, related := p.Relations[function]
		if !related {
			break
		}
		if p.Functions[function].Kind == funcinfo.Body {
			return relation.Main, true
		}
		function = relation.Main
	}
	return 0, false
}
