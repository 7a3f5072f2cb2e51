package program

import (
	"iter"
	"math/bits"
	"math/rand/v2"

	"stackmill/internal/chunked"
	"stackmill/schema"
	"stackmill/stages/loadobject/funcinfo"
)

// locations finds locations again, by where they are: most are the only one there. Its
// entries are no pointers.
type locations struct {
	seed  uint64          // of hashes: nobody can make offsets whose hashes are equal
	table []locationEntry // with free places, which are zero; their number is a power of 2
	n     int
}

// locationEntry is a location and where it is.
type locationEntry struct {
	offset uint64
	object ObjectNo
	number int32 // from 1; negative if it is what a PC there means
}

func (e *locationEntry) location() LocationNo { return LocationNo(max(e.number, -e.number)) - 1 }

// firstLocations is how many places there are at first.
const firstLocations = 1 << 10

func newLocations() locations {
	return locations{seed: rand.Uint64(), table: make([]locationEntry, firstLocations)}
}

// place is where the search for an offset of a load object begins.
func (l *locations) place(object ObjectNo, offset uint64) int {
	high, low := bits.Mul64(offset^l.seed, 0xe7037ed1a0b428db+uint64(object)<<1)
	return int(high^low) & (len(l.table) - 1)
}

// at iterates over the entries at an offset of a load object.
func (l *locations) at(object ObjectNo, offset uint64) iter.Seq[*locationEntry] {
	return func(yield func(*locationEntry) bool) {
		for at := l.place(object, offset); l.table[at].number != 0; at = (at + 1) & (len(l.table) - 1) {
			if e := &l.table[at]; e.offset == offset && e.object == object && !yield(e) {
				return
			}
		}
	}
}

// add adds a location, which is not there.
func (l *locations) add(object ObjectNo, offset uint64, n LocationNo) {
	if 4*l.n >= 3*len(l.table) {
		entries := l.table
		l.table = chunked.Places[locationEntry](2 * len(entries))
		for _, e := range entries {
			if e.number != 0 {
				l.put(e)
			}
		}
	}
	l.n++
	l.put(locationEntry{offset, object, int32(n) + 1})
}

func (l *locations) put(e locationEntry) {
	at := l.place(e.object, e.offset)
	for l.table[at].number != 0 {
		at = (at + 1) & (len(l.table) - 1)
	}
	l.table[at] = e
}

// Found returns what a PC at an offset of a load object means, None if nobody asked.
func (p *Program) Found(object ObjectNo, offset uint64) LocationNo {
	l := &p.locations // asked for each PC of a new stack: not by way of at
	mask := len(l.table) - 1
	for at := l.place(object, offset); ; at = (at + 1) & mask {
		e := &l.table[at]
		switch {
		case e.number == 0:
			return None
		case e.number < 0 && e.offset == offset && e.object == object:
			return LocationNo(-e.number) - 1
		}
	}
}

// MarkFound says what a PC at an offset of a load object means, so that Found finds it. It
// is false if that location is elsewhere, or may mean something else in another process.
func (p *Program) MarkFound(n LocationNo, object ObjectNo, offset uint64) bool {
	for e := range p.locations.at(object, offset) {
		if e.location() == n && p.Location(n).Reason == "" {
			e.number = -max(e.number, -e.number)
			return true
		}
	}
	return false
}

// InternLocation interns the instruction at the offset. place is called for a new one only.
func (p *Program) InternLocation(function FunctionNo, offset uint64, reason string, place func() funcinfo.Place) LocationNo {
	f := &p.Functions[function]
	for e := range p.locations.at(f.Object, offset) {
		if l := p.Location(e.location()); l.Function == function && l.Reason == reason {
			return e.location()
		}
	}
	l := Location{Object: f.Object, Function: function, Offset: offset, Reason: reason}
	if place != nil {
		l.Place = place()
	}
	n := LocationNo(p.Locations.Len())
	p.Locations.Add(l)
	p.locations.add(f.Object, offset, n)
	return n
}

// LocationID returns the identifier of a location. It may be called concurrently once the
// locations are in order.
func (p *Program) LocationID(n LocationNo) int64 {
	p.identify(int(n) + 1)
	return p.Location(n).id
}

// identify gives the first so many locations their identifiers, as far as they have none.
func (p *Program) identify(first int) {
	for ; p.identified < first; p.identified++ {
		l := p.Locations.At(p.identified)
		l.id = p.locationID(l)
	}
}

// locationID identifies a location; those before it have been.
func (p *Program) locationID(l *Location) int64 {
	o, f := &p.Objects[l.Object], &p.Functions[l.Function]
	id := schema.PathPart(o.ID, int64(l.Offset))
	inside := l.Offset >= f.Offset && l.Offset-f.Offset < f.Size
	// Outside of files, offsets count from the function's start. An offset of a file
	// may be several locations: an instruction of a body is one in the function that
	// the body was made from as well (S11), and the mappings of a file without symbols,
	// each a function (S6), may overlap.
	if o.Kind != "elf" || !inside || l.Reason != "" || p.locationIDs.Has(id) {
		id = schema.NewID("location").Number(uint64(id)).Number(uint64(f.ID)).Text(l.Reason).Sum()
	}
	return p.locationIDs.Add("location", id, "")
}
