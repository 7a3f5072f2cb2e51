package parquetfile

import (
	"encoding/binary"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// pageBytes is the approximate size of pages of text. A numeric column has one page per row group:
// at most pageBytes, except in function_rollup, which has larger row groups (rollupRows).
const pageBytes = 1 << 20

// Effort is how much work goes into making a file small.
type Effort int

// The efforts.
const (
	Quick    Effort = iota // little effort, for files that are soon merged
	Thorough               // much effort, for files that are kept
)

// levels are zstd's compression levels by effort. docs/performance.md compares them with others.
var levels = [...]int{Quick: 1, Thorough: 11}

// scratch holds the buffers of an encoder, for reuse.
type scratch struct {
	effort            Effort
	wide              numberColumn[int64]
	narrow            numberColumn[int32]
	texts             textColumn
	indices           []int32
	definitions       []byte
	encoded, encoded2 []byte
	content           []byte // the uncompressed page of a column with missing values
	packed            []byte // the compressed page
	header            thrift // the page's header
	zstd              *zstd.Encoder
}

// scratches has a pool for each effort, which all writers share: there are as many scratches as
// concurrent writers.
var scratches [len(levels)]sync.Pool

// takeScratch returns a scratch from the pool; the caller puts it back.
func (e Effort) takeScratch() *scratch {
	if s, ok := scratches[e].Get().(*scratch); ok {
		return s
	}
	// The checksums of zstd detect flipped bits in pages: readers do not verify the files'
	// checksums.
	options := []zstd.EOption{zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(levels[e])), zstd.WithEncoderConcurrency(1),
		zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(true), zstd.WithZeroFrames(true), zstd.WithAllLitEntropyCompression(true)}
	if e == Quick { // an encoder allocates its window; Thorough files may have larger pages
		options = append(options, zstd.WithWindowSize(pageBytes))
	}
	z, err := zstd.NewWriter(nil, options...)
	if err != nil {
		panic(err) // a mistake in the options
	}
	return &scratch{effort: e, zstd: z}
}

// page writes a page of rows: their definition levels, which say which rows have a value, and
// values. It always compresses, even if that makes the page larger, to get zstd's checksum.
func (c *chunk) page(out *sink, e encoding, values []byte, rows int, definitions []byte) error {
	if c.data == 0 {
		c.data, c.encoding = out.Tell(), e
	}
	content := values
	if c.column.Null {
		content = binary.LittleEndian.AppendUint32(resize(c.content, 4+len(definitions)+len(values))[:0], uint32(len(definitions)))
		content = append(append(content, definitions...), values...)
		c.content = content
	}
	c.packed = c.zstd.EncodeAll(content, resize(c.packed, len(content))[:0])
	c.begin(dataPage, len(content), len(c.packed))
	h := &c.header
	h.beginField(5)
	h.number(1, thriftInt32, int64(rows))
	h.number(2, thriftInt32, int64(e))
	h.number(3, thriftInt32, int64(rleEncoding)) // the encoding of definition levels
	h.number(4, thriftInt32, int64(rleEncoding)) // the encoding of repetition levels, of which there are none
	return c.finish(out, len(content), c.packed)
}

// zstdSize returns the compressed size of values.
func (c *chunk) zstdSize(values []byte) int {
	c.packed = c.zstd.EncodeAll(values, c.packed[:0])
	return len(c.packed)
}

// dictionaryPage writes the values of a dictionary.
func (c *chunk) dictionaryPage(out *sink, values []byte, entries int) error {
	c.dictionary = out.Tell()
	c.packed = c.zstd.EncodeAll(values, resize(c.packed, len(values))[:0])
	c.begin(dictionaryPage, len(values), len(c.packed))
	h := &c.header
	h.beginField(7)
	h.number(1, thriftInt32, int64(entries))
	h.number(2, thriftInt32, int64(plainEncoding))
	return c.finish(out, len(values), c.packed)
}
