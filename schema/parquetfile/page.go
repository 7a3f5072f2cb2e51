package parquetfile

import (
	"encoding/binary"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// pageBytes is about how large pages of text become. A column of numbers has one page in
// a row group, which is at most as large, but for function_rollup's of rollupRows.
const pageBytes = 1 << 20

// Effort is how much work is done to make a file small.
type Effort int

// The efforts.
const (
	Quick    Effort = iota // for what is written once
	Thorough               // for what is kept
)

// levels are those of zstd by effort. docs/performance.md says what others would save and
// cost.
var levels = [...]int{Quick: 1, Thorough: 11}

// scratch is memory that encoding takes.
type scratch struct {
	effort            Effort
	unpacked          numberBuffers
	wide              numberColumn[int64]
	narrow            numberColumn[int32]
	texts             textColumn
	indices           []int32
	definitions       []byte
	encoded, encoded2 []byte
	content           []byte // of a page of a column with missing values
	packed            []byte // compressed
	header            thrift // of a page
	zstd              *zstd.Encoder
}

// scratches are shared by all writers of an effort: no more are in use than writers that
// run at a time.
var scratches [len(levels)]sync.Pool

// takeScratch returns a scratch of the pool, to which it is to be returned.
func (e Effort) takeScratch() *scratch {
	if s, ok := scratches[e].Get().(*scratch); ok {
		return s
	}
	// Readers of a store do not compare whole files with the checksums of their commits: a bit of a
	// page that is another one must not pass as other rows.
	options := []zstd.EOption{zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(levels[e])), zstd.WithEncoderConcurrency(1),
		zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(true), zstd.WithZeroFrames(true), zstd.WithAllLitEntropyCompression(true)}
	if e == Quick { // an encoder makes room for its window; what is kept may have larger pages
		options = append(options, zstd.WithWindowSize(pageBytes))
	}
	z, err := zstd.NewWriter(nil, options...)
	if err != nil {
		panic(err) // a mistake in the options
	}
	return &scratch{effort: e, zstd: z}
}

// page writes a page of rows: which of them have a value, and the values. All of it is compressed, even if
// that makes it larger: then it has a checksum, which the readers' zstd compares.
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
	h.number(3, thriftInt32, int64(rleEncoding)) // of the definitions
	h.number(4, thriftInt32, int64(rleEncoding)) // of repetitions, of which there are none
	return c.finish(out, len(content), c.packed)
}

// zstdSize returns how many bytes values take when they are compressed.
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
