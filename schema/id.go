package schema

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// ID hashes what a row describes to a 64-bit identifier: the same parts give the same identifier in
// every experiment and store. It is never negative, because some engines lack unsigned numbers.
type ID struct{ d xxhash.Digest }

// NewID begins an identifier; kind separates the identifiers of different things.
func NewID(kind string) *ID {
	id := &ID{} // no allocation: this function is inlined
	return id.begin(kind)
}

func (id *ID) begin(kind string) *ID {
	id.d.Reset()
	return id.Text(kind)
}

// Text adds a string.
func (id *ID) Text(s string) *ID {
	id.Number(uint64(len(s)))
	_, _ = id.d.WriteString(s) // never fails
	return id
}

// Number adds a number.
func (id *ID) Number(n uint64) *ID {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	_, _ = id.d.Write(b[:]) // never fails
	return id
}

// Sum returns the identifier.
func (id *ID) Sum() int64 { return int64(id.d.Sum64() >> 1) }

// PathPart is the catalog's macro path_part(id, place), with which views derive identifiers. The
// result has 63 bits.
func PathPart(id, place int64) int64 {
	const bits63 = 1<<63 - 1
	n := (uint64(id) + uint64(place)*7046029254386353131) & bits63
	n = (n ^ n>>31) * 4354685564936845355 & bits63
	n = (n ^ n>>29) * 3202034522624059733 & bits63
	return int64(n ^ n>>32)
}

// IDs is the set of identifiers in a table. The zero value is empty.
type IDs struct{ rows map[int64]struct{} }

// Has reports whether a row has the identifier.
func (ids *IDs) Has(id int64) bool {
	_, known := ids.rows[id]
	return known
}

// Add returns the identifier of a new row: id or, if another row has that, a hash of id and more.
// kind is as in NewID.
func (ids *IDs) Add(kind string, id int64, more string) int64 {
	if ids.rows == nil {
		ids.rows = map[int64]struct{}{}
	}
	for ids.Has(id) {
		id = NewID(kind).Number(uint64(id)).Text(more).Sum()
	}
	ids.rows[id] = struct{}{}
	return id
}
