package symbolize

import (
	"cmp"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/internal/memo"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
	"stackmill/stages/symbolize/image"
)

// Scope is the set of a process's load objects in which the dynamic linker looks up imported
// symbols. It caches the results that depend on this set. Most processes of a recording share few
// scopes.
type Scope struct {
	r          *Resolver
	objects    []program.ObjectNo              // in ascending order; only those that are linked (see isLinked)
	bySymbol   map[string][]entry              // their functions, by symbol
	reachable  map[destinationNo]*reachableSet // results of reachableFrom for calls that the dynamic linker binds by name
	inferences map[inferenceKey]inferenceResult
	returning  map[string]bool // results of ReturnsItself
}

// scopePeriod is a scope that a process has from a time on (ns from the founder's start).
type scopePeriod struct {
	from int64
	*Scope
}

// ScopeAt returns the scope that a process has at time t. The scope changes when the process
// executes another program.
func (pr *Process) ScopeAt(t int64) *Scope {
	n := len(pr.scopes) - 1
	for n > 0 && pr.scopes[n].from > t {
		n--
	}
	return pr.scopes[n].Scope
}

// objectMapping is a mapping of a load object's text.
type objectMapping struct {
	*image.Mapping
	object program.ObjectNo
}

// scopesOf returns the scopes of a process, at least one, in order of time. mapped has its mappings
// of linked load objects. A new scope begins with a mapping after all earlier ones have ended.
func (r *Resolver) scopesOf(mapped []objectMapping) (scopes []scopePeriod) {
	slices.SortStableFunc(mapped, func(a, b objectMapping) int { return cmp.Compare(a.Loaded, b.Loaded) })
	var objects []program.ObjectNo
	var from, until int64
	for _, m := range mapped {
		if len(objects) > 0 && m.Loaded >= until {
			scopes = append(scopes, scopePeriod{from, r.internScope(objects)})
			objects = nil
		}
		if len(objects) == 0 {
			from, until = m.Loaded, m.Unloaded
		}
		objects, until = append(objects, m.object), max(until, m.Unloaded)
	}
	return append(scopes, scopePeriod{from, r.internScope(objects)})
}

// internScope returns the scope that consists of these load objects.
func (r *Resolver) internScope(objects []program.ObjectNo) *Scope {
	slices.Sort(objects)
	objects = slices.Compact(objects)
	return memo.Get(r.graph.scopes, string(arrow.GetBytes(objects)), func() *Scope {
		return &Scope{
			r: r, objects: objects, bySymbol: map[string][]entry{}, reachable: map[destinationNo]*reachableSet{},
			inferences: map[inferenceKey]inferenceResult{}, returning: map[string]bool{},
		}
	})
}

// entries returns the functions that a destination may be: the function itself, or all functions
// with its symbol in the scope's load objects; nil if there are none. For a slot that an IFUNC
// resolver fills, it returns the resolver.
func (s *Scope) entries(n destinationNo) []entry {
	d := &s.r.graph.destinations[n]
	switch {
	case d.slot.Symbol != "":
		return s.entriesNamed(d.slot.Symbol)
	case d.slot.Resolver != 0:
		return s.r.ifuncResolver(d.object, d.slot)
	case d.table:
		return nil
	}
	return []entry{d.entry}
}

// entriesNamed returns the functions with a symbol in the scope's load objects.
func (s *Scope) entriesNamed(symbol string) []entry {
	return memo.Get(s.bySymbol, symbol, func() (found []entry) {
		for _, n := range s.objects {
			t := s.r.loadObjects[n].table
			for _, i := range t.Functions.BySymbol(symbol) {
				found = append(found, entry{n, t.Functions.At(i).Offset})
			}
		}
		return found
	})
}

// ifuncResolver returns the IFUNC resolver that fills a slot, nil if the load object does not have
// it.
func (r *Resolver) ifuncResolver(object program.ObjectNo, slot symtab.Slot) []entry {
	offset, ok := r.addresses(object).Offset(slot.Resolver)
	if !ok {
		return nil
	}
	f, ok := r.loadObjects[object].table.Function(offset)
	if !ok {
		return nil
	}
	return []entry{{object, f.Offset}}
}
