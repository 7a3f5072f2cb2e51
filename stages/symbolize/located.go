package symbolize

import (
	"math/bits"
	"math/rand/v2"
)

// located are the locations of a load object by their offsets in its file. Each process
// asks for those that it touches: a hash table by itself answers in one look.
type located struct {
	seed   uint64 // of hashes: nobody can make offsets whose hashes are equal
	places []place
	n      int
}

// place is of a location, whose number is from 1; 0 is a free one.
type place struct {
	offset   uint64
	location LocationNo
}

// firstPlaces is how many places there are at first.
const firstPlaces = 64

func newLocated() *located {
	return &located{seed: rand.Uint64(), places: make([]place, firstPlaces)}
}

// at returns the location at an offset, false if it is unknown.
func (l *located) at(offset uint64) (LocationNo, bool) {
	p := &l.places[l.find(offset)]
	return p.location - 1, p.location != 0
}

// add adds an unknown location.
func (l *located) add(offset uint64, location LocationNo) {
	l.places[l.find(offset)] = place{offset, location + 1}
	if l.n++; 4*l.n <= 3*len(l.places) {
		return
	}
	old := l.places
	l.places = make([]place, 2*len(old))
	for _, p := range old {
		if p.location != 0 {
			l.places[l.find(p.offset)] = p
		}
	}
}

// find returns where an offset is, or may be put.
func (l *located) find(offset uint64) int {
	high, low := bits.Mul64(offset^l.seed, 0x9e3779b97f4a7c15)
	mask := len(l.places) - 1
	at := int(high^low) & mask
	for l.places[at].location != 0 && l.places[at].offset != offset {
		at = (at + 1) & mask
	}
	return at
}
