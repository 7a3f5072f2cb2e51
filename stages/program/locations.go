package program

import (
	"stackmill/internal/memo"
	"stackmill/schema"
	"stackmill/stages/loadobject/funcinfo"
)

// locationKey identifies a location.
type locationKey struct {
	function FunctionNo
	offset   uint64
	reason   string
}

// InternLocation interns the location at an offset of a function's load object. It calls place
// for new ones only.
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

// locationID returns the identifier of a location, after those of all locations before it.
func (p *Program) locationID(l *Location) int64 {
	o, f := &p.Objects[l.Object], &p.Functions[l.Function]
	id := schema.PathPart(o.ID, int64(l.Offset))
	inside := l.Offset >= f.Offset && l.Offset-f.Offset < f.Size
	// Outside of files, offsets count from the function's start. An offset in a file may have
	// several locations: an instruction of a body is also in the function that contains the
	// region (S11), and the mappings of a file without symbols, each a function (S6), may
	// overlap.
	if o.Kind != "elf" || !inside || l.Reason != "" || p.locationIDs.Has(id) {
		id = schema.NewID("location").Number(uint64(id)).Number(uint64(f.ID)).Text(l.Reason).Sum()
	}
	return p.locationIDs.Add("location", id, "")
}
