// Package symbolize turns PCs into locations: the load object, function and source line of an
// instruction at the time it ran.
//
// Start reading with Process.Resolve; findObject (find.go) chooses the file of a load object.
package symbolize

import (
	"stackmill/internal/memo"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
	"stackmill/stages/symbolize/image"
)

// Tables loads the symbol table of a load object's file.
type Tables interface {
	Load(path string) (*symtab.Table, error)
}

// Resolver resolves the PCs of one recording. It is not safe for concurrent use.
type Resolver struct {
	Program *program.Program
	machineCode
	fileEvidence
	outsideCode

	rec              *decode.Recording
	objects          map[objectKey]program.ObjectNo
	objectsByFile    map[fileID]program.ObjectNo
	total            program.ObjectNo
	unknownObject    program.ObjectNo
	loadObjects      []loadObject // by program.ObjectNo
	inlinedFunctions map[inlinedKey]program.FunctionNo
	graph            callGraph
	inFiles          map[entry]program.LocationNo // load object and offset in its file -> location of a PC there
	functionCache    [functionCacheSize]cachedFunction
}

// fileEvidence caches what is known about the files of load objects.
type fileEvidence struct {
	StoredLists map[string]*StoredList // parts of symbol lists that a store keeps, by path

	locator     decode.Locator
	tables      Tables
	kernelID    string // the build-id of the kernel
	kernelLists map[*symtab.Table]kernelList
	mappings    *mappingTimes
	stat        func(path string) (localFile, bool) // statLocal
	localFiles  map[objectKey]localFile
	machine     *machineMatch
	owners      map[string]bool // the result of listOwners, nil before its first call
	loadings    imageLoadings   // the loadings of files in the image that was looked up last
}

// outsideCode caches what is known about code outside of files.
type outsideCode struct {
	pseudoObjects map[string]program.ObjectNo               // its load objects, by name
	generatedCode map[program.FunctionNo]*decode.Code       // the code of generated functions
	versions      map[program.FunctionNo]program.FunctionNo // the Java method of which a function is a version
	java          map[*decode.Process]bool                  // results of runsJava
	javaMaps      map[string]bool                           // paths of the lists of generated code of Java processes
	objectOf      map[*image.Mapping]program.ObjectNo       // by mapping: the load object that a profile names
	namedLevels   map[program.LocationNo][]program.Level    // by location: the inlined functions that a profile names
}

type objectKey struct {
	path      string
	checksum  uint32
	buildID   string
	byPath    bool // decode.MapEvent.ByPath
	ambiguous bool // decode.MapEvent.Ambiguous
	file      decode.FileID
}

// New returns a resolver for a recording. locator finds the files of its load objects.
func New(rec *decode.Recording, locator decode.Locator, tables Tables) *Resolver {
	r := &Resolver{
		Program: program.New(), rec: rec,
		fileEvidence: fileEvidence{
			locator: locator, tables: tables, kernelLists: map[*symtab.Table]kernelList{},
			stat: statLocal, localFiles: map[objectKey]localFile{},
		},
		outsideCode: outsideCode{
			pseudoObjects: map[string]program.ObjectNo{}, generatedCode: map[program.FunctionNo]*decode.Code{},
			versions: map[program.FunctionNo]program.FunctionNo{}, java: map[*decode.Process]bool{}, javaMaps: map[string]bool{},
			objectOf: map[*image.Mapping]program.ObjectNo{}, namedLevels: map[program.LocationNo][]program.Level{},
		},
		objects: map[objectKey]program.ObjectNo{}, objectsByFile: map[fileID]program.ObjectNo{},
		inlinedFunctions: map[inlinedKey]program.FunctionNo{}, graph: newCallGraph(), inFiles: map[entry]program.LocationNo{},
	}
	r.machineCode = machineCode{r, fileContents{rec: rec, blocks: map[block][]byte{}}}
	r.total, r.unknownObject = r.artificialObjects()
	return r
}

// Process resolves the addresses of one process.
type Process struct {
	Image    *image.Image
	Problems diagnostic.Log // problems of its mappings

	r         *Resolver
	withTable []objectMapping // mappings of files with symbols
	scopes    []scopePeriod   // in order of time, at least one
	recorded  *decode.Process
	finder    *image.Finder
	objects   map[*image.Mapping]program.ObjectNo // load objects of mapped files
	last      mappedObject                        // looked up last
	others    map[codePC]program.LocationNo       // locations of PCs outside of mapped files with symbols
}

// mappedObject is a mapping with its load object.
type mappedObject struct {
	mapping *image.Mapping
	object  program.ObjectNo
}

// codePC is a PC with the mapping that contained it, nil if nothing was mapped there.
type codePC struct {
	pc      uint64
	mapping *image.Mapping
}

