// Package safefile opens the files that recordings consist of or name: logs, load objects, symbol
// lists, sources. These files are not trusted: reading a pipe may block forever, a device has no
// end, and a file may be far larger than its kind usually is.
package safefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Reasons to refuse a file.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrTooLarge   = errors.New("too large")
)

// Open opens a regular file of at most limit bytes; limits.go has the limits. It never blocks. It
// refuses special files with ErrNotRegular before opening them, because opening changes some
// devices, and checks the open file again, in case the path was replaced.
func Open(path string, limit int64) (*os.File, fs.FileInfo, error) {
	if _, err := Stat(path); err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = check(path, info, limit)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// Read returns the content of a regular file of at most limit bytes. It does not rely on the file's
// size, which may grow, and which is 0 for the kernel's files.
func Read(path string, limit int64) ([]byte, error) {
	f, _, err := Open(path, limit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = tooLarge(path, limit)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// Stat describes a regular file; for other files the error is ErrNotRegular.
func Stat(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := check(path, info, info.Size()); err != nil {
		return nil, err
	}
	return info, nil
}

func check(path string, info fs.FileInfo, limit int64) error {
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: %w", path, ErrNotRegular)
	case info.Size() > limit:
		return tooLarge(path, limit)
	}
	return nil
}

func tooLarge(path string, limit int64) error {
	return fmt.Errorf("%s: %w: more than %d bytes", path, ErrTooLarge, limit)
}
