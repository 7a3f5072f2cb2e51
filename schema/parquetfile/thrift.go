package parquetfile

import "encoding/binary"

// thrift encodes a struct in Thrift's compact protocol, for page headers and footers.
type thrift struct {
	bytes []byte
	field int   // the last one of the innermost struct
	outer []int // last fields of the enclosing structs
}

// The kinds of values in headers of fields and lists.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftInt16  = 4
	thriftInt32  = 5
	thriftInt64  = 6
	thriftBinary = 8
	thriftList   = 9
	thriftStruct = 12
)

// header begins a field. The caller writes the fields of a struct in order of their numbers.
func (t *thrift) header(field int, kind byte) {
	t.bytes = append(t.bytes, byte(field-t.field)<<4|kind)
	t.field = field
}

func (t *thrift) number(field int, kind byte, v int64) {
	t.header(field, kind)
	t.bytes = binary.AppendVarint(t.bytes, v) // zigzag, for both
}

func (t *thrift) bool(field int, v bool) {
	kind := byte(thriftFalse)
	if v {
		kind = thriftTrue
	}
	t.header(field, kind)
}

func (t *thrift) binary(field int, v []byte) {
	t.header(field, thriftBinary)
	t.element(v)
}

// list begins a list of n elements, which follow.
func (t *thrift) list(field int, kind byte, n int) {
	t.header(field, thriftList)
	if n < 15 {
		t.bytes = append(t.bytes, byte(n)<<4|kind)
		return
	}
	t.bytes = binary.AppendUvarint(append(t.bytes, 0xf0|kind), uint64(n))
}

// element appends an element of a list of binary values.
func (t *thrift) element(v []byte) {
	t.bytes = append(binary.AppendUvarint(t.bytes, uint64(len(v))), v...)
}

// begin begins a struct as an element of a list.
func (t *thrift) begin() {
	t.outer = append(t.outer, t.field)
	t.field = 0
}

// beginField begins a struct as a field.
func (t *thrift) beginField(field int) {
	t.header(field, thriftStruct)
	t.begin()
}

// end ends the innermost struct.
func (t *thrift) end() {
	t.bytes = append(t.bytes, 0)
	if n := len(t.outer); n > 0 {
		t.field, t.outer = t.outer[n-1], t.outer[:n-1]
	}
}
