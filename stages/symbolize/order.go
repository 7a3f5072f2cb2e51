package symbolize

import (
	"cmp"
	"slices"
)

// fewLocations is up to how many locations stay in the order in which they occur. Those of
// a stack follow each other there, and their values are the same. Of more, the offsets take
// more than the values.
const fewLocations = 4096

// Order puts the locations in the order in which they are stored: that of their load
// objects and offsets, in which what follows each other differs little, unless they are
// few. It returns their new numbers by the ones before, which no longer hold. No location
// can be added any more.
func (p *Program) Order() (number []LocationNo) {
	order := make([]LocationNo, len(p.Locations)) // the numbers before
	for n := range order {
		order[n] = LocationNo(n)
	}
	if len(order) > fewLocations {
		slices.SortFunc(order, func(a, b LocationNo) int {
			l, m := &p.Locations[a], &p.Locations[b]
			return cmp.Or(cmp.Compare(l.Object, m.Object), cmp.Compare(l.Offset, m.Offset), cmp.Compare(l.Function, m.Function), cmp.Compare(a, b))
		})
	}
	number = make([]LocationNo, len(order))
	ordered, inlines := make([]Location, len(order)), p.Inlines
	if inlines != nil {
		p.Inlines = make([][]Level, len(order))
	}
	for n, before := range order {
		number[before], ordered[n] = LocationNo(n), p.Locations[before]
		if inlines != nil {
			p.Inlines[n] = inlines[before]
		}
	}
	p.Locations, p.locations = ordered, locations{}
	return number
}
