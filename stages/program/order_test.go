package program

import (
	"slices"
	"testing"

	"stackmill/internal/chunked"
)

// Many locations are sorted by load object and offset.
func TestOrder(t *testing.T) {
	const more = fewLocations // behind all others
	p := &Program{Objects: make([]Object, 3), Functions: make([]Function, 2), Locations: chunked.ListOf(Location{Object: 1, Offset: 5}, Location{Offset: 9}, Location{Offset: 7, Function: 1}, Location{Offset: 7}), Inlines: slices.Concat([][]Level{{{Function: 1}}}, make([][]Level, 3+more))}
	for n := range more {
		p.Locations.Add(Location{Object: 2, Offset: uint64(n)})
	}
	if got, want := p.Order()[:4], []LocationNo{3, 2, 1, 0}; !slices.Equal(got, want) {
		t.Fatalf("numbers %d, want %d", got, want)
	}
	for n, want := range []Location{{Offset: 7}, {Offset: 7, Function: 1}, {Offset: 9}, {Object: 1, Offset: 5}} {
		l := *p.Locations.At(n)
		want.id = l.id
		if l != want || (len(p.InlinedAt(LocationNo(n))) > 0) != (n == 3) {
			t.Errorf("location %d is %+v, with %v inlined", n, l, p.InlinedAt(LocationNo(n)))
		}
		if l.id == 0 {
			t.Errorf("location %d has no identifier", n)
		}
	}
}

// Few locations stay in the order in which they occur.
func TestOrderOfFew(t *testing.T) {
	p := &Program{Objects: make([]Object, 1), Functions: make([]Function, 1), Locations: chunked.ListOf(Location{Offset: 9}, Location{Offset: 7})}
	if got, want := p.Order(), []LocationNo{0, 1}; !slices.Equal(got, want) || p.Location(0).Offset != 9 {
		t.Errorf("numbers %d, want %d", got, want)
	}
}
