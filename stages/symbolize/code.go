package symbolize

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/cespare/xxhash/v2"

	"stackmill/internal/memo"
	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/isa"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
	"stackmill/stages/symbolize/image"
)

// resolveCode resolves a PC in code outside of files: the vdso, functions that a JIT compiler
// announced (S13), compiled Java methods.
func (r *Resolver) resolveCode(pc uint64, m *image.Mapping, proc *decode.Process) program.LocationNo {
	c := m.Code
	offset := pc - m.Address
	switch {
	case c.Symbols != nil:
		return r.resolveNamed(m, pc)
	case c.Reason != "":
		return r.unknownIn(r.codeObject(m), m.FileOffset+offset, c.Reason)
	case c.Method != 0:
		return r.compiledMethod(proc, c.Method, offset, pc)
	case isGenerated(m):
		return r.resolveGenerated(c, m, proc, offset)
	}
	o := r.codeObject(m)
	f := codeFunction(c, m, pc, archOf(r.rec))
	f.Object, f.Module = o, r.Program.InternModule(o, unknownModule, "")
	f = r.inKernel(f, m)
	return r.Program.InternLocation(r.Program.InternFunction(f, 0), offset, "", nil)
}

// isGenerated reports whether a mapping is a single function generated at run time, not a region
// like `[vdso]`.
func isGenerated(m *image.Mapping) bool {
	return m.Code.Function != "" && !strings.HasPrefix(m.Path, "[")
}

// codeObject returns the load object of code outside of files.
func (r *Resolver) codeObject(m *image.Mapping) program.ObjectNo {
	switch {
	case m.Code.Symbols != nil:
		return r.namedObject(m)
	case m.Code.Method != 0:
		return r.pseudoObject(javaObject, "java", "recording")
	case m.Code.Reason != "":
		return r.pseudoObject(m.Path, "unknown", "recording")
	case isGenerated(m):
		return r.pseudoObject(decode.GeneratedPath, "dynamic", "recording")
	}
	return r.pseudoObject(m.Path, "dynamic", "recording")
}

// resolveGenerated returns the location at an offset of a function that was generated at run time.
// Name and instructions identify the function, not its address (S2).
func (r *Resolver) resolveGenerated(c *decode.Code, m *image.Mapping, proc *decode.Process, offset uint64) program.LocationNo {
	p := r.Program
	o := r.codeObject(m)
	module := unknownModule
	if c.File != "" {
		module = c.File
	}
	f := program.Function{
		Object: o, Module: p.InternModule(o, module, ""), Kind: program.Dynamic, Scope: funcinfo.ModuleScope,
		Name: c.Function, Linkage: c.Function, Aliases: c.Function, Size: m.Size,
	}
	n := p.InternFunction(f, xxhash.Sum64(c.Bytes)^m.Size)
	if r.generatedCode[n] = c; r.runsJava(proc) {
		r.addVersion(n)
	}
	return p.InternLocation(n, offset, "", func() funcinfo.Place { return lineAt(c, offset) })
}

// lineAt returns the source line at an offset of generated code, none if its file has no name.
func lineAt(c *decode.Code, offset uint64) (place funcinfo.Place) {
	i := sort.Search(len(c.Lines), func(i int) bool { return uint64(c.Lines[i].Offset) > offset })
	if i == 0 {
		return place
	}
	l := c.Lines[i-1]
	if file := cmp.Or(l.File, c.File); file != "" {
		place = funcinfo.Place{File: file, Line: l.Line}
	}
	return place
}

// codeFunction finds the function of a PC in a region with several functions, such as the vdso. It
// adds signal trampolines, which the vdso's symbol table lacks (S24). Code that no function covers
// is a static region (S6).
func codeFunction(c *decode.Code, m *image.Mapping, pc uint64, arch isa.Arch) program.Function {
	fs := append([]decode.CodeFunction{}, c.Functions...)
	symtab.Trampolines(arch, c.Bytes, func(name string, start, size int) {
		f := decode.CodeFunction{Name: name, Address: m.Address + uint64(start), Size: uint64(size)}
		if !slices.ContainsFunc(fs, func(g decode.CodeFunction) bool { return g.Address < f.Address+f.Size && f.Address < g.Address+g.Size }) {
			fs = append(fs, f)
		}
	})
	sort.Slice(fs, func(i, j int) bool { return fs[i].Address < fs[j].Address })
	start, end := m.Address, m.End()
	for _, f := range fs {
		if f.Address <= pc && pc < f.Address+f.Size {
			return program.Function{Name: f.Name, Linkage: f.Name, Aliases: f.Name, Kind: funcinfo.Normal,
				Address: f.Address - m.Address, Offset: f.Address - m.Address, Size: f.Size}
		}
		if f.Address+f.Size <= pc {
			start = max(start, f.Address+f.Size)
		} else if f.Address > pc {
			end = min(end, f.Address)
		}
	}
	scope := funcinfo.BuildScope // the name holds the address
	if len(fs) == 0 {
		scope = funcinfo.ModuleScope
	}
	return program.Function{Name: fmt.Sprintf("<static>@%#x", start-m.Address), Kind: funcinfo.Static, Scope: scope,
		Address: start - m.Address, Offset: start - m.Address, Size: end - start}
}

