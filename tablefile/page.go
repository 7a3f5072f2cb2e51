package tablefile

import (
	"sync"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/klauspost/compress/zstd"

	"stackmill/schema"
)

// pageBytes is about how large pages of text become. A column of numbers has one page in
// a row group, which is at most as large.
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
	wide              numbers[int64]
	narrow            numbers[int32]
	texts             texts
	indices           []int32
	definitions       []byte
	encoded, encoded2 []byte
	compressed        []byte
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
	// The content of files has a checksum of its own. Most pages are far smaller than what
	// an encoder makes room for otherwise.
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(levels[e])), zstd.WithEncoderConcurrency(1),
		zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true), zstd.WithAllLitEntropyCompression(true))
	if err != nil {
		panic(err) // a mistake in the options
	}
	return &scratch{effort: e, zstd: z}
}

// properties returns what the frame of a table's files needs to know.
func properties(t *schema.Table) *parquet.WriterProperties {
	opts := []parquet.WriterProperty{
		parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithDataPageVersion(parquet.DataPageV2),
		parquet.WithCreatedBy("stackmill"),
	}
	for _, c := range t.Columns {
		if c.Encoding != schema.Dict && c.Encoding != schema.Plain {
			opts = append(opts, parquet.WithEncodingFor(c.Name, parquet.Encodings.DeltaBinaryPacked))
		}
	}
	return parquet.NewWriterProperties(opts...)
}

// page writes a page of rows, of whose values some are missing. It is compressed if that
// makes it smaller.
func (c *chunk) page(out *sink, encoding parquet.Encoding, values []byte, rows, missing int, definitions []byte) error {
	if c.info.DataPageOffset == 0 {
		c.info.DataPageOffset = out.Tell()
	}
	size := len(definitions) + len(values)
	c.compressed = c.zstd.EncodeAll(values, append(sized(c.compressed, size)[:0], definitions...))
	smaller := len(c.compressed) < size
	if !smaller {
		c.compressed = append(c.compressed[:len(definitions)], values...)
	}
	p := file.NewDataPageV2(memory.NewBufferBytes(c.compressed), int32(rows), int32(missing), int32(rows), encoding, int32(len(definitions)), 0, int32(size), smaller)
	defer p.Release()
	_, err := c.pages.WriteDataPage(p)
	return err
}

// zstdSize returns how many bytes values take when they are compressed.
func (c *chunk) zstdSize(values []byte) int {
	c.compressed = c.zstd.EncodeAll(values, c.compressed[:0])
	return len(c.compressed)
}

// dictionaryPage writes the values of a dictionary.
func (c *chunk) dictionaryPage(out *sink, values []byte, entries int) error {
	c.info.DictPageOffset = out.Tell()
	p := file.NewDictionaryPage(memory.NewBufferBytes(values), int32(entries), parquet.Encodings.Plain)
	defer p.Release()
	_, err := c.pages.WriteDictionaryPage(p)
	return err
}
