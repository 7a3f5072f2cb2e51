package symbolize

import (
	"fmt"
	"strings"
	"sync"

	"stackmill/internal/memo"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
	"stackmill/stages/symbolize/image"
)

// noChecksum is what Linux collectors write instead of a checksum, which they do not compute.
const noChecksum = 0xFFFFFFFF

// fileObject returns the load object of a mapped file. Processes share load objects.
func (r *Resolver) fileObject(im *image.Image, m *image.Mapping) program.ObjectNo {
	k := keyOf(m.MapEvent)
	return memo.Get(r.objects, k, func() program.ObjectNo {
		o := r.findObject(im, m, k)
		id, n, found := r.findSameFile(&o)
		if !found {
			n = r.addObject(o)
			r.objectsByFile[id] = n
		}
		return n
	})
}

// keyOf returns the key that identifies a mapped file within the recording.
func keyOf(m *decode.MapEvent) objectKey {
	k := objectKey{path: m.Path, checksum: m.Checksum, buildID: m.BuildID, byPath: m.ByPath, ambiguous: m.Ambiguous, file: m.File}
	if k.checksum == noChecksum {
		k.checksum = 0
	}
	return k
}

// unidentified returns the key without the build-id.
func (k objectKey) unidentified() objectKey {
	k.buildID, k.byPath, k.ambiguous = "", false, false
	return k
}

// resolveStatic returns the location of a PC in an object without symbols, in which each mapping is
// a static region (S6).
func (r *Resolver) resolveStatic(object program.ObjectNo, m *image.Mapping, offset uint64) program.LocationNo {
	p := r.Program
	f := program.Function{
		Object: object, Module: p.InternModule(object, unknownModule, ""), Kind: funcinfo.Static, Scope: funcinfo.ModuleScope,
		Name: fmt.Sprintf("<static>@%#x", m.FileOffset), Address: m.FileOffset, Offset: m.FileOffset, Size: m.Size,
	}
	return p.InternLocation(p.InternFunction(r.inKernel(f, m), 0), offset, "", nil)
}

// findNamed finds the function that code of a module means by a symbol: the function with this
// symbol in the same module, or else the only one, unless it is a static function of another
// module. It does not return outline functions, since compilers make no functions from them.
func (o *loadObject) findNamed(linkage, module string) (symtab.Function, bool) {
	candidates := o.table.Functions.BySymbol(linkage)
	shared := isShared(linkage)
	for _, i := range candidates {
		c := o.table.Functions.At(i)
		own := module != unknownModule && o.table.Modules[c.Module].Name == module
		only := len(candidates) == 1 && (module == unknownModule || c.Module == 0 || shared)
		if c.Kind != funcinfo.Outline && (own || only) {
			return c, true
		}
	}
	return symtab.Function{}, false
}

// mainName returns the linkage name of the function from which an outline function was made. It
// removes the mark of the outline function: gcc's `f.cold` and `f.unlikely`, clang's `f.cold.1`,
// Studio's `_$o1A12.f`.
func mainName(linkage string) string {
	if strings.HasPrefix(linkage, "_$o") {
		_, name, _ := strings.Cut(linkage, ".")
		return name
	}
	for _, mark := range []string{".cold", ".unlikely"} {
		if i := strings.LastIndex(linkage, mark); i > 0 {
			return linkage[:i]
		}
	}
	return linkage
}

const unknownModule = symtab.Unknown

// loadObject is what the resolver knows of a load object: its symbol table, and properties that it
// finds on demand.
type loadObject struct {
	table         *symtab.Table
	file          string                        // the file from which table was read, empty if there is none
	placer        pcPlacer                      // nil: the offsets in mappings are those in the table
	functions     map[uint64]program.FunctionNo // functions of table by offset
	byAddress     func() symtab.Addresses       // the code regions of table, by address
	report        func(touched bool)            // adds the problems of its files to the recording's
	referrers     map[uint64][]bodyReference    // result of Resolver.referrers, nil before its first call
	regionHolders map[uint64]program.FunctionNo // by offset of a body: the function that contains its region, or None
	touched       bool
	kernel        bool // it is the kernel or one of its modules
}

// isLinked reports whether the dynamic linker may find the object's functions by their symbols.
// This is not the case for the kernel and for lists of generated code.
func (o *loadObject) isLinked() bool { return o.table != nil && !o.kernel && len(o.table.Regions) > 0 }

func (o *loadObject) touch() { o.touched = true }

// objectDraft describes a load object that is not yet in the program.
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

// tableModule interns a module of an object's symbol table.
func (r *Resolver) tableModule(object program.ObjectNo, m symtab.Module) program.ModuleNo {
	p := r.Program
	n := p.InternModule(object, m.Name, m.Language)
	p.Modules[n].ShortPath = m.ShortPath
	return n
}
