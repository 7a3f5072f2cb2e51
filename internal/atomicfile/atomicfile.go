// Package atomicfile writes output files atomically: complete or not at all.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Write replaces a file by complete new content. It writes directly to anything else, such as a
// pipe, a device or an open descriptor.
func Write(path string, write func(io.Writer) error) error {
	if n, ok := descriptor(path); ok {
		return writeDescriptor(path, n, write)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() {
		return Replace(path, write)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// Check returns the error with which Write would fail, so that callers can check before long work.
func Check(path string) error {
	if n, ok := descriptor(path); ok {
		return checkDescriptor(path, n)
	}
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir(), strings.HasSuffix(path, "/"):
		return &fs.PathError{Op: "write", Path: path, Err: unix.EISDIR}
	case err == nil && !info.Mode().IsRegular():
		if err := unix.Access(path, unix.W_OK); err != nil {
			return &fs.PathError{Op: "write", Path: path, Err: err}
		}
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	f, err := createContent(path)
	if err != nil {
		return err
	}
	return f.discard()
}

// Replace replaces a file: readers find the old content or the new, never a part. If the file system
// allows, the new content has no name until it is complete: a killed program leaves nothing behind.
func Replace(path string, write func(io.Writer) error) error {
	f, err := createContent(path)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err == nil && f.unnamed() {
		err = unix.Linkat(unix.AT_FDCWD, f.link(), unix.AT_FDCWD, f.temp, unix.AT_SYMLINK_FOLLOW)
	}
	if err == nil {
		err = os.Rename(f.temp, filepath.Clean(path))
	}
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		return errors.Join(err, f.discard())
	}
	return f.Close()
}

// syncDir flushes a folder, so that the names in it survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// newContent is a new file, in the target's folder, that replaces the target once it is complete.
type newContent struct {
	*os.File
	temp string // the name that it has or gets; random, so that nobody can create a link there first
}

// createContent creates the new file for path, with the umask's permissions.
func createContent(path string) (*newContent, error) {
	dir := filepath.Dir(path)
	temp := filepath.Join(dir, fmt.Sprintf(".%s.%016x.tmp", filepath.Base(path), rand.Uint64()))
	f, err := os.OpenFile(dir, unix.O_TMPFILE|os.O_WRONLY, 0o666)
	if err == nil {
		next := &newContent{f, temp}
		if _, err := os.Stat(next.link()); err == nil { // needs /proc
			return next, nil
		}
		_ = f.Close()
	}
	f, err = os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		err = &fs.PathError{Op: "write", Path: path, Err: at.Err}
	}
	return &newContent{f, temp}, err
}

func (f *newContent) unnamed() bool { return f.Name() != f.temp }

// link returns the open file's path in /proc. A hard link to it gives an unnamed file a name.
func (f *newContent) link() string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }

// discard removes the file.
func (f *newContent) discard() error {
	err := os.Remove(f.temp)
	if errors.Is(err, fs.ErrNotExist) { // the file has no name, or not yet
		err = nil
	}
	return errors.Join(f.Close(), err)
}

// descriptor returns the file descriptor of this process that a path such as /dev/stdout or
// /dev/fd/3 names. It follows symbolic links.
func descriptor(path string) (n int, ok bool) {
	const maxLinks = 40 // as in the kernel
	for range maxLinks {
		path = filepath.Clean(path)
		for _, dir := range []string{"/dev/fd/", "/proc/self/fd/", fmt.Sprintf("/proc/%d/fd/", os.Getpid())} {
			if number, under := strings.CutPrefix(path, dir); under {
				n, err := strconv.Atoi(number)
				return n, err == nil
			}
		}
		to, err := os.Readlink(path)
		if err != nil {
			return 0, false
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return 0, false
}

// checkDescriptor returns an error unless descriptor n is open for writing and was inherited. It
// recognizes files that this process opened itself by their close-on-exec flag.
func checkDescriptor(path string, n int) error {
	flags, err := unix.FcntlInt(uintptr(n), unix.F_GETFD, 0)
	mode, merr := unix.FcntlInt(uintptr(n), unix.F_GETFL, 0)
	if err != nil || merr != nil || flags&unix.FD_CLOEXEC != 0 || mode&unix.O_ACCMODE == unix.O_RDONLY {
		return &fs.PathError{Op: "write", Path: path, Err: unix.EBADF}
	}
	return nil
}

// writeDescriptor writes to an open file. Opening its path instead would write at the beginning of
// the file, and would fail for sockets.
func writeDescriptor(path string, n int, write func(io.Writer) error) error {
	if err := checkDescriptor(path, n); err != nil {
		return err
	}
	switch n {
	case 1:
		return write(os.Stdout) // a closed pipe ends the program quietly
	case 2:
		return write(os.Stderr)
	}
	own, err := unix.FcntlInt(uintptr(n), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(own), path)
	return errors.Join(write(f), f.Close())
}
