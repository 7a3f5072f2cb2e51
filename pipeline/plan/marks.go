package plan

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"

	"stackmill/schema/storedir"
)

// Marks records which batches the tasks of a chunk commit: each is an empty file with the name of a
// batch, in a folder next to the report of the chunk. A task creates the mark before the batch, so
// that other runs of the task, later or concurrent, find the batch. Marks are never removed.
type Marks struct {
	store string
	dir   string // relative to the store, with slashes
}

// MarksOf returns the marks of a chunk.
func MarksOf(store, plan string, chunk int) Marks {
	return Marks{store, path.Join(Dir, plan, strconv.Itoa(chunk))}
}

// Add marks a batch. The mark need not survive a power failure.
func (m Marks) Add(batch string) error {
	file := path.Join(m.dir, batch)
	here := filepath.Join(m.store, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(here), 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(here, nil, 0o666); err != nil {
		return err
	}
	return storedir.Push(m.store, file)
}

// Batches returns the names of the marked batches.
func (m Marks) Batches() (batches []string, err error) {
	if err := storedir.Sync(m.store, m.dir); err != nil {
		return nil, err
	}
	marks, err := os.ReadDir(filepath.Join(m.store, filepath.FromSlash(m.dir)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, mark := range marks {
		batches = append(batches, mark.Name())
	}
	return batches, err
}
