package symbolize

import (
	"io"
	"math"
	"os"
	"slices"

	"stackmill/internal/safefile"
	"stackmill/stages/decode"
)

// Most of what a resolver asks of load objects' files are single instructions and small
// functions, near each other. It therefore reads files in blocks, which are kept. Few
// functions lie in two blocks, whose bytes are read by themselves, again and again. A
// disassembler asks for most functions once, and in the order of their values: it reads
// them alone.
const (
	blockSize = 32 << 10
	maxBlocks = 512 // of a resolver
	maxOpened = 8   // files that are open at a time
)

// block is a block of a file, by its number.
type block struct {
	path   string
	number uint64
}

// lastBlock is the block that was asked for last.
type lastBlock struct {
	block
	content []byte // nil if there is none
}

// fileContents are the contents of load objects' files.
type fileContents struct {
	rec      *decode.Recording // knows what is the machine's fault
	open     []*os.File        // the one read last first
	blocks   map[block][]byte
	last     lastBlock
	readOnly bool // the blocks are somebody else's: none is added
}

// read returns what stands in a file at an offset, less than the size if the file ends before
// that. It must not be changed.
func (c *fileContents) read(path string, offset, size uint64) []byte {
	if offset > math.MaxInt64 {
		return nil
	}
	if start := offset % blockSize; start+size <= blockSize {
		if b, ok := c.block(path, offset/blockSize); ok {
			n := uint64(len(b))
			return b[min(start, n):min(start+size, n)]
		}
	}
	f := c.openFile(path)
	if f == nil {
		return nil
	}
	b := make([]byte, size)
	n, err := f.ReadAt(b, int64(offset))
	c.rec.KeepHostError(err)
	return b[:n]
}

// block returns a block, of which the file's last one is shorter. It is false if it is not
// kept, or not all of it can be read: what was asked for may be readable.
func (c *fileContents) block(path string, number uint64) ([]byte, bool) {
	k := block{path, number}
	if c.last.content != nil && c.last.block == k {
		return c.last.content, true
	}
	if b, ok := c.blocks[k]; ok {
		c.last = lastBlock{k, b}
		return b, true
	}
	if c.readOnly {
		return nil, false
	}
	f := c.openFile(path)
	if f == nil {
		return nil, false
	}
	b := make([]byte, blockSize)
	n, err := f.ReadAt(b, int64(number*blockSize))
	if err != nil && err != io.EOF {
		return nil, false
	}
	if len(c.blocks) >= maxBlocks {
		clear(c.blocks)
	}
	c.blocks[k], c.last = b[:n], lastBlock{k, b[:n]}
	return b[:n], true
}

// openFile opens a load object's file; nil if it is gone. Those used last stay open.
func (c *fileContents) openFile(path string) *os.File {
	i := slices.IndexFunc(c.open, func(f *os.File) bool { return f.Name() == path })
	if i < 0 {
		f, _, err := safefile.Open(path, safefile.LoadObject)
		if err != nil {
			c.rec.KeepHostError(err)
			return nil
		}
		if i = len(c.open); i == maxOpened {
			i--
			c.open[i].Close()
			c.open[i] = f
		} else {
			c.open = append(c.open, f)
		}
	}
	f := c.open[i]
	copy(c.open[1:i+1], c.open[:i])
	c.open[0] = f
	return f
}

// closeFiles closes the files. What was read of them stays known.
func (c *fileContents) closeFiles() {
	for _, f := range c.open {
		f.Close()
	}
	c.open = nil
}
