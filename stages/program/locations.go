package program

import (
	"iter"
	"math/bits"
	"math/rand/v2"

	"stackmill/internal/chunked"
	"stackmill/schema"
	"stackmill/stages/loadobject/funcinfo"
)

// locationTable is a hash table of locations by load object and offset, without pointers that
// the garbage collector would follow.
type locationTable struct {
	seed  uint64          // random, so that no recording can be made whose hashes collide
	table []locationEntry // linear probing; free slots are zero, the length is a power of 2
	n     int
}

// locationEntry is the location at an offset of a load object.
type locationEntry struct {
	offset uint64
	object ObjectNo
	number int32 // from 1; negative if FindPC returns it
}

func (e *locationEntry) location() LocationNo { return LocationNo(max(e.number, -e.number)) - 1 }

// firstLocations is the initial number of slots.
const firstLocations = 1 << 10

func newLocations() locationTable {
	return locationTable{seed: rand.Uint64(), table: make([]locationEntry, firstLocations)}
}

// slot returns where the search for an offset of a load object begins.
func (l *locationTable) slot(object ObjectNo, offset uint64) int {
	high, low := bits.Mul64(offset^l.seed, 0xe7037ed1a0b428db+uint64(object)<<1)
	return int(high^low) & (len(l.table) - 1)
}

// entriesAt iterates over the entries at an offset of a load object.
func (l *locationTable) entriesAt(object ObjectNo, offset uint64) iter.Seq[*locationEntry] {
	return func(yield func(*locationEntry) bool) {
		for at := l.slot(object, offset); l.table[at].number != 0; at = (at + 1) & (len(l.table) - 1) {
			if e := &l.table[at]; e.offset == offset && e.object == object && !yield(e) {
				return
			}
		}
	}
}

// add adds a new location.
func (l *locationTable) add(object ObjectNo, offset uint64, n LocationNo) {
	if 4*l.n >= 3*len(l.table) {
		entries := l.table
		l.table = chunked.MakeTable[locationEntry](2 * len(entries))
		for _, e := range entries {
			if e.number != 0 {
				l.put(e)
			}
		}
	}
	l.n++
	l.put(locationEntry{offset, object, int32(n) + 1})
}

func (l *locationTable) put(e locationEntry) {
	at := l.slot(e.object, e.offset)
	for l.table[at].number != 0 {
		at = (at + 1) & (len(l.table) - 1)
	}
	l.table[at] = e
}

// FindPC returns the location of a PC at an offset of a load object, None before RememberPC.
func (p *Program) FindPC(object ObjectNo, offset uint64) LocationNo {
	l := &p.locations // called for each PC of a new stack: the loop avoids the iterator of entriesAt
	mask := len(l.table) - 1
	for at := l.slot(object, offset); ; at = (at + 1) & mask {
		e := &l.table[at]
		switch {
		case e.number == 0:
			return None
		case e.number < 0 && e.offset == offset && e.object == object:
			return LocationNo(-e.number) - 1
		}
	}
}

// RememberPC makes FindPC return a location for PCs at an offset of a load object. It returns
// false if the location has another offset, or may be another one in another process.
func (p *Program) RememberPC(n LocationNo, object ObjectNo, offset uint64) bool {
	for e := range p.locations.entriesAt(object, offset) {
		if e.location() == n && p.Location(n).Reason == "" {
			e.number = -max(e.number, -e.number)
			return true
		}
	}
	return false
}

// InternLocation interns the location at an offset of a function's load object. It calls place
// for new ones only.
func (p *Program) InternLocation(function FunctionNo, offset uint64, reason string, place func() funcinfo.Place) LocationNo {
	f := &p.Functions[function]
	for e := range p.locations.entriesAt(f.Object, offset) {
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
