package symbolize

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
)

// scope is where the dynamic linker looks for what a process's load objects import: in those
// that the process has mapped. What depends on that is found once for each scope. Most processes
// of a recording have one of few.
type scope struct {
	r         *Resolver
	number    int                        // from 0
	objects   []ObjectNo                 // that are linked, in ascending order
	named     map[string][]entry         // their functions, by symbol
	reached   map[destinationNo]*reached // what calls by way of names may be in
	inferred  map[inference]inferredBy   // what Infer found
	returning map[string]bool            // what ReturnsItself found
}

// scope returns that of a process which has mapped these load objects.
func (r *Resolver) scope(mapped []ObjectNo) *scope {
	linked := slices.DeleteFunc(mapped, func(n ObjectNo) bool { return !r.Program.Objects[n].isLinked() })
	slices.Sort(linked)
	linked = slices.Compact(linked)
	key := string(arrow.GetBytes(linked))
	s := r.graph.scopes[key]
	if s == nil {
		s = &scope{
			r: r, number: len(r.graph.scopes), objects: linked, named: map[string][]entry{}, reached: map[destinationNo]*reached{},
			inferred: map[inference]inferredBy{}, returning: map[string]bool{},
		}
		r.graph.scopes[key] = s
	}
	return s
}

// Scope is the number of what the process's load objects import from, from 0: what Infer,
// Contradicts, CallEnters and ReturnsItself say is the same for processes of one scope.
func (s *scope) Scope() int { return s.number }

// entries returns the functions that a destination may be: one, or all of its name in any load
// object of the scope; nil if there are none.
func (s *scope) entries(n destinationNo) []entry {
	d := &s.r.graph.destinations[n]
	if d.slot.Symbol == "" {
		return []entry{d.entry}
	}
	return s.entriesNamed(d.slot.Symbol)
}

// entriesNamed returns the functions of a symbol in any load object of the scope.
func (s *scope) entriesNamed(symbol string) []entry {
	found, known := s.named[symbol]
	if !known {
		for _, n := range s.objects {
			t := s.r.Program.Objects[n].table
			for _, i := range t.Linked(symbol) {
				found = append(found, entry{n, t.Functions[i].Offset})
			}
		}
		s.named[symbol] = found
	}
	return found
}
