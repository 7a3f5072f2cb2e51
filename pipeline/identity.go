package pipeline

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"sync"

	"github.com/cespare/xxhash/v2"

	"stackmill/schema"
	"stackmill/stages/infile"
)

// identify derives an experiment's id from the content of its files, and
// returns their size. A recording without content is identified by its name.
func (in input) identify(ctx context.Context) (id string, size int64, err error) {
	files, err := in.decoder.Files(in.path)
	if err != nil {
		return "", 0, err
	}
	h := schema.NewID("experiment").Text(in.decoder.Name())
	buffer := buffers.Get().(*[256 << 10]byte)
	defer buffers.Put(buffer)
	for _, name := range files {
		sum, n, err := contentOf(ctx, filepath.Join(in.path, name), buffer[:])
		if err != nil {
			return "", 0, err
		}
		size += n
		h.Text(name).Number(uint64(n)).Number(sum)
	}
	if size == 0 {
		h.Text(filepath.Base(in.path))
	}
	return fmt.Sprintf("%016x", h.Sum()), size, nil
}

// buffers are what recordings are read into: each is larger than many recordings.
var buffers = sync.Pool{New: func() any { return new([256 << 10]byte) }}

// size returns the size of the recording's files in bytes, 0 if unknown.
func (in input) size() int64 {
	if in.decoder == nil {
		return 0
	}
	files, err := in.decoder.Files(in.path)
	if err != nil {
		return 0 // identify reports it
	}
	total := int64(0)
	for _, name := range files {
		if info, err := infile.Stat(filepath.Join(in.path, name)); err == nil {
			total += info.Size()
		}
	}
	return total
}

func contentOf(ctx context.Context, path string, buffer []byte) (sum uint64, size int64, err error) {
	f, _, err := infile.Open(path, infile.Recording)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	d := xxhash.New()
	size, err = io.CopyBuffer(d, &stoppable{ctx, f}, buffer)
	return d.Sum64(), size, err
}

// stoppable is a reader that fails once its context has ended.
type stoppable struct {
	ctx  context.Context
	from io.Reader
}

func (s *stoppable) Read(b []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	return s.from.Read(b)
}
