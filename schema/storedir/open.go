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

// Store files are opened here, and nowhere else: a colleague who can write the store may put a
// pipe, a device or a link to a file of the reader in the place of any of them.

// ErrNotRegular says that something else than a regular file is in the place of one of a
// store's files. Links are not followed.
var ErrNotRegular = errors.New("it is not a regular file (a link, pipe or device must not be here)")

// The largest of a store's files that are held in memory, in bytes. Half a million experiments
// may be in one commit.
const (
	maxCommit  = 256 << 20
	maxJournal = 1 << 30
	maxHint    = 4 << 10
)

// openRegular opens a file without waiting for anybody.
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

// readWhole returns the content of a file that a directory lists as regular, and what it was
// before. A store has thousands of these: it takes two system calls fewer than os.ReadFile.
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

// IsRegular returns an error unless a regular file has the path. It opens nothing.
func IsRegular(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", path, ErrNotRegular)
	}
	return err
}

// ReadFile returns the content of a regular file of at most so many bytes. The error wraps
// ErrNotRegular for anything else.
func ReadFile(path string, limit int64) ([]byte, error) {
	if err := IsRegular(path); err != nil { // to open alone changes some devices
		return nil, err
	}
	data, _, err := readWhole(path, limit)
	return data, err
}

// ReadHint returns the content of a small file of a store, nil if it cannot be read.
func ReadHint(store, name string) []byte {
	data, err := ReadFile(filepath.Join(store, name), maxHint)
	if err != nil {
		return nil
	}
	return data
}

// WriteHint replaces the content of a small file of a store, if it is a regular file or not
// there. Its content need not survive a power cut.
func WriteHint(store, name, content string) error {
	path := filepath.Join(store, name)
	if err := IsRegular(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, _, err := openRegular(path, os.O_WRONLY|os.O_CREATE)
	if err != nil {
		return err
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteString(content)
	}
	return errors.Join(err, f.Close())
}

// OpenFile opens a file of a table, by its path relative to the store. The error is
// fs.ErrNotExist if it is missing, ErrNotRegular if it is none or lies outside of the store once
// links are resolved.
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

// inStore words the error of an os.Root: what is neither missing nor forbidden is outside of it.
func inStore(name string, err error) error {
	var system unix.Errno
	if err == nil || errors.As(err, &system) {
		return err
	}
	return fmt.Errorf("%s: %w: %w", name, ErrNotRegular, err)
}

// fewFiles is how many files of a table are looked at one by one: of more, the folder is listed,
// which takes one call for hundreds of them also where the store is on another machine.
const fewFiles = 16

// UnreadableFiles returns why files of tables must not be read, by path: they are missing, not regular,
// outside of the store once links are resolved, or have another footer than their commit says.
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

// listRegular returns what says of files of a folder, which is listed once, whether they are fit.
func listRegular(root *os.Root, dir string) (func(name string) error, error) {
	d, err := root.Open(filepath.FromSlash(dir))
	if err != nil {
		return nil, inStore(dir, err)
	}
	defer d.Close()
	// What an os.Root has opened looks at each entry by itself, in ten times the time.
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

// cutBase cuts a path before its last part.
func cutBase(name string) (dir, base string) {
	i := strings.LastIndexByte(name, '/')
	return name[:max(i, 0)], name[i+1:]
}

// removeFile removes a file of a table; one that lies outside of the store stays.
func removeFile(store, name string) error {
	root, err := os.OpenRoot(store)
	if err != nil {
		return ignoreMissing(err)
	}
	defer root.Close()
	return ignoreMissing(root.Remove(filepath.FromSlash(name)))
}
