package parquetfile

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"stackmill/schema"
)

// The frame around encoded columns: headers of pages, and the footer. The field numbers are those
// of https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift.

// encoding is a Parquet encoding.
type encoding int64

// The encodings.
const (
	plainEncoding    encoding = 0
	rleEncoding      encoding = 3
	deltaEncoding    encoding = 5
	numberedEncoding encoding = 8 // RLE_DICTIONARY
)

const (
	formatVersion  = 2
	zstdCodec      = 6
	dataPage       = 0
	dictionaryPage = 2
)

// stored is Parquet's representation of a column type.
var stored = map[schema.Type]struct {
	physical, converted int64
	logical             func(*thrift) // nil: neither this nor converted is written
}{
	schema.Bool:   {0, 0, nil},
	schema.Int32:  {1, 17, func(t *thrift) { t.integer(32) }},
	schema.Int64:  {2, 18, func(t *thrift) { t.integer(64) }},
	schema.Time:   {2, 10, (*thrift).microseconds},
	schema.String: {6, 0, (*thrift).utf8},
	schema.Label:  {6, 0, (*thrift).utf8},
}

// integer writes the logical type of signed integers.
func (t *thrift) integer(bits byte) {
	t.beginField(10)
	t.header(1, 3) // a byte
	t.bytes = append(t.bytes, bits)
	t.bool(2, true)
	t.end()
}

// microseconds writes the logical type of UTC times.
func (t *thrift) microseconds() {
	t.beginField(8)
	t.bool(1, true)
	t.beginField(2)
	t.beginField(2)
	t.end()
	t.end()
	t.end()
}

// utf8 writes the logical type of strings.
func (t *thrift) utf8() {
	t.beginField(1)
	t.end()
}

// footer is the metadata at the end of a file.
type footer struct {
	table  *schema.Table
	about  []string // metadata of the file, alternating keys and values
	groups thrift   // elements of the list of row groups
	n      int      // number of row groups
	rows   int64
}

func newFooter(t *schema.Table, about []string) (*footer, error) {
	for _, text := range about {
		if !utf8.ValidString(text) {
			return nil, fmt.Errorf("%q is not UTF-8", text)
		}
	}
	return &footer{table: t, about: about}, nil
}

// add adds a row group of written columns.
func (f *footer) add(rows int, columns []chunkMeta) {
	t := &f.groups
	t.begin()
	t.list(1, thriftStruct, len(columns))
	var compressed, size int64
	for i := range columns {
		columns[i].append(t, &f.table.Columns[i])
		compressed += columns[i].compressed
		size += columns[i].size
	}
	t.number(2, thriftInt64, size)
	t.number(3, thriftInt64, int64(rows))
	t.number(5, thriftInt64, columns[0].at())
	t.number(6, thriftInt64, compressed)
	t.number(7, thriftInt16, int64(f.n))
	t.end()
	f.n++
	f.rows += int64(rows)
}

// encoded returns the footer, followed by its length and the magic.
func (f *footer) encoded() []byte {
	var t thrift
	t.number(1, thriftInt32, formatVersion)
	t.list(2, thriftStruct, 1+len(f.table.Columns))
	t.begin()
	t.binary(4, []byte("schema"))
	t.number(5, thriftInt32, int64(len(f.table.Columns)))
	t.end()
	for i := range f.table.Columns {
		t.column(&f.table.Columns[i])
	}
	t.number(3, thriftInt64, f.rows)
	t.list(4, thriftStruct, f.n)
	t.bytes = append(t.bytes, f.groups.bytes...)
	t.list(5, thriftStruct, len(f.about)/2)
	for i := 0; i+1 < len(f.about); i += 2 {
		t.begin()
		t.binary(1, []byte(f.about[i]))
		t.binary(2, []byte(f.about[i+1]))
		t.end()
	}
	t.binary(6, []byte("stackmill"))
	t.list(7, thriftStruct, len(f.table.Columns)) // bounds are ordered as the types are
	for range f.table.Columns {
		t.begin()
		t.beginField(1)
		t.end()
		t.end()
	}
	t.end()
	return append(binary.LittleEndian.AppendUint32(t.bytes, uint32(len(t.bytes))), magic...)
}

// column appends the schema element of a column.
func (t *thrift) column(c *schema.Column) {
	s := stored[c.Type]
	t.begin()
	t.number(1, thriftInt32, s.physical)
	t.number(3, thriftInt32, int64(boolInt(c.Null))) // required, optional
	t.binary(4, []byte(c.Name))
	if s.logical != nil {
		t.number(6, thriftInt32, s.converted)
		t.beginField(10)
		s.logical(t)
		t.end()
	}
	t.end()
}

// chunkMeta is the footer's entry for a column of a row group.
type chunkMeta struct {
	dictionary, data int64 // offsets of the first pages; dictionary 0: it has none
	compressed, size int64 // bytes of pages with headers, and before compression
	encoding         encoding
	values, nulls    int
	least, most      []byte // nil if unknown
}

// at returns the column's offset in the file.
func (w *chunkMeta) at() int64 {
	if w.dictionary > 0 {
		return w.dictionary
	}
	return w.data
}

// move adds `by` to the column's offsets in the file.
func (w *chunkMeta) move(by int64) {
	if w.data += by; w.dictionary > 0 {
		w.dictionary += by
	}
}

// append appends the column's entry in the metadata of a row group.
func (w *chunkMeta) append(t *thrift, c *schema.Column) {
	encodings := []encoding{w.encoding, rleEncoding} // RLE is for missing values
	if w.dictionary > 0 {
		encodings = []encoding{w.encoding, plainEncoding, rleEncoding}
	}
	t.begin()
	t.number(2, thriftInt64, w.at())
	t.beginField(3)
	t.number(1, thriftInt32, stored[c.Type].physical)
	t.list(2, thriftInt32, len(encodings))
	for _, e := range encodings {
		t.bytes = binary.AppendVarint(t.bytes, int64(e))
	}
	t.list(3, thriftBinary, 1)
	t.element([]byte(c.Name))
	t.number(4, thriftInt32, zstdCodec)
	t.number(5, thriftInt64, int64(w.values))
	t.number(6, thriftInt64, w.size)
	t.number(7, thriftInt64, w.compressed)
	t.number(9, thriftInt64, w.data)
	if w.dictionary > 0 {
		t.number(11, thriftInt64, w.dictionary)
	}
	t.beginField(12)
	t.number(3, thriftInt64, int64(w.nulls))
	if w.most != nil {
		t.binary(5, w.most)
	}
	if w.least != nil {
		t.binary(6, w.least)
	}
	t.end()
	t.end()
	t.end()
}

// begin writes the first fields of a page header.
func (c *chunk) begin(kind int64, size, compressed int) {
	c.header = thrift{bytes: c.header.bytes[:0], outer: c.header.outer[:0]}
	c.header.number(1, thriftInt32, kind)
	c.header.number(2, thriftInt32, int64(size))
	c.header.number(3, thriftInt32, int64(compressed))
}

// finish writes a page: its header and content.
func (c *chunk) finish(out *sink, size int, page []byte) error {
	c.header.end()
	c.header.end()
	c.size += int64(len(c.header.bytes) + size)
	c.compressed += int64(len(c.header.bytes) + len(page))
	if _, err := out.Write(c.header.bytes); err != nil {
		return err
	}
	_, err := out.Write(page)
	return err
}