// pseudoObject interns a load object that is not a file.
func (r *Resolver) pseudoObject(name, kind, symbols string) program.ObjectNo {
	return memo.Get(r.pseudoObjects, name, func() program.ObjectNo { return r.addObject(pseudo(name, kind, symbols)) })
}

// resolveNamed returns the location that a profile names for a PC, with its inlined functions.
func (r *Resolver) resolveNamed(m *image.Mapping, pc uint64) program.LocationNo {
	p := r.Program
	named := m.Code.Symbols
	at := &named.Locations[pc-m.Address]
	outer := &named.Functions[at.Lines[0].Function]
	o := r.codeObject(m)
	if outer.Name == UnknownName && len(at.Lines) == 1 {
		if o == r.pseudoObjects[decode.GeneratedPath] {
			o = r.unknownObject
		}
		return r.unknownIn(o, at.Offset, ReasonProfile)
	}
	if p.Objects[o].Name == artificialObject {
		return r.Artificial(outer.Name)
	}
	n := p.InternLocation(r.namedFunction(o, outer), at.Offset, "", func() funcinfo.Place { return namedLine(named, at.Lines[0]) })
	if _, known := r.namedLevels[n]; !known && len(at.Lines) > 1 {
		for _, l := range at.Lines[1:] {
			r.namedLevels[n] = append(r.namedLevels[n], program.Level{Function: r.namedFunction(o, &named.Functions[l.Function]), Place: namedLine(named, l)})
		}
	}
	return n
}

// namedLine returns the source line that a profile gives for a function at a location, none if the
// function has no file.
func namedLine(n *decode.ProfileSymbols, l decode.NamedLine) (place funcinfo.Place) {
	if file := n.Functions[l.Function].File; file != "" && l.Line > 0 {
		place = funcinfo.Place{File: file, Line: l.Line}
	}
	return place
}

// namedFunction interns a function that a profile names. Name, linkage name, file and line identify
// it.
func (r *Resolver) namedFunction(o program.ObjectNo, n *decode.NamedFunction) program.FunctionNo {
	p := r.Program
	f := program.Function{Object: o, Module: p.InternModule(o, cmp.Or(n.File, unknownModule), ""), Name: n.Name, Linkage: n.Linkage, Aliases: n.Linkage, Kind: funcinfo.Normal, Scope: funcinfo.ModuleScope, Line: n.Line}
	if p.Objects[o].Kind != "elf" {
		f.Kind = program.Dynamic
	}
	return p.InternFunction(f, uint64(n.Line))
}

// namedObject returns the load object of a mapping whose functions a profile names.
func (r *Resolver) namedObject(m *image.Mapping) program.ObjectNo {
	if n, known := r.objectOf[m]; known {
		return n
	}
	n := r.internNamedObject(m)
	r.objectOf[m] = n
	named := m.Code.Symbols
	o := &r.Program.Objects[n]
	o.FunctionCount += len(named.Functions)
	for i := range named.Locations {
		for _, l := range named.Locations[i].Lines {
			o.Lines = o.Lines || namedLine(named, l).Line > 0
		}
	}
	return n
}

// internNamedObject interns the load object of such a mapping. Its build-id, if any, identifies it
// in all recordings.
func (r *Resolver) internNamedObject(m *image.Mapping) program.ObjectNo {
	switch m.Path {
	case "", program.Total, decode.GeneratedPath:
		return r.pseudoObject(decode.GeneratedPath, "dynamic", "recording")
	case UnknownName:
		return r.unknownObject
	case artificialObject:
		return r.pseudoObject(artificialObject, "artificial", "none")
	}
	return memo.Get(r.objects, keyOf(m.MapEvent), func() program.ObjectNo {
		o := pseudo(m.Path, "dynamic", "recording")
		if m.Path[0] != '<' && m.Path[0] != '[' || m.Path == decode.KernelPath {
			o.Name, o.Kind = path.Base(m.Path), "elf"
		}
		if o.BuildID = m.BuildID; o.BuildID != "" {
			o.ID = schema.NewID("object").Text(o.BuildID).Sum()
		}
		return r.addObject(o)
	})
}
