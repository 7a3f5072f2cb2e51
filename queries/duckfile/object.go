package duckfile

import "encoding/binary"

// object is objects in the format in which the engine keeps metadata.
type object struct{ bytes []byte }

// The numbers of fields. Those of an object are in ascending order; one with its default may
// be left out.
const (
	first = 100 // of nearly every object

	entryList = first // of the catalog

	entryType = 99 // of an entry of the catalog
	entryInfo = first

	infoType   = first
	infoSchema = 102
	infoClash  = 105 // what to do if the entry is there
	infoOwn    = 200 // of the type of entry: a table's name
	infoMore   = 201 // its columns
)

// end is the number that ends an object.
const end = 0xffff

func endOf() []byte { return []byte{end & 0xff, end >> 8} }

// field begins a field.
func (o *object) field(number uint16) { o.bytes = binary.LittleEndian.AppendUint16(o.bytes, number) }

// close ends an object, or the innermost ones of them.
func (o *object) close(objects int) {
	for range objects {
		o.field(end)
	}
}

// raw appends bytes.
func (o *object) raw(b ...byte) { o.bytes = append(o.bytes, b...) }

// unsigned appends a number, 7 bits in each byte.
func (o *object) unsigned(n uint64) { o.bytes = binary.AppendUvarint(o.bytes, n) }

// signed appends a number in the same way, with the sign in the last byte's highest bit but
// one.
func (o *object) signed(n int64) {
	for {
		b := byte(n & 0x7f)
		n >>= 7
		if n == 0 && b&0x40 == 0 || n == -1 && b&0x40 != 0 {
			o.raw(b)
			return
		}
		o.raw(b | 0x80)
	}
}

// text appends a text and its length.
func (o *object) text(s string) {
	o.unsigned(uint64(len(s)))
	o.bytes = append(o.bytes, s...)
}

// flag appends a boolean.
func (o *object) flag(set bool) {
	if set {
		o.raw(1)
	} else {
		o.raw(0)
	}
}

// place appends an object that says where values lie: in a block, which is a signed number.
func (o *object) place(block int64, offset int) {
	o.field(first)
	o.signed(block)
	o.offset(offset)
}

// piece appends an object that says where in a piece of metadata something begins.
func (o *object) piece(pointer uint64, offset int) {
	o.field(first)
	o.unsigned(pointer)
	o.offset(offset)
}

func (o *object) offset(n int) {
	if n != 0 { // the default
		o.field(101)
		o.unsigned(uint64(n))
	}
	o.close(1)
}

// The types of entries of a catalog.
const (
	tableType  = 1
	schemaType = 2
)

// mainSchema is the schema of all entries.
const mainSchema = "main"

// entry begins an entry of the catalog.
func (o *object) entry(of byte) {
	o.field(entryType)
	o.raw(of)
	o.field(entryInfo)
	o.raw(1) // it is there
	o.field(infoType)
	o.raw(of)
	o.field(infoSchema)
	o.text(mainSchema)
	o.field(infoClash)
	o.raw(0)
}

// schemaEntry is the entry of the schema.
func schemaEntry() []byte {
	var o object
	o.entry(schemaType)
	o.close(2)
	return o.bytes
}
