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
	"stackmill/internal/spill"
	"stackmill/schema"
	"stackmill/stages/decode/mmap"
)

// identify derives an experiment's id from the content of its files, and
// returns their size. A recording without content is identified by its name.
func (in input) identify(ctx context.Context) (id string, size int64, err error) {
	files, err := in.decoder.Files(in.at)
	if err != nil {
		return "", 0, err
	}
	h := schema.NewID("experiment").Text(in.decoder.Name())
	room := spill.Of(ctx).Mapped
	for _, name := range files {
		sum, n, err := contentOf(ctx, filepath.Join(in.at, name), &room)
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
	// hashedAtOnce is how much of a file is hashed by itself: parts of large ones at the
	// same time.
	hashedAtOnce = 16 << 20
	// hashedEach is how much is read at a time: what stays in a processor's cache until it
	// is hashed.
	hashedEach = 256 << 10
	// leastMapped is the size from which files are mapped, which the decoder reads, too.
	leastMapped = 1 << 20
)

// contentPart is a part of a file's content.
type contentPart struct {
	digest xxhash.Digest
	err    error
}

// contentOf returns a hash of a file's content, or of those of its parts if it is large,
// and its size. Files that fit in the room, which it takes up, are mapped: that they are
// identified and decoded costs their page faults once.
func contentOf(ctx context.Context, path string, room *int64) (sum uint64, size int64, err error) {
	f, info, err := safefile.Open(path, safefile.Recording)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	size = info.Size()
	hash := func(p *contentPart, from, n int64) error { return p.read(ctx, io.NewSectionReader(f, from, n)) }
	if size >= leastMapped && size <= *room {
		m, err := mmap.Open(ctx, path, filepath.Base(path))
		if err != nil {
			return 0, 0, err
		}
		defer m.Unmap()
		size = int64(len(m.Data))
		*room -= size
		hash = func(p *contentPart, from, n int64) error { return p.look(m, int(from), int(from+n)) }
	}
	sum, err = hashOf(size, func(p *contentPart, from, n int64) error {
		if n == hashedAtOnce && safefile.IsHole(f, from, n) {
			p.digest = zeros()
			return nil
		}
		return hash(p, from, n)
	})
	return sum, size, err
}

// zeros is the hash of a part that has only zeros: a file of 100 GB that is mostly holes would
// take half a minute to read.
var zeros = sync.OnceValue(func() (h xxhash.Digest) {
	h.Reset()
	var block [hashedEach]byte
	for range hashedAtOnce / hashedEach {
		_, _ = h.Write(block[:]) // it never fails
	}
	return h
})

// hashOf returns the hash of so many bytes, of which hash adds some to a part.
func hashOf(size int64, hash func(p *contentPart, from, n int64) error) (sum uint64, err error) {
	var sums []byte
	ordered.Map(runtime.GOMAXPROCS(0), int((size+hashedAtOnce-1)/hashedAtOnce), func(_, n int, to *contentPart) {
		from := int64(n) * hashedAtOnce
		to.digest.Reset()
		to.err = hash(to, from, min(hashedAtOnce, size-from))
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

// hashBuffers are of hashedEach bytes: most recordings have many small files.
var hashBuffers = sync.Pool{New: func() any { return new([hashedEach]byte) }}

// read hashes all of a part. A file that became shorter is an error.
func (p *contentPart) read(ctx context.Context, part *io.SectionReader) error {
	buffer := hashBuffers.Get().(*[hashedEach]byte)
	defer hashBuffers.Put(buffer)
	for left := part.Size(); left > 0; {
		if ctx.Err() != nil {
			return hosterr.New(context.Cause(ctx))
		}
		n, err := part.Read(buffer[:min(left, hashedEach)])
		if err != nil {
			return fmt.Errorf("it became unreadable: %w", err)
		}
		_, _ = p.digest.Write(buffer[:n]) // it never fails
		left -= int64(n)
	}
	return nil
}

// look is read of a mapped file, between two offsets.
func (p *contentPart) look(m *mmap.File, from, end int) error {
	return m.Guard(func() {
		for from < end {
			ready := min(m.Fetch(from), end)
			_, _ = p.digest.Write(m.Data[from:ready]) // it never fails
			from = ready
		}
	})
}
