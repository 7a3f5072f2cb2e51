package symbolize

import (
	"io"
	"math"
	"os"
	"slices"

	"stackmill/stages/infile"
)

// Most of what is asked of load objects' files are single instructions and small
// functions, near each other. Files are therefore read in blocks, which are kept. Few
// functions lie in two blocks, whose bytes are read by themselves, again and again.
const (
	blockSize = 32 << 10
	maxBlocks = 512
	maxOpened = 8 // files that are open at a time
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

// contents returns what stands in a file at an offset, less than the size if the file
// ends before that. It must not be changed.
func (r *Resolver) contents(path string, offset, size uint64) []byte {
	if offset > math.MaxInt64 {
		return nil
	}
	if at := offset % blockSize; at+size <= blockSize {
		if b, ok := r.block(path, offset/blockSize); ok {
			n := uint64(len(b))
			return b[min(at, n):min(at+size, n)]
		}
	}
	f := r.file(path)
	if f == nil {
		return nil
	}
	b := make([]byte, size)
	n, err := f.ReadAt(b, int64(offset))
	r.rec.Faulted(err)
	return b[:n]
}

// block returns a block, of which the file's last one is shorter. It is false if not
// all of it can be read: what was asked for may be readable.
func (r *Resolver) block(path string, number uint64) ([]byte, bool) {
	k := block{path, number}
	if r.last.content != nil && r.last.block == k {
		return r.last.content, true
	}
	if b, ok := r.blocks[k]; ok {
		r.last = lastBlock{k, b}
		return b, true
	}
	f := r.file(path)
	if f == nil {
		return nil, false
	}
	b := make([]byte, blockSize)
	n, err := f.ReadAt(b, int64(number*blockSize))
	if err != nil && err != io.EOF {
		return nil, false
	}
	if len(r.blocks) >= maxBlocks {
		clear(r.blocks)
	}
	r.blocks[k], r.last = b[:n], lastBlock{k, b[:n]}
	return b[:n], true
}

// file opens a load object's file; nil if it is gone. Those used last stay open.
func (r *Resolver) file(path string) *os.File {
	i := slices.IndexFunc(r.opened, func(f *os.File) bool { return f.Name() == path })
	if i < 0 {
		f, _, err := infile.Open(path, infile.LoadObject)
		if err != nil {
			r.rec.Faulted(err)
			return nil
		}
		if i = len(r.opened); i == maxOpened {
			i--
			r.opened[i].Close()
			r.opened[i] = f
		} else {
			r.opened = append(r.opened, f)
		}
	}
	f := r.opened[i]
	copy(r.opened[1:i+1], r.opened[:i])
	r.opened[0] = f
	return f
}

// closeFiles closes the files and forgets what was read of them.
func (r *Resolver) closeFiles() {
	for _, f := range r.opened {
		f.Close()
	}
	r.opened, r.last = nil, lastBlock{}
	clear(r.blocks)
}
