package storedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// makeDir makes a directory and its parents, and flushes them to disk.
func makeDir(dir string) error {
	err := os.Mkdir(dir, 0o777)
	switch above := filepath.Dir(dir); {
	case err == nil:
		return SyncDir(above)
	case errors.Is(err, fs.ErrNotExist) && above != dir:
		if err := makeDir(above); err != nil {
			return err
		}
		return makeDir(dir)
	case errors.Is(err, fs.ErrExist):
		if info, serr := os.Stat(dir); serr == nil && info.IsDir() {
			return nil
		}
	}
	return err
}

// Create makes the folder of a store, unless it exists.
func Create(store string) error {
	if err := makeDir(store); err != nil {
		return fmt.Errorf("create store: %w", err)
	}
	return nil
}

// SyncDir flushes a directory, so that the names in it survive a power cut.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// writeFlushed creates a file with this content and flushes it to disk.
func writeFlushed(path string, data []byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// ReplaceFile moves temp to path, which may exist. After a power cut, path is either the old file
// or the new one, complete. Both must be on the same file system.
func ReplaceFile(temp, path string) error {
	f, err := os.Open(temp)
	if err != nil {
		return err
	}
	err = errors.Join(f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}
