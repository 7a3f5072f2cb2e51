package storedir

import (
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

// Store files are opened in this file only: another user who can write the store may replace any
// of them by a pipe, a device or a link to a file of the reader.

// ErrNotRegular says that a store's file is not a regular file. Links are not followed.
var ErrNotRegular = errors.New("it is not a regular file (a link, pipe or device must not be here)")

// The largest store files that are held in memory, in bytes. One commit may have half a million
// experiments.
const (
	maxCommit  = 256 << 20
	maxJournal = 1 << 30
)

// openRegular opens a file without blocking.
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

// readWhole returns the content of a file that a directory lists as regular, and its attributes
// before. A store has thousands of these: this takes two system calls fewer than os.ReadFile.
func readWhole(path string, limit int64) ([]byte, fs.FileInfo, error) {
	f, info, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if info.Size() > limit {
		return nil, info, fmt.Errorf("%s: %w: it has %d bytes, and may have %d", path, ErrDamaged, info.Size(), limit)
	}
	data := make([]byte, info.Size()+1) // one more, to see the end
	switch n, err := f.Read(data); {
	case errors.Is(err, io.EOF) || err == nil && int64(n) == info.Size():
		return data[:n], info, nil
	case err != nil:
		return nil, info, err
	default:
		rest, err := io.ReadAll(io.LimitReader(f, limit))
		return append(data[:n], rest...), info, err
	}
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
	if err := IsRegular(path); err != nil { // to open alone changes some devices
		return nil, err
	}
	data, _, err := readWhole(path, limit)
	return data, err
}

// OpenFile opens a table's file by its path relative to the store. The error is fs.ErrNotExist if
// it is missing, ErrNotRegular if it is not regular or, with links resolved, outside of the
// store.
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

// inStore explains the error of an os.Root: a path that is neither missing nor forbidden leads
// out of it.
func inStore(name string, err error) error {
	var system unix.Errno
	if err == nil || errors.As(err, &system) {
		return err
	}
	return fmt.Errorf("%s: %w: %w", name, ErrNotRegular, err)
}

// fewFiles is up to how many files of a table are checked one by one: for more, listing the
// folder takes one call for hundreds of them, even on a remote file system.
const fewFiles = 16

// UnreadableFiles returns, by path, why files of tables must not be read: they are missing, not
// regular, outside of the store with links resolved, or have another footer than their commit
// says.
func UnreadableFiles(store string, files iter.Seq[File]) (map[string]error, error) {
	root, err := os.OpenRoot(store)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	names, footers := map[string][]string{}, map[string][]File{} // by folder
	for f := range files {
		dir, _ := cutBase(f.Path)
		if f.Footer != "" {
			footers[dir] = append(footers[dir], f)
		} else {
			names[dir] = append(names[dir], f.Path)
		}
	}
	unfit := map[string]error{}
	for dir, list := range footers {
		maps.Copy(unfit, damagedFooters(root, filepath.FromSlash(dir), list))
	}
	for dir, list := range names {
		look := func(name string) error { return regularIn(root, name) }
		if len(list) > fewFiles {
			if look, err = listRegular(root, dir); err != nil {
				look = func(string) error { return err }
			}
		}
		for _, name := range list {
			if err := look(name); err != nil {
				unfit[name] = err
			}
		}
	}
	return unfit, nil
}

// listRegular lists a folder once and returns a function that checks its files.
func listRegular(root *os.Root, dir string) (func(name string) error, error) {
	d, err := root.Open(filepath.FromSlash(dir))
	if err != nil {
		return nil, inStore(dir, err)
	}
	defer d.Close()
	// A file of an os.Root stats each entry, which takes ten times as long.
	fd, err := unix.FcntlInt(d.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	plain := os.NewFile(uintptr(fd), filepath.Join(root.Name(), filepath.FromSlash(dir)))
	defer plain.Close()
	entries, err := plain.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	regular := make(map[string]bool, len(entries))
	for _, e := range entries {
		regular[e.Name()] = e.Type().IsRegular()
	}
	return func(name string) error {
		_, base := cutBase(name)
		switch is, there := regular[base]; {
		case !there:
			return fmt.Errorf("%s: %w", name, fs.ErrNotExist)
		case !is:
			return fmt.Errorf("%s: %w", name, ErrNotRegular)
		}
		return nil
	}, nil
}

// cutBase splits a path before its last part.
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
