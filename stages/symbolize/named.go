package symbolize

import (
	"cmp"
	"path"

	"stackmill/internal/memo"
	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/program"
	"stackmill/stages/symbolize/image"
)

// resolveNamed resolves a location that a profile names, with its inlined functions.
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

// namedLine returns the line of a level, none if it has no file.
func namedLine(n *decode.ProfileSymbols, l decode.NamedLine) (place funcinfo.Place) {
	if file := n.Functions[l.Function].File; file != "" && l.Line > 0 {
		place = funcinfo.Place{File: file, Line: l.Line}
	}
	return place
}

// namedFunction interns a function of a profile. All that the profile says identifies it.
func (r *Resolver) namedFunction(o program.ObjectNo, n *decode.NamedFunction) program.FunctionNo {
	p := r.Program
	f := program.Function{Object: o, Module: p.InternModule(o, cmp.Or(n.File, unknownModule), ""), Name: n.Name, Linkage: n.Linkage, Aliases: n.Linkage, Kind: funcinfo.Normal, Scope: funcinfo.ModuleScope, Line: n.Line}
	if p.Objects[o].Kind != "elf" {
		f.Kind = program.Dynamic
	}
	return p.InternFunction(f, uint64(n.Line))
}

// namedObject returns the load object of a mapping with named functions.
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

// internNamedObject interns the load object. A build-id identifies it as in other recordings.
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
