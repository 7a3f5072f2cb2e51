package pipeline

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/cespare/xxhash/v2"

	"stackmill/schema"
	"stackmill/stages/decode/mapped"
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

// hashedAtOnce is how much of a file is hashed by itself: parts of large ones at the same
// time.
const hashedAtOnce = 16 << 20

// contentOf returns a hash of a file's content, or of those of its parts if it is large,
// and its size.
func contentOf(ctx context.Context, path string) (sum uint64, size int64, err error) {
	f, err := mapped.Open(ctx, path, filepath.Base(path))
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, f.Unmap()) }()
	var sums []byte
	err = mapped.Pass(f, runtime.GOMAXPROCS(0), hashedAtOnce, func(piece []byte, first bool, d *xxhash.Digest) {
		if first {
			d.Reset()
		}
		_, _ = d.Write(piece) // it never fails
	}, func(d *xxhash.Digest) { sum = d.Sum64(); sums = binary.LittleEndian.AppendUint64(sums, sum) })
	if len(sums) != 8 {
		sum = xxhash.Sum64(sums)
	}
	return sum, int64(len(f.Data)), err
}