// Resolution is the location that a PC has in the time [From, Until), in ns from the founder's
// start.
type Resolution struct {
	From, Until int64
	Location    program.LocationNo
}

// Process returns the resolver of a process's addresses. mapFile is the file named in problems with
// its address space.
func (r *Resolver) Process(p *decode.Process, mapFile string) *Process {
	pr := &Process{r: r, recorded: p, objects: map[*image.Mapping]program.ObjectNo{}, others: map[codePC]program.LocationNo{}}
	pr.Image = image.New(p.Mappings, mapFile, &pr.Problems)
	pr.finder = pr.Image.Finder()
	java := r.runsJava(p)
	var mapped []objectMapping
	for _, m := range pr.Image.Mappings {
		if java && decode.IsPerfMap(m.Path) {
			r.javaMaps[m.Path] = true
		}
		if m.Executable() && m.Code == nil {
			n := r.fileObject(pr.Image, m)
			o := &r.loadObjects[n]
			if o.table != nil {
				pr.withTable = append(pr.withTable, objectMapping{m, n})
			}
			if o.isLinked() {
				mapped = append(mapped, objectMapping{m, n})
			}
		}
	}
	pr.scopes = r.scopesOf(mapped)
	return pr
}

// Resolve returns the location of a PC at time t. It marks the load object that owns the PC at t as
// touched.
func (pr *Process) Resolve(pc uint64, t int64) Resolution {
	owner := pr.finder.At(pc, t)
	return Resolution{owner.From, owner.Until, pr.locate(pc, owner.Mapping)}
}

// locate returns the location of a PC in a mapping. For offsets in files, all processes share the
// cached results.
func (pr *Process) locate(pc uint64, m *image.Mapping) program.LocationNo {
	n, offset, inFile := pr.inFile(pc, m)
	if inFile {
		pr.r.loadObjects[n].touch()
		if location, known := pr.r.inFiles[entry{n, offset}]; known {
			return location
		}
	}
	k := codePC{pc, m}
	location, known := pr.others[k]
	if known {
		return location
	}
	location = pr.resolve(pc, m)
	if l := pr.r.Program.Location(location); inFile && l.Object == n && l.Offset == offset && l.Reason == "" {
		pr.r.inFiles[entry{n, offset}] = location
	} else {
		pr.others[k] = location // the location's offset is the PC
	}
	return location
}

// inFile returns the load object of a mapping and the offset of a PC in its symbol table. ok is
// false unless the mapping is code of a file with symbols.
func (pr *Process) inFile(pc uint64, m *image.Mapping) (n program.ObjectNo, offset uint64, ok bool) {
	if m == nil || m.Code != nil || !m.Executable() {
		return program.None, 0, false
	}
	if pr.last.mapping != m {
		pr.last = mappedObject{m, memo.Get(pr.objects, m, func() program.ObjectNo { return pr.r.fileObject(pr.Image, m) })}
	}
	n = pr.last.object
	o := &pr.r.loadObjects[n]
	if o.table != nil && o.placer != nil {
		offset, ok = o.placer(m, pc)
		return n, offset, ok
	}
	return n, m.FileOffset + (pc - m.Address), o.table != nil
}

// Segments calls yield for each mapping of a load object, with the object's identifier. Mapped
// files that are never executable are not load objects.
func (pr *Process) Segments(yield func(m *image.Mapping, object int64)) {
	text := map[string]bool{}
	for _, m := range pr.Image.Mappings {
		if m.Executable() && m.Code == nil {
			text[m.Path] = true
		}
	}
	p := pr.r.Program
	for _, m := range pr.Image.Mappings {
		switch {
		case m.Code != nil && m.Code.Symbols != nil && len(m.Code.Symbols.Locations) > 0: // not addresses, but numbers of locations that a profile names
		case m.Code != nil:
			yield(m, p.Objects[pr.r.codeObject(m)].ID)
		case text[m.Path]:
			yield(m, p.Objects[pr.r.fileObject(pr.Image, m)].ID)
		}
	}
}

func (pr *Process) resolve(pc uint64, m *image.Mapping) program.LocationNo {
	r := pr.r
	switch {
	case len(pr.Image.Mappings) == 0:
		return r.unknown(pc, ReasonNoImage)
	case m == nil && r.IsKernel(pc):
		return r.unknown(pc, ReasonKernel)
	case m == nil:
		return r.unknown(pc, ReasonNoObject)
	case m.Code != nil:
		return r.resolveCode(pc, m, pr.recorded)
	case !m.Executable():
		return r.unknown(pc, ReasonData)
	}
	n, offset, ok := pr.inFile(pc, m)
	o := &r.loadObjects[n]
	o.touch()
	if ok {
		if f, found := r.functionAt(n, offset, r.IsKernel(pc)); found {
			return r.LocationAt(f, offset)
		}
	}
	if outside := r.reasonOutside(m); o.table != nil || outside != ReasonData {
		return r.outside(n, m, pc, outside)
	}
	return r.resolveStatic(n, m, offset)
}

