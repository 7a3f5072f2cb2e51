// Package spill writes numbers that do not fit in memory to an unnamed temporary file.
package spill

import (
	"context"
	"errors"
	"io"
	"math"
	"sync"

	"stackmill/internal/hosterr"
)

// File is the temporary file. It is closed once its content is no longer needed.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
}

// Space is the temporary file to which the lists of one recording write what exceeds their memory.
// It is safe for concurrent use. Its errors are host errors.
type Space struct {
	// Memory is how many bytes of a list stay in memory.
	Memory int64
	// Mapped is how many bytes of the recording's files may stay mapped, so that they need not be
	// read again.
	Mapped int64

	create func() (File, error)
	mu     sync.Mutex
	file   File   // nil before the first use
	buffer []byte // appended but not yet written
	end    int64  // end of the written bytes
	err    error  // the first error
}

// bufferBytes is the size of one write to the file.
const bufferBytes = 1 << 20

// New returns a space for lists that keep up to memory bytes each in memory. create makes the file
// when a list first needs it.
func New(memory int64, create func() (File, error)) *Space {
	return &Space{Memory: memory, create: create}
}

// unlimited is the space for lists without a memory limit.
var unlimited = New(math.MaxInt64, nil)

type contextKey struct{}

// NewContext returns a context that carries a recording's space.
func NewContext(ctx context.Context, s *Space) context.Context {
	return context.WithValue(ctx, contextKey{}, s)
}

// FromContext returns the context's space, or else an unlimited one.
func FromContext(ctx context.Context) *Space {
	if s, ok := ctx.Value(contextKey{}).(*Space); ok {
		return s
	}
	return unlimited
}

// Append appends bytes to the file, and returns their offset.
func (s *Space) Append(b []byte) (at int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	at = s.end + int64(len(s.buffer))
	if s.buffer = append(s.buffer, b...); len(s.buffer) >= bufferBytes {
		err = s.flush()
	}
	return at, err
}

// WriteAt replaces appended bytes.
func (s *Space) WriteAt(b []byte, at int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.flush(); err != nil {
		return err
	}
	_, err := s.file.WriteAt(b, at)
	return s.keepError(err)
}

// ReadAt fills b with appended bytes.
func (s *Space) ReadAt(b []byte, at int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.flush(); err != nil {
		return err
	}
	_, err := s.file.ReadAt(b, at)
	return s.keepError(err)
}

// flush writes the buffer, and creates the file if needed.
func (s *Space) flush() (err error) {
	if s.err != nil {
		return s.err
	}
	if s.file == nil {
		f, err := s.create()
		if err != nil {
			return s.keepError(err)
		}
		s.file = f
	}
	if len(s.buffer) == 0 {
		return nil
	}
	if _, err := s.file.WriteAt(s.buffer, s.end); err != nil {
		return s.keepError(err)
	}
	s.end += int64(len(s.buffer))
	s.buffer = s.buffer[:0]
	return nil
}

// Close closes the file.
func (s *Space) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.file
	s.file, s.buffer = nil, nil
	_ = s.keepError(errClosed)
	if f == nil {
		return nil
	}
	return f.Close()
}

var errClosed = errors.New("the spill file is closed")

// keepError keeps the first error, as a host error. Nothing is written after it.
func (s *Space) keepError(err error) error {
	if err == nil {
		return nil
	}
	err = hosterr.New(err)
	if s.buffer = nil; s.err == nil {
		s.err = err
	}
	return err
}
