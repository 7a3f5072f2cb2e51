package symbolize

import (
	"slices"
	"testing"
)

func TestOrder(t *testing.T) {
	p := &Program{Locations: []Location{{Object: 1, Offset: 5}, {Offset: 9}, {Offset: 7, Function: 1}, {Offset: 7}}, Inlines: [][]Level{{{Line: 1}}, nil, nil, nil}}
	if got, want := p.Order(), []LocationNo{3, 2, 1, 0}; !slices.Equal(got, want) {
		t.Fatalf("numbers %d, want %d", got, want)
	}
	for n, want := range []Location{{Offset: 7}, {Offset: 7, Function: 1}, {Offset: 9}, {Object: 1, Offset: 5}} {
		if p.Locations[n] != want || (len(p.InlinedAt(LocationNo(n))) > 0) != (n == 3) {
			t.Errorf("location %d is %+v, with %v inlined", n, p.Locations[n], p.InlinedAt(LocationNo(n)))
		}
	}
}
