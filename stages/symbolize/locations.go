package symbolize

import (
	"math/bits"
	"math/rand/v2"

	"stackmill/schema"
	"stackmill/stages/arena"
)

// locations finds locations again. Those of one offset of a load object have the same
// hash: most are the only one. Its entries are no pointers, and there is one for each.
type locations struct {
	seed  uint64          // of hashes: nobody can make offsets whose hashes are equal
	table []locationEntry // with free places, which are 0; their number is a power of 2
	n     int
}

// locationEntry is a location's hash and, in its lower half, its number from 1.
type locationEntry uint64

func (e locationEntry) hash() uint32       { return uint32(e >> 32) }
func (e locationEntry) number() LocationNo { return LocationNo(uint32(e)) - 1 }

func newLocations() locations { return locations{seed: rand.Uint64()} }

// firstLocations is how many places there are at first.
const firstLocations = 1 << 10

// hash is the hash of an offset in a load object.
func (l *locations) hash(object ObjectNo, offset uint64) uint32 {
	high, low := bits.Mul64(offset^l.seed, 0xe7037ed1a0b428db+uint64(object)<<1)
	return uint32(high ^ low ^ low>>32)
}

// next returns the number of a location that may have a hash, None if there is no further
// one, and where to go on; at is where the search is, which begins at the hash.
func (l *locations) next(hash uint32, at int) (LocationNo, int) {
	if len(l.table) == 0 {
		return None, 0
	}
	for mask := len(l.table) - 1; ; at++ {
		switch e := l.table[at&mask]; {
		case e == 0:
			return None, at
		case e.hash() == hash:
			return e.number(), at + 1
		}
	}
}

// add adds a location, which is not there.
func (l *locations) add(hash uint32, n LocationNo) {
	if 3*len(l.table) <= 4*l.n {
		entries := l.table
		l.table = make([]locationEntry, max(2*len(entries), firstLocations))
		for _, e := range entries {
			if e != 0 {
				l.put(e)
			}
		}
	}
	l.n++
	l.put(locationEntry(hash)<<32 | locationEntry(n+1))
}

func (l *locations) put(e locationEntry) {
	mask := len(l.table) - 1
	at := int(e.hash()) & mask
	for l.table[at] != 0 {
		at = (at + 1) & mask
	}
	l.table[at] = e
}

// found returns what a PC at an offset of a load object means, as far as that is known.
func (p *Program) found(object ObjectNo, offset uint64) LocationNo {
	hash := p.locations.hash(object, offset)
	for n, at := p.locations.next(hash, int(hash)); n >= 0; n, at = p.locations.next(hash, at) {
		if l := &p.Locations[n]; l.found && l.Offset == offset && l.Object == object {
			return n
		}
	}
	return None
}

// location interns the instruction at the offset. line is called for a new one only.
func (p *Program) location(function FunctionNo, offset uint64, reason string, line func() (string, int32)) LocationNo {
	f := &p.Functions[function]
	hash := p.locations.hash(f.Object, offset)
	for n, at := p.locations.next(hash, int(hash)); n >= 0; n, at = p.locations.next(hash, at) {
		if l := &p.Locations[n]; l.Function == function && l.Offset == offset && l.Reason == reason {
			return n
		}
	}
	l := Location{ID: p.locationID(f, offset, reason), Object: f.Object, Function: function, Offset: offset, Reason: reason}
	if line != nil {
		l.File, l.Line = line()
	}
	n := LocationNo(len(p.Locations))
	p.Locations = arena.Append(p.Locations, l)
	p.locations.add(hash, n)
	return n
}

// locationID identifies a new location.
func (p *Program) locationID(f *Function, offset uint64, reason string) int64 {
	o := &p.Objects[f.Object]
	id := schema.NewID("location").Number(uint64(o.ID)).Number(offset)
	inside := offset >= f.Offset && offset-f.Offset < f.Size
	// Outside of files, offsets count from the function's start. An offset of a file
	// may be several locations: an instruction of a body is one in the function that
	// the body was made from as well (S11), and the mappings of a file without symbols,
	// each a function (S6), may overlap.
	if o.Kind != "elf" || !inside || reason != "" || p.locationIDs.Has(id.Sum()) {
		id.Number(uint64(f.ID)).Text(reason)
	}
	return p.locationIDs.Add("location", id.Sum(), "")
}
