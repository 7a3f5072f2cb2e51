package sandbox

import (
	"bytes"
	"io"
	"os"
	"sync/atomic"

	"stackmill/internal/tempdir"
)

// InMemory is how many bytes of an answer are kept in memory. A larger answer goes to a file.
const InMemory = 256 << 10

// LimitedBuffer is a writer that accepts a limited number of bytes.
type LimitedBuffer struct {
	Most int64 // bytes
	Full bool  // whether the limit was exceeded
	size int64
	text []byte
	file *os.File // nil while all bytes are in memory
}

// NewBounded returns a writer for at most that many bytes. It writes to file; if file is nil, to
// memory and, beyond InMemory, to a temporary file.
func NewBounded(most int64, file *os.File) *LimitedBuffer {
	return &LimitedBuffer{Most: most, file: file}
}

func (b *LimitedBuffer) Write(p []byte) (int, error) {
	if b.Full = b.Full || b.size+int64(len(p)) > b.Most; b.Full {
		return 0, ErrLarge
	}
	b.size += int64(len(p))
	if b.file == nil {
		if b.size <= InMemory {
			b.text = append(b.text, p...)
			return len(p), nil
		}
		file, err := tempdir.File()
		if err != nil {
			return 0, err
		}
		b.file = file
		if _, err := file.Write(b.text); err != nil {
			return 0, err
		}
		b.text = nil
	}
	return b.file.Write(p)
}

// Body returns what was written.
func (b *LimitedBuffer) Body() *Body { return &Body{Size: b.size, text: b.text, file: b.file} }

// Body is the content of an answer. Several users may read it at once; it is freed when the last of
// them releases it.
type Body struct {
	Size int64

	text   []byte
	file   *os.File
	shared atomic.Int32 // users besides the first
	freed  func()
}

// NewBody returns a body in memory.
func NewBody(text []byte) *Body { return &Body{Size: int64(len(text)), text: text} }

// Share adds users. Each must release the body.
func (b *Body) Share(users int) { b.shared.Add(int32(users)) }

// OnRelease sets a function that is called when the last user releases the body.
func (b *Body) OnRelease(f func()) { b.freed = f }

// Release ends a use of the body.
func (b *Body) Release() {
	if b.shared.Add(-1) >= 0 {
		return
	}
	if b.file != nil {
		_ = b.file.Close() // it was only read
	}
	if b.freed != nil {
		b.freed()
	}
}

// Reader returns a reader from the start of the body.
func (b *Body) Reader() io.Reader {
	if b.file == nil {
		return bytes.NewReader(b.text)
	}
	return io.NewSectionReader(b.file, 0, b.Size)
}

// Bytes returns the whole body.
func (b *Body) Bytes() ([]byte, error) {
	if b.file == nil {
		return b.text, nil
	}
	text := make([]byte, b.Size)
	_, err := io.ReadFull(b.Reader(), text)
	return text, err
}
