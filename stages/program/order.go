package program

import (
	"cmp"
	"slices"

	"stackmill/internal/chunked"
	"stackmill/internal/ordered"
)

// fewLocations is up to how many locations stay in the order in which they occur. Those of
// a stack follow each other there, and their values are the same. Of more, the offsets take
// more than the values.
const fewLocations = 4096

// Order identifies the locations and puts them in the order in which they are stored: that of
// their load objects and offsets, in which what follows each other differs little, unless they
// are few. It returns their new numbers by the ones before, which no longer hold. No location
// can be added any more.
func (p *Program) Order() (number []LocationNo) {
	var order []chunked.Keyed
	_ = ordered.Run( // neither fails
		func() error { order = p.order(); return nil },
		func() error { p.identify(p.Locations.Len()); return nil },
	)
	number = make([]LocationNo, len(order))
	var ordered chunked.List[Location]
	inlines := p.Inlines
	if inlines != nil {
		p.Inlines = make([][]Level, len(order))
	}
	for n, k := range order {
		number[k.N] = LocationNo(n)
		ordered.Add(*p.Location(LocationNo(k.N)))
		if inlines != nil {
			p.Inlines[n] = inlines[k.N]
		}
	}
	p.Locations, p.locations = ordered, locations{}
	return number
}

// order returns the numbers of the locations in the order in which they are stored.
func (p *Program) order() []chunked.Keyed {
	at := func(k chunked.Keyed) *Location { return p.Location(LocationNo(k.N)) }
	list := make([]chunked.Keyed, p.Locations.Len())
	for n := range list {
		list[n] = chunked.Keyed{Key: p.Location(LocationNo(n)).Offset, N: int32(n)}
	}
	if len(list) <= fewLocations {
		return list
	}
	list = chunked.Sort(list)
	for i := range list {
		list[i].Key = uint64(at(list[i]).Object)
	}
	list = chunked.Sort(list)
	compare := func(a, b chunked.Keyed) int {
		l, m := at(a), at(b)
		return cmp.Or(cmp.Compare(l.Function, m.Function), cmp.Compare(a.N, b.N))
	}
	for from := 0; from < len(list); { // those of one place
		l, to := at(list[from]), from+1
		for to < len(list) && list[to].Key == list[from].Key && at(list[to]).Offset == l.Offset {
			to++
		}
		slices.SortFunc(list[from:to], compare)
		from = to
	}
	return list
}
