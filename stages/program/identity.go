package program

import (
	"path"
	"strings"

	"stackmill/stages/loadobject/funcinfo"
)

// ShortPaths returns, by load object, the last elements of its path: as few as identify it in the
// program. They are ambiguous if several load objects have the same path: files that replaced each
// other, or that are in several containers.
func (p *Program) ShortPaths() (short []string, ambiguous []bool) {
	short, ambiguous = make([]string, len(p.Objects)), make([]bool, len(p.Objects))
	same := map[string][]int{}
	for n := range p.Objects {
		short[n] = p.Objects[n].Name
		same[short[n]] = append(same[short[n]], n)
	}
	for _, group := range same {
		for _, n := range group {
			if len(group) == 1 {
				break
			}
			short[n], ambiguous[n] = p.shortPath(n, group)
		}
	}
	return short, ambiguous
}

// shortPath returns the fewest last elements of an object's path that no other object of a group
// has.
func (p *Program) shortPath(object int, group []int) (short string, ambiguous bool) {
	full := p.Objects[object].Path
	end := path.Base(full)
	for {
		others := false
		for _, n := range group {
			others = others || n != object && endsIn(p.Objects[n].Path, end)
		}
		switch {
		case !others:
			return end, false
		case len(end) >= len(full):
			return p.Objects[object].Name, true
		}
		rest := strings.TrimSuffix(full[:len(full)-len(end)], "/")
		end = full[strings.LastIndexByte(rest, '/')+1:]
	}
}

// endsIn reports whether the last elements of a path are those of end.
func endsIn(full, end string) bool {
	rest, ok := strings.CutSuffix(full, end)
	return ok && (rest == "" || strings.HasSuffix(rest, "/"))
}

// NameScopes returns, by function, the scope within which its linkage name identifies it in all
// builds. It returns BuildScope for functions that share their name, such as versions of generated
// code: they can be identified only within one build.
func (p *Program) NameScopes() []funcinfo.NameScope {
	type name struct{ object, module, function string }
	scopes, first := make([]funcinfo.NameScope, len(p.Functions)), map[name]int{}
	objects, ambiguous := p.ShortPaths()
	for n := range p.Functions {
		f := &p.Functions[n]
		if scopes[n] = f.Scope; ambiguous[f.Object] {
			scopes[n] = funcinfo.BuildScope
		}
		if scopes[n] == funcinfo.BuildScope {
			continue
		}
		k := name{objects[f.Object], "", f.Linkage}
		if f.Linkage == "" {
			k.function = f.Name
		}
		if f.Scope == funcinfo.ModuleScope {
			k.module = p.Modules[f.Module].ShortPath
		}
		if other, known := first[k]; known {
			scopes[n], scopes[other] = funcinfo.BuildScope, funcinfo.BuildScope
		} else {
			first[k] = n
		}
	}
	return scopes
}
