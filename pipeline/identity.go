package pipeline

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/cespare/xxhash/v2"

	"stackmill/schema"
	"stackmill/stages/decode/mapped"
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

func contentOf(ctx context.Context, path string) (sum uint64, size int64, err error) {
	f, err := mapped.Open(ctx, path, filepath.Base(path))
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, f.Unmap()) }()
	d := xxhash.New()
	err = f.Pass(func(piece []byte) { _, _ = d.Write(piece) }) // it never fails
	return d.Sum64(), int64(len(f.Data)), err
}