// outside returns the location of a PC that is in a mapping of a load object, but in none of its
// known functions. The location is in no load object if the code was made at run time, or is kernel
// code outside of the recorded range.
func (r *Resolver) outside(n program.ObjectNo, m *image.Mapping, pc uint64, reason string) program.LocationNo {
	if decode.IsPerfMap(m.Path) || m.Path == decode.KernelPath && !r.rec.Kernel.Maps(pc) {
		return r.unknown(pc, reason)
	}
	return r.unknownIn(n, m.FileOffset+(pc-m.Address), reason)
}

// reasonOutside returns the reason why a PC in a load object's mapping is in no function. Symbol
// lists may lack functions.
func (r *Resolver) reasonOutside(m *image.Mapping) string {
	switch {
	case m.Path == decode.KernelPath || r.IsKernel(m.Address):
		return ReasonKernel
	case decode.IsPerfMap(m.Path):
		return ReasonGenerated
	}
	return ReasonData
}

// functionCacheSize is the number of cached functions. Offsets near each other, such as a call's
// and its return address's, share a slot.
const functionCacheSize = 1 << 12

// cachedFunction is a function with its first offset and its size in the file.
type cachedFunction struct {
	object     program.ObjectNo
	number     program.FunctionNo
	from, size uint64
}

// functionAt returns the function at an offset of an object with a symbol table.
func (r *Resolver) functionAt(object program.ObjectNo, offset uint64, kernel bool) (program.FunctionNo, bool) {
	near := &r.functionCache[(offset>>7^uint64(object))%functionCacheSize]
	if near.object != object || offset-near.from >= near.size {
		f, ok := r.loadObjects[object].table.Function(offset)
		if !ok {
			return program.None, false
		}
		if kernel {
			f.Kind = program.Kernel
		}
		*near = cachedFunction{object, r.tableFunction(object, f), f.Offset, f.Size}
	}
	return near.number, true
}

// tableFunction returns the number of a function of an object's symbol table, and adds the function
// if it is new.
func (r *Resolver) tableFunction(object program.ObjectNo, f symtab.Function) program.FunctionNo {
	p := r.Program
	o := &r.loadObjects[object]
	if n, known := o.functions[f.Offset]; known && p.Functions[n].Linkage == f.Linkage {
		return n
	}
	if o.functions == nil {
		o.functions = map[uint64]program.FunctionNo{}
	}
	n := r.newTableFunction(object, f)
	r.loadObjects[object].functions[f.Offset] = n
	return n
}

// newTableFunction adds a function of an object's symbol table to the program.
func (r *Resolver) newTableFunction(object program.ObjectNo, f symtab.Function) program.FunctionNo {
	p := r.Program
	t := r.loadObjects[object].table
	if f.Kind == funcinfo.PLT {
		f, _ = t.PLT()
	}
	m := t.Modules[f.Module]
	f.Kind = kindOf(f)
	if name := counterFunction(f.Linkage, p.Objects[object].Name); name != "" {
		f.Name, f.Kind = name, program.Artificial
	}
	known := len(p.Functions)
	n := p.InternFunction(program.Function{
		Object: object, Module: r.tableModule(object, m), Scope: f.Scope,
		Name: f.Name, Linkage: f.Linkage, Aliases: f.Aliases, GprofngName: f.GprofngName, PerfName: f.PerfName, Kind: f.Kind,
		Address: f.Address, Offset: f.Offset, Size: f.Size, Line: f.Line,
	}, 0)
	if len(p.Functions) > known {
		r.relate(n, f)
		if r.javaMaps[p.Objects[object].Path] {
			r.addVersion(n)
		}
	}
	return n
}

// Finish completes the program once all stacks are resolved. It sets the functions inlined at
// locations, adds the problems of load objects (as Info if no PC is in the object), closes their
// files, and frees the call graph, which may need as much memory as everything else.
func (r *Resolver) Finish() {
	r.findInlineChains()
	r.closeFiles()
	for i := range r.loadObjects {
		o := &r.loadObjects[i]
		if o.report != nil {
			o.report(o.touched)
		}
		o.referrers = nil
	}
	r.graph = newCallGraph()
}

// Faulted reports whether err is a host error, and records it, as decode.Recording.KeepHostError
// does.
func (r *Resolver) Faulted(err error) bool { return r.rec.KeepHostError(err) }

func (r *Resolver) problem(s diagnostic.Severity, path, reason, message string) {
	r.rec.Problems.Add(diagnostic.Problem{Severity: s, File: path, Offset: diagnostic.NoOffset, Reason: reason, Message: message})
}
