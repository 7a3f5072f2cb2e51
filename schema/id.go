package schema

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// ID makes a 64-bit identifier out of what a row means: the same parts give
// the same identifier everywhere. It is never negative, so that it reads the
// same in every engine.
type ID struct{ d xxhash.Digest }

// NewID starts an identifier; kind keeps different things apart.
func NewID(kind string) *ID {
	id := &ID{}
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

// IDs are the identifiers that the rows of one table have.
type IDs map[int64]bool

// Add returns the identifier of a new row: the one given or, if another row has it,
// one that depends on more text as well. kind is the identifier's.
func (ids IDs) Add(kind string, id int64, more string) int64 {
	for ids[id] {
		id = NewID(kind).Number(uint64(id)).Text(more).Sum()
	}
	ids[id] = true
	return id
}
