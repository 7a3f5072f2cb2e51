package pipeline

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"
	"runtime"

	"github.com/cespare/xxhash/v2"

	"stackmill/fault"
	"stackmill/schema"
	"stackmill/stages/infile"
	"stackmill/stages/relay"
)

// identify derives an experiment's id from the content of its files, and
// returns their size. A recording without content is identified by its name.
func (in input) identify(ctx context.Context) (id string, size int64, err error) {
	files, err := in.decoder.Files(in.path)
	if err != nil {
		return "", 0, err
	}
	h := schema.NewID("experiment").Text(in.decoder.Name())
	for _, name := range files {
		sum, n, err := contentOf(ctx, filepath.Join(in.path, name))
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
	// is hashed. That takes less time than to map as many pages.
	hashedEach = 256 << 10
)

// contentPart is a part of a file's content.
type contentPart struct {
	digest xxhash.Digest
	buffer []byte
	err    error
}

// contentOf returns a hash of a file's content, or of those of its parts if it is large,
// and its size.
func contentOf(ctx context.Context, path string) (sum uint64, size int64, err error) {
	f, info, err := infile.Open(path, infile.Recording)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	size = info.Size()
	parts := int((size + hashedAtOnce - 1) / hashedAtOnce)
	var sums []byte
	relay.Each(runtime.GOMAXPROCS(0), parts, func(_, n int, to *contentPart) {
		from := int64(n) * hashedAtOnce
		to.err = to.hash(ctx, io.NewSectionReader(f, from, min(hashedAtOnce, size-from)))
	}, func(p *contentPart) bool {
		err = p.err
		sum = p.digest.Sum64()
		sums = binary.LittleEndian.AppendUint64(sums, sum)
		return err == nil
	})
	if len(sums) != 8 {
		sum = xxhash.Sum64(sums)
	}
	return sum, size, err
}

// hash hashes all of a part. A file that became shorter is an error.
func (p *contentPart) hash(ctx context.Context, part *io.SectionReader) error {
	p.digest.Reset()
	left := part.Size()
	if len(p.buffer) == 0 {
		p.buffer = make([]byte, min(left, hashedEach))
	}
	for left > 0 {
		if ctx.Err() != nil {
			return fault.New(context.Cause(ctx))
		}
		n, err := part.Read(p.buffer[:min(left, int64(len(p.buffer)))])
		if err != nil {
			return fmt.Errorf("it became unreadable: %w", err)
		}
		_, _ = p.digest.Write(p.buffer[:n]) // it never fails
		left -= int64(n)
	}
	return nil
}
