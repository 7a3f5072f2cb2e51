package program

import (
	"cmp"
	"slices"

	"stackmill/internal/chunked"
	"stackmill/internal/memo"
	"stackmill/internal/ordered"
	"stackmill/schema"
	"stackmill/stages/loadobject/funcinfo"
)

// locationKey identifies a location.
type locationKey struct {
	function FunctionNo
	offset   uint64
	reason   string
}

// InternLocation interns the location at an offset of a function's load object. It calls place only
// if the location is new.
func (p *Program) InternLocation(function FunctionNo, offset uint64, reason string, place func() funcinfo.Place) LocationNo {
	return memo.Get(p.locations, locationKey{function, offset, reason}, func() LocationNo {
		l := Location{Object: p.Functions[function].Object, Function: function, Offset: offset, Reason: reason}
		if place != nil {
			l.Place = place()
		}
		p.Locations.Add(l)
		return LocationNo(p.Locations.Len() - 1)
	})
}

// LocationID returns the identifier of a location. It may be called concurrently after Order.
func (p *Program) LocationID(n LocationNo) int64 {
	p.identify(int(n) + 1)
	return p.Location(n).id
}

// identify sets the identifiers of the first n locations.
func (p *Program) identify(n int) {
	for ; p.identifiedCount < n; p.identifiedCount++ {
		l := p.Locations.At(p.identifiedCount)
		l.id = p.locationID(l)
	}
}

// locationID returns the identifier of a location. Call it in the order of locations.
func (p *Program) locationID(l *Location) int64 {
	o, f := &p.Objects[l.Object], &p.Functions[l.Function]
	id := schema.PathPart(o.ID, int64(l.Offset))
	inside := l.Offset >= f.Offset && l.Offset-f.Offset < f.Size
	// Outside of files, offsets are relative to the function. One offset in a file may have several
	// locations: an instruction of a body is also in the function that contains the region (S11),
	// and the mappings of a file without symbols, each a function (S6), may overlap.
	if o.Kind != "elf" || !inside || l.Reason != "" || p.locationIDs.Has(id) {
		id = schema.NewID("location").Number(uint64(id)).Number(uint64(f.ID)).Text(l.Reason).Sum()
	}
	return p.locationIDs.Add("location", id, "")
}

// fewLocations: up to this many locations stay in order of occurrence, where the values of
// neighbors compress best. With more locations, sorted offsets save more.
const fewLocations = 4096

// Order sets the identifiers of the locations and, unless they are few, sorts them by load object
// and offset for storage. It returns the new numbers by the old ones, which become invalid. No
// location can be added afterwards.
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
