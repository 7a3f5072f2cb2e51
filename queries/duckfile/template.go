// Package duckfile writes database files of DuckDB without its engine: copies of a template,
// a file with views and macros that the engine has made, in which texts are put and to which
// tables are added.
//
// A file has a header, two headers that say where the newest catalog is, and blocks. A block
// holds either values of tables or 64 pieces of metadata, which are chained and hold objects:
// fields with numbers, an end, lists and texts with their lengths before. All numbers are
// little-endian. The version of the format is that of DuckDB 1.0, which all later ones read;
// src/storage in DuckDB's sources has it, and the numbers of fields are those of its
// src/include/duckdb/storage/serialization.
package duckfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"
)

// The layout of files.
const (
	headerSize  = 4096
	headersSize = 3 * headerSize
	blockSize   = 256 << 10
	checkSize   = 8                     // of the checksum before each header and block
	blockUse    = blockSize - checkSize // bytes of a block's content
	inBlock     = 64                    // pieces of metadata in a block
	pieceSize   = blockUse / inBlock &^ 7
	pieceUse    = pieceSize - pointerSize
	pointerSize = 8 // of the pointer to the next piece, before a piece's content
)

// none is a pointer to no piece.
const none = ^uint64(0)

// Template is what is the same in all files: views and macros.
type Template struct {
	header  []byte // the first one
	fixed   fixed
	catalog []byte // the entries of the catalog but the schema
	entries uint64 // their number
}

// header is one of the two that are written by turns: of the two, that with the higher
// iteration counts.
type header struct {
	Iteration uint64
	Catalog   uint64 // the first piece
	Free      uint64 // the first piece that lists what is free
	Blocks    uint64 // their number
	Fixed     fixed
}

// fixed are the settings with which an engine has made a file.
type fixed struct {
	BlockSize     uint64
	VectorSize    uint64
	Compatibility uint64
}

// errTemplate is what NewTemplate says of what it does not know.
var errTemplate = errors.New("not a template of DuckDB")

// NewTemplate returns the template that is a database file of the engine, or of ours, without
// tables.
func NewTemplate(file []byte) (*Template, error) {
	if len(file) < headersSize || len(file)%blockSize != headersSize || string(file[checkSize:][:4]) != "DUCK" {
		return nil, errTemplate
	}
	t := &Template{header: bytes.Clone(file[:headerSize])}
	var newest header
	for at := headerSize; at < headersSize; at += headerSize {
		var h header
		if _, err := binary.Decode(file[at+checkSize:headersSize], binary.LittleEndian, &h); err != nil {
			return nil, err
		}
		if checked(file[at:][:headerSize]) && h.Iteration > newest.Iteration {
			newest = h
		}
	}
	if t.fixed = newest.Fixed; t.fixed.BlockSize != blockSize {
		return nil, errTemplate
	}
	blocks := file[headersSize:]
	for at := range len(blocks) / blockSize {
		if !checked(blocks[at*blockSize:][:blockSize]) {
			return nil, fmt.Errorf("%w: block %d is damaged", errTemplate, at)
		}
	}
	catalog, err := chain(blocks, newest.Catalog)
	if err != nil {
		return nil, err
	}
	return t, t.read(catalog)
}

// chain returns the content of the pieces that begin at a pointer.
func chain(blocks []byte, at uint64) (content []byte, err error) {
	content = make([]byte, 0, len(blocks))
	for range len(blocks) / pieceSize { // it cannot be longer
		if at == none {
			return content, nil
		}
		block, piece := at&(1<<56-1), int(at>>56)
		if block >= uint64(len(blocks)/blockSize) || piece >= inBlock {
			break
		}
		p := blocks[int(block)*blockSize+checkSize+piece*pieceSize:][:pieceSize]
		content = append(content, p[pointerSize:]...)
		at = binary.LittleEndian.Uint64(p)
	}
	return nil, fmt.Errorf("%w: its metadata is damaged", errTemplate)
}

// read understands a catalog: a list of entries, first the schema, and an end.
func (t *Template) read(catalog []byte) error {
	var before object
	before.field(entryList)
	rest, found := bytes.CutPrefix(bytes.TrimRight(catalog, "\x00"), before.bytes)
	n, size := binary.Uvarint(rest)
	if !found || size <= 0 || n == 0 {
		return errTemplate
	}
	if rest, found = bytes.CutPrefix(rest[size:], schemaEntry()); !found {
		return fmt.Errorf("%w: its schema has more than a name", errTemplate)
	}
	if rest, found = bytes.CutSuffix(rest, endOf()); !found {
		return errTemplate
	}
	if bytes.HasPrefix(rest, []byte{entryType, 0, tableType}) { // tables come first
		return fmt.Errorf("%w: it has a table", errTemplate)
	}
	t.catalog, t.entries = rest, n-1
	return nil
}

// Hole returns the text that stands in a template where Write is to put the text of that
// name. It is a constant of its own, between quotes in SQL.
func Hole(name string) string { return holeBegin + name + holeEnd }

const holeBegin, holeEnd = "{{hole ", "}}"

// filled returns the catalog's entries with the texts in their holes.
func (t *Template) filled(texts map[string]string) ([]byte, error) {
	size := len(t.catalog)
	for _, text := range texts {
		size += len(text) + binary.MaxVarintLen64
	}
	out := make([]byte, 0, size)
	rest, holes := t.catalog, 0
	for {
		at := bytes.Index(rest, []byte(holeBegin))
		if at < 0 {
			break
		}
		length := bytes.Index(rest[at:], []byte(holeEnd)) + len(holeEnd)
		if at == 0 || length < len(holeEnd) || int(rest[at-1]) != length { // a length of a byte stands before
			return nil, fmt.Errorf("%w: a text has a hole", errTemplate)
		}
		name := string(rest[at+len(holeBegin) : at+length-len(holeEnd)])
		text, ok := texts[name]
		if !ok {
			return nil, fmt.Errorf("duckfile: no text %q", name)
		}
		if !utf8.ValidString(text) {
			return nil, fmt.Errorf("duckfile: text %q is not UTF-8", name)
		}
		out = append(out, rest[:at-1]...)
		out = append(binary.AppendUvarint(out, uint64(len(text))), text...)
		rest, holes = rest[at+length:], holes+1
	}
	if holes != len(texts) {
		return nil, fmt.Errorf("duckfile: the template has %d holes for %d texts", holes, len(texts))
	}
	return append(out, rest...), nil
}

// sum is the checksum of a header's or block's content, whose length is a multiple of 8.
func sum(content []byte) uint64 {
	check := uint64(5381)
	for ; len(content) >= 8; content = content[8:] {
		check ^= binary.LittleEndian.Uint64(content) * 0xbf58476d1ce4e5b9
	}
	return check
}

// checked reports whether a header or block has the checksum of its content.
func checked(b []byte) bool { return binary.LittleEndian.Uint64(b) == sum(b[checkSize:]) }

// seal writes the checksum of a header or block before its content.
func seal(b []byte) { binary.LittleEndian.PutUint64(b, sum(b[checkSize:])) }
