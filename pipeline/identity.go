package pipeline

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cespare/xxhash/v2"

	"stackmill/schema"
)

// identify derives an experiment's id from the content of its files, and
// returns their size. A recording without content, which has nothing else to be
// known by, is known by its name.
func (in input) identify() (id string, size int64, err error) {
	files, err := in.decoder.Files(in.path)
	if err != nil {
		return "", 0, err
	}
	h := schema.NewID("experiment").Text(in.decoder.Name())
	buffer := make([]byte, 256<<10)
	for _, name := range files {
		sum, n, err := contentOf(filepath.Join(in.path, name), buffer)
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

// size returns the size of the recording's files in bytes, for progress only.
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
		if info, err := os.Stat(filepath.Join(in.path, name)); err == nil {
			total += info.Size()
		}
	}
	return total
}

func contentOf(path string, buffer []byte) (sum uint64, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	d := xxhash.New()
	size, err = io.CopyBuffer(d, struct{ io.Reader }{f}, buffer) // a bare File would use a buffer of its own
	return d.Sum64(), size, err
}
