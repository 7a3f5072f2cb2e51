package program

import (
	"cmp"
	"slices"

	"stackmill/internal/chunked"
	"stackmill/internal/ordered"
)

// fewLocations is the number of locations up to which they stay in the order in which they
// occur, in which the values of neighbors compress best. With more locations, their offsets
// matter more.
const fewLocations = 4096

// Order sets the identifiers of the locations and sorts them for storage, by load object and
// offset unless they are few. It returns their new numbers by the old ones, which become
// invalid. No location can be added afterwards.
func (p *Program) Order() (number []LocationNo) {
	var order []chunked.KeyedIndex
	_ = ordered.Run( // neither fails
		func() error { order = p.sortedLocations(); return nil },
		func() error { p.identify(p.Locations.Len()); return nil },
	)
	number = make([]LocationNo, len(order))
	var sorted chunked.List[Location]
	inlines := p.Inlines
	if inlines != nil {
		p.Inlines = make([][]Level, len(order))
	}
	for n, k := range order {
		number[k.N] = LocationNo(n)
		sorted.Add(*p.Location(LocationNo(k.N)))
		if inlines != nil {
			p.Inlines[n] = inlines[k.N]
		}
	}
	p.Locations, p.locations = sorted, nil
	return number
}

// sortedLocations returns the numbers of the locations in their order of storage.
func (p *Program) sortedLocations() []chunked.KeyedIndex {
	at := func(k chunked.KeyedIndex) *Location { return p.Location(LocationNo(k.N)) }
	list := make([]chunked.KeyedIndex, p.Locations.Len())
	for n := range list {
		list[n] = chunked.KeyedIndex{Key: p.Location(LocationNo(n)).Offset, N: int32(n)}
	}
	if len(list) <= fewLocations {
		return list
	}
	list = chunked.Sort(list)
	for i := range list {
		list[i].Key = uint64(at(list[i]).Object)
	}
	list = chunked.Sort(list)
	compare := func(a, b chunked.KeyedIndex) int {
		l, m := at(a), at(b)
		return cmp.Or(cmp.Compare(l.Function, m.Function), cmp.Compare(a.N, b.N))
	}
	for from := 0; from < len(list); { // the locations at one offset
		l, to := at(list[from]), from+1
		for to < len(list) && list[to].Key == list[from].Key && at(list[to]).Offset == l.Offset {
			to++
		}
		slices.SortFunc(list[from:to], compare)
		from = to
	}
	return list
}
