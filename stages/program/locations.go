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

// InternLocation returns the location at an offset of a function's load object, and adds it if it
// is new: only then it calls place.
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

// identify sets the identifiers of the first n locations, unless they are set.
func (p *Program) identify(n int) {
	for ; p.identifiedCount < n; p.identifiedCount++ {
		l := p.Locations.At(p.identifiedCount)
		l.id = p.locationID(l)
	}
}

// locationID returns the identifier of a location. Call it for locations in order, once for each.
func (p *Program) locationID(l *Location) int64 {
	o, f := &p.Objects[l.Object], &p.Functions[l.Function]
	id := schema.PathPart(o.ID, int64(l.Offset))
	inside := l.Offset >= f.Offset && l.Offset-f.Offset < f.Size
	// Outside of files, offsets are relative to the function. In a file, several locations may have
	// one offset: an instruction of an OpenMP body is also in the function that contains the region
	// (S11), and a file without symbols has a function for each mapping (S6), which may overlap.
	if o.Kind != "elf" || !inside || l.Reason != "" || p.locationIDs.Has(id) {
		id = schema.NewID("location").Number(uint64(id)).Number(uint64(f.ID)).Text(l.Reason).Sum()
	}
	return p.locationIDs.Add("location", id, "")
}

// fewLocations: up to this many locations are stored in the order in which they first occur,
// because then the values of neighbors compress best. With more locations, sorted offsets save
// more.
const fewLocations = 4096

// Order sets the identifiers of the locations and sorts them for storage: by load object and
// offset, unless they are few. It returns each old location's new number. Old numbers become
// invalid, and no location can be added afterwards.
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

// sortedLocations returns the numbers of the locations in the order in which they are stored.
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
