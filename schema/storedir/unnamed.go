package storedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// NewUnnamed makes an unnamed file in a store, which it creates if needed: the file disappears
// when it is closed or the process ends.
func NewUnnamed(store string) (*os.File, error) {
	if err := makeDirs(store); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Join(store, StagingDir), "unnamed-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) { // Clean removes it
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// makeDirs makes the folders of a store.
func makeDirs(store string) error {
	for _, dir := range []string{TablesDir, CommitsDir, StagingDir} {
		if err := makeDir(filepath.Join(store, dir)); err != nil {
			return fmt.Errorf("create store: %w", err)
		}
	}
	return nil
}
