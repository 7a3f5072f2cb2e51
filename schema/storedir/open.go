package storedir

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Only this source file opens store files. Another user who can write to the store may have
// replaced any of them by a pipe, a device, or a link to a file that only the reader may read.

// ErrNotRegular says that a store's file is not a regular file. Links are not followed.
var ErrNotRegular = errors.New("it is not a regular file (a link, pipe or device must not be here)")

// The largest store files that are held in memory, in bytes. One commit may have half a million
// experiments.
const (
	maxCommit  = 256 << 20
	maxJournal = 1 << 30
)

// openRegular opens a regular file. It does not follow links, and does not block on pipes.
func openRegular(path string, flag int) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, flag|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_NOCTTY, 0o666)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) || errors.Is(err, unix.ENODEV) {
		err = fmt.Errorf("%s: %w", path, ErrNotRegular)
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", path, ErrNotRegular)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// readWhole returns the content of a file and its attributes from before it was read.
func readWhole(path string, limit int64) ([]byte, fs.FileInfo, error) {
	f, info, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if info.Size() > limit {
		return nil, info, fmt.Errorf("%s: %w: it has %d bytes, more than the limit of %d", path, ErrDamaged, info.Size(), limit)
	}
	data := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	_, err = data.ReadFrom(io.LimitReader(f, limit))
	return data.Bytes(), info, err
}

// IsRegular returns an error unless path is a regular file. It opens nothing.
func IsRegular(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", path, ErrNotRegular)
	}
	return err
}

// ReadFile returns the content of a regular file of at most limit bytes. The error wraps
// ErrNotRegular for anything else.
func ReadFile(path string, limit int64) ([]byte, error) {
	if err := IsRegular(path); err != nil { // opening changes some devices
		return nil, err
	}
	data, _, err := readWhole(path, limit)
	return data, err
}

// OpenFile opens a table's file by its path relative to the store. The error is fs.ErrNotExist if
// it is missing, and ErrNotRegular if it is not a regular file, or links lead it out of the store.
func OpenFile(store, name string) (*os.File, error) {
	root, err := os.OpenRoot(store)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := regularIn(root, name); err != nil {
		return nil, err
	}
	f, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, inStore(name, err)
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, ErrNotRegular), err, f.Close())
	}
	return f, nil
}

func regularIn(root *os.Root, name string) error {
	info, err := root.Lstat(filepath.FromSlash(name))
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s: %w", name, ErrNotRegular)
	}
	return inStore(name, err)
}

// inStore explains an error of an os.Root: unless the file is missing or access is denied, the path
// leads out of the root.
func inStore(name string, err error) error {
	var system unix.Errno
	if err == nil || errors.As(err, &system) {
		return err
	}
	return fmt.Errorf("%s: %w: %w", name, ErrNotRegular, err)
}

// UnreadableFiles returns those files of tables that must not be read, by path, with the reason: a
// file is missing, is not regular, is outside of the store once links are followed, or has another
// footer than its commit says.
func UnreadableFiles(store string, files iter.Seq[File]) (map[string]error, error) {
	root, err := os.OpenRoot(store)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	unfit, footers := map[string]error{}, map[string][]File{} // by folder
	for f := range files {
		if f.Footer == "" { // an older commit lacks it
			if err := regularIn(root, f.Path); err != nil {
				unfit[f.Path] = err
			}
			continue
		}
		dir, _ := cutBase(f.Path)
		footers[dir] = append(footers[dir], f)
	}
	for dir, list := range footers {
		maps.Copy(unfit, damagedFooters(root, filepath.FromSlash(dir), list))
	}
	return unfit, nil
}

// cutBase splits a path into its directory and its last element.
func cutBase(name string) (dir, base string) {
	i := strings.LastIndexByte(name, '/')
	return name[:max(i, 0)], name[i+1:]
}

// removeFile removes a table's file, unless it lies outside of the store.
func removeFile(store, name string) error {
	root, err := os.OpenRoot(store)
	if err != nil {
		return ignoreMissing(err)
	}
	defer root.Close()
	return ignoreMissing(root.Remove(filepath.FromSlash(name)))
}
