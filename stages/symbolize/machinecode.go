package symbolize

import (
	"io"
	"math"
	"os"
	"slices"

	"stackmill/internal/safefile"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/isa"
	"stackmill/stages/program"
	"stackmill/stages/symbolize/image"
)

// maxCode bounds the code that is read for a function. The longest functions in practice, main
// loops of interpreters and generated tables, have some 100 KiB.
const maxCode = 4 << 20

// machineCode reads the machine code of a resolver's functions. Each machineCode has its own open
// files, so that several can read concurrently once the resolver has finished.
type machineCode struct {
	resolver *Resolver
	fileContents
}

// Code returns the machine code of a function, and its instruction set. The code is shorter than
// the function if the file ends before, and empty if it is unavailable.
func (c *machineCode) Code(function program.FunctionNo) ([]byte, isa.Arch) {
	f := &c.resolver.Program.Functions[function]
	return c.codeAt(function, f.Offset, f.Size)
}

// codeAt returns the machine code in a range of a function, and its instruction set (see Code).
func (c *machineCode) codeAt(function program.FunctionNo, offset, size uint64) ([]byte, isa.Arch) {
	f := &c.resolver.Program.Functions[function]
	if code := c.resolver.generatedCode[function]; code != nil {
		n := uint64(len(code.Bytes))
		start := min(offset-f.Offset, n)
		return code.Bytes[start:min(start+size, n)], archOf(c.resolver.rec)
	}
	return c.Bytes(f.Object, offset, size)
}

// Bytes returns the machine code in a range of a load object's file, and its instruction set (see
// Code). The bytes are read-only.
func (c *machineCode) Bytes(object program.ObjectNo, offset, size uint64) ([]byte, isa.Arch) {
	o := &c.resolver.loadObjects[object]
	if o.table == nil || o.table.Arch == 0 {
		return nil, 0
	}
	return c.read(o.file, offset, min(size, maxCode)), o.table.Arch
}

// ForgetCode frees the cached contents of files. Nothing may be disassembled afterwards.
func (r *Resolver) ForgetCode() { clear(r.blocks) }

// archOf returns the instruction set of code outside of files.
func archOf(rec *decode.Recording) isa.Arch { return isa.Named(rec.Arch, rec.WordBits) }

// File returns the file of a mapping's load object, empty if none was found.
func (pr *Process) File(m *image.Mapping) string {
	if m.Code != nil || !m.Executable() {
		return ""
	}
	return pr.r.loadObjects[pr.r.fileObject(pr.Image, m)].file
}

// ReadFile fills b with the bytes at an offset of a mapping's file. It returns false if they are
// unavailable.
func (pr *Process) ReadFile(m *image.Mapping, offset uint64, b []byte) bool {
	name := pr.File(m)
	return name != "" && copy(b, pr.r.read(name, offset, uint64(len(b)))) == len(b)
}

// A resolver mostly reads single instructions and small functions near each other. So it reads
// files in blocks and caches these. Functions that cross the end of a block are few, and are read
// without the cache. A disassembler reads most functions once, in order of their values: it adds no
// blocks to the cache.
const (
	blockSize = 32 << 10
	maxBlocks = 512 // blocks that a resolver caches
	maxOpened = 8   // open files
)

// block identifies a block of a file.
type block struct {
	path   string
	number uint64
}

// fileContents reads the files of load objects.
type fileContents struct {
	rec      *decode.Recording // collects host errors
	open     []*os.File        // most recently read first
	blocks   map[block][]byte
	readOnly bool // blocks belongs to another fileContents: add none
}

// read returns the bytes of a file at an offset, fewer than size if the file ends before. They are
// read-only.
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

// block returns the block with this number; the last block of a file is shorter. It returns false
// if a part of the block is unreadable (the caller's bytes may be readable), or if the block is not
// cached and the cache is read-only.
func (c *fileContents) block(path string, number uint64) ([]byte, bool) {
	k := block{path, number}
	if b, ok := c.blocks[k]; ok {
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
	c.blocks[k] = b[:n]
	return b[:n], true
}

// openFile opens a load object's file, nil if it is gone. The most recently used files stay open.
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

// closeFiles closes the files. Cached blocks stay.
func (c *fileContents) closeFiles() {
	for _, f := range c.open {
		f.Close()
	}
	c.open = nil
}
