package main

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

	"stackmill/schema/storedir"
)

// writeOutput writes to the path that a flag names. A file is replaced, complete; into
// anything else, such as a pipe, a device or an open descriptor, it is written directly.
func writeOutput(path string, write func(io.Writer) error) error {
	if n, ok := descriptorOf(path); ok {
		return writeDescriptor(path, n, write)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() {
		return writeWhole(path, write)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// checkWritable returns why writeOutput would fail, before the work whose result is written.
func checkWritable(path string) error {
	if n, ok := descriptorOf(path); ok {
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
	f, err := createBeside(path)
	if err != nil {
		return err
	}
	return f.discard()
}

// writeWhole replaces a file: readers find the old content or the new, never a part. Until
// then the new content has no name where the file system allows it, so that a program that is
// killed leaves nothing.
func writeWhole(path string, write func(io.Writer) error) error {
	f, err := createBeside(path)
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
		err = storedir.Place(f.temp, filepath.Clean(path))
	}
	if err != nil {
		return errors.Join(err, f.discard())
	}
	return f.Close()
}

// nextFile is the next content of a file, in the same folder.
type nextFile struct {
	*os.File
	temp string // its name, now or later: nobody can know it before and make it a link
}

// createBeside makes the file for the next content of another. Others may read it, as the
// umask says.
func createBeside(path string) (*nextFile, error) {
	dir := filepath.Dir(path)
	temp := filepath.Join(dir, fmt.Sprintf(".%s.%016x.tmp", filepath.Base(path), rand.Uint64()))
	f, err := os.OpenFile(dir, unix.O_TMPFILE|os.O_WRONLY, 0o666)
	if err == nil {
		next := &nextFile{f, temp}
		if _, err := os.Stat(next.link()); err == nil { // needs /proc
			return next, nil
		}
		_ = f.Close()
	}
	f, err = os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		err = &fs.PathError{Op: "write", Path: path, Err: at.Err}
	}
	return &nextFile{f, temp}, err
}

func (f *nextFile) unnamed() bool { return f.Name() != f.temp }

// link is what a name of the file can be made of.
func (f *nextFile) link() string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }

// discard removes the file.
func (f *nextFile) discard() error {
	err := os.Remove(f.temp)
	if errors.Is(err, fs.ErrNotExist) { // it has no name, or not yet
		err = nil
	}
	return errors.Join(f.Close(), err)
}

// descriptorOf returns which open file of this process a path such as /dev/stdout or /dev/fd/3
// names, also through links.
func descriptorOf(path string) (n int, ok bool) {
	const mostLinks = 40 // as the kernel
	for range mostLinks {
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

// checkDescriptor returns why nothing can be written into an open file. It must be one that
// this process was started with: those that it opened itself are closed on exec.
func checkDescriptor(path string, n int) error {
	flags, err := unix.FcntlInt(uintptr(n), unix.F_GETFD, 0)
	mode, merr := unix.FcntlInt(uintptr(n), unix.F_GETFL, 0)
	if err != nil || merr != nil || flags&unix.FD_CLOEXEC != 0 || mode&unix.O_ACCMODE == unix.O_RDONLY {
		return &fs.PathError{Op: "write", Path: path, Err: unix.EBADF}
	}
	return nil
}

// writeDescriptor writes into an open file. Opening its path instead would begin at the start
// of a file, and fails for sockets.
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
