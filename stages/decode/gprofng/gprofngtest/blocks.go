package gprofngtest

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
)

// The sizes of the buffers that collectors give to threads.
const (
	blockSize    = 1 << 16
	oldBlockSize = 1 << 14 // of Studio 12.3
)

// Packet types that end a block (gprofng-experiment 3.1).
const (
	typeEmpty  = 0
	typeClosed = 0xffff
)

// blocks is a file that several buffers fill concurrently: each buffer owns a block of the file
// until the block is full.
type blocks struct {
	file    *os.File
	order   binary.AppendByteOrder
	size    int // of a block
	buffers []buffer
	used    int64 // number of blocks given to buffers
	zeros   bool  // fill the last blocks with NULs, not with an empty packet
}

type buffer struct {
	block int64
	data  []byte
	open  bool
}

func (e *Experiment) newBlocks(name string) (*blocks, error) {
	f, err := os.Create(filepath.Join(e.Dir, name))
	return &blocks{file: f, order: e.order(), size: e.Form.BlockSize()}, err
}

// append returns buffer n with room for size more bytes. The caller appends to its data and passes
// it to put.
func (b *blocks) append(n, size int) (*buffer, error) {
	if size > b.size {
		return nil, fmt.Errorf("a packet of %d bytes does not fit a block", size)
	}
	for len(b.buffers) <= n {
		b.buffers = append(b.buffers, buffer{})
	}
	buf := &b.buffers[n]
	if buf.open && len(buf.data)+size > b.size {
		if err := b.flush(buf, typeClosed); err != nil {
			return nil, err
		}
	}
	if !buf.open {
		buf.open, buf.block = true, b.used
		buf.data = buf.data[:0]
		b.used++
	}
	return buf, nil
}

// flush writes a block. A packet of type rest, without content, fills the rest of the block.
func (b *blocks) flush(buf *buffer, rest uint16) error {
	buf.open = false
	if left := b.size - len(buf.data); left > 0 {
		if left < blockSize && !(rest == typeEmpty && b.zeros) {
			buf.data = b.order.AppendUint16(buf.data, uint16(left))
			buf.data = b.order.AppendUint16(buf.data, rest)
		}
		buf.data = append(buf.data, make([]byte, b.size-len(buf.data))...)
	}
	_, err := b.file.WriteAt(buf.data, buf.block*int64(b.size))
	return err
}

func (b *blocks) close() error {
	var err error
	for i := range b.buffers {
		if buf := &b.buffers[i]; buf.open {
			if e := b.flush(buf, typeEmpty); err == nil {
				err = e
			}
		}
	}
	if e := b.file.Close(); err == nil {
		err = e
	}
	return err
}
