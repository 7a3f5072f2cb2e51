package pipeline

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/cespare/xxhash/v2"

	"stackmill/internal/hosterr"
	"stackmill/internal/ordered"
	"stackmill/internal/safefile"
	"stackmill/schema"
)

// identify derives the experiment id from the content of the input's files, and returns their size.
// A recording without content is identified by its name.
func (in input) identify(ctx context.Context) (id string, size int64, err error) {
	files, err := in.decoder.Files(in.at)
	if err != nil {
		return "", 0, err
	}
	h := schema.NewID("experiment").Text(in.decoder.Name())
	for _, name := range files {
		sum, n, err := contentOf(ctx, filepath.Join(in.at, name))
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

const (
	// hashPartBytes is the size of the parts of a large file that are hashed concurrently.
	hashPartBytes = 16 << 20
	// hashBufferBytes is how much is read before it is hashed: so little that it stays in the CPU
	// cache.
	hashBufferBytes = 256 << 10
)

// contentPart is the hash of a part of a file.
type contentPart struct {
	digest xxhash.Digest
	err    error
}

// contentOf returns a file's size and the hash of its content. The hash of a large file is a hash
// of its parts' hashes.
func contentOf(ctx context.Context, path string) (sum uint64, size int64, err error) {
	f, info, err := safefile.Open(path, safefile.Recording)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	size = info.Size()
	sum, err = hashOf(size, func(p *contentPart, from, n int64) error {
		if n == hashPartBytes && safefile.IsHole(f, from, n) {
			p.digest = zeros()
			return nil
		}
		return p.read(ctx, io.NewSectionReader(f, from, n))
	})
	return sum, size, err
}

// zeros is the hash of a part that contains only zeros. With it, holes of sparse files need not be
// read: for a file of 100 GB, that would take half a minute.
var zeros = sync.OnceValue(func() (h xxhash.Digest) {
	h.Reset()
	var block [hashBufferBytes]byte
	for range hashPartBytes / hashBufferBytes {
		_, _ = h.Write(block[:]) // it never fails
	}
	return h
})

// hashOf returns the hash of size bytes. hash adds the bytes [from, from+n) to a part's digest; it is
// called concurrently.
func hashOf(size int64, hash func(p *contentPart, from, n int64) error) (sum uint64, err error) {
	var sums []byte
	ordered.Map(runtime.GOMAXPROCS(0), int((size+hashPartBytes-1)/hashPartBytes), func(_, n int, to *contentPart) {
		from := int64(n) * hashPartBytes
		to.digest.Reset()
		to.err = hash(to, from, min(hashPartBytes, size-from))
	}, func(p *contentPart) bool {
		err = p.err
		sum = p.digest.Sum64()
		sums = binary.LittleEndian.AppendUint64(sums, sum)
		return err == nil
	})
	if len(sums) != 8 {
		sum = xxhash.Sum64(sums)
	}
	return sum, err
}

// hashBuffers are reused, because most recordings have many small files.
var hashBuffers = sync.Pool{New: func() any { return new([hashBufferBytes]byte) }}

// read hashes a part of a file. A file that became shorter is an error.
func (p *contentPart) read(ctx context.Context, part *io.SectionReader) error {
	buffer := hashBuffers.Get().(*[hashBufferBytes]byte)
	defer hashBuffers.Put(buffer)
	for left := part.Size(); left > 0; {
		if ctx.Err() != nil {
			return hosterr.New(context.Cause(ctx))
		}
		n, err := part.Read(buffer[:min(left, hashBufferBytes)])
		if err != nil {
			return fmt.Errorf("it became unreadable: %w", err)
		}
		_, _ = p.digest.Write(buffer[:n]) // it never fails
		left -= int64(n)
	}
	return nil
}
