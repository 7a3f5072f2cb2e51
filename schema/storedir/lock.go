package storedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lockSuffix ends the name of a scratch folder's lock.
const lockSuffix = ".lock"

// kernel is the boot id of the running kernel, empty if unknown. Each lock file contains it: a lock
// of the same kernel is reliable, while some file systems do not show locks of other machines.
var kernel = sync.OnceValue(func() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
})

// abandonedAfter is how long a scratch folder of another machine must be unchanged to count as
// abandoned, since its lock may be invisible here.
const abandonedAfter = 24 * time.Hour

// claim creates and locks the lock file for a scratch folder; the error is errTaken if there is
// one. It does not create the folder.
func claim(dir string) (*Scratch, error) {
	s, err := claimWhole(dir)
	if err == nil || errors.Is(err, errTaken) {
		return s, err
	}
	f, err := os.OpenFile(dir+lockSuffix, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil, errTaken
	}
	if err != nil {
		return nil, err
	}
	s, err = lockNamed(dir, f)
	if err != nil && !errors.Is(err, errTaken) {
		_ = os.Remove(f.Name()) // nobody else would remove it for a day
	}
	return s, err
}

// claimWhole is claim for systems with unnamed files: the lock file gets its name only when it is
// locked and has its content. Otherwise a process that is killed in between leaves an empty lock
// file, which nobody removes for a day.
func claimWhole(dir string) (*Scratch, error) {
	path := dir + lockSuffix
	fd, err := unix.Open(filepath.Dir(path), unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o666)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), path)
	if err = lockFile(f); err == nil {
		err = unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
	}
	if errors.Is(err, fs.ErrExist) {
		err = errTaken
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Scratch{dir, f}, nil
}

// takeOver claims a scratch folder that is abandoned or missing. The error is errTaken if a process
// uses the folder, or may use it.
func takeOver(dir string) (*Scratch, error) {
	s, err := claim(dir)
	if !errors.Is(err, errTaken) {
		return s, err
	}
	f, _, err := openRegular(dir+lockSuffix, os.O_RDWR)
	if err != nil {
		return nil, err
	}
	if isForeignLock(f) && !isStale(dir) {
		return nil, errors.Join(errTaken, f.Close())
	}
	return lockNamed(dir, f)
}

// lockNamed locks a lock file. The error is errTaken if another process has locked it, or has
// removed it meanwhile.
func lockNamed(dir string, f *os.File) (*Scratch, error) {
	err := lockFile(f)
	if err == nil && !stillNamed(f) {
		err = errTaken
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Scratch{dir, f}, nil
}

// lockFile locks a lock file and writes the id of this kernel into it. The error is errTaken if
// another process has locked it.
func lockFile(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errTaken
	}
	if err != nil {
		return &fs.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
	_, err = f.WriteAt([]byte(kernel()+"\n"), 0)
	return err
}

// stillNamed reports whether the path of an open file still leads to that file.
func stillNamed(f *os.File) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(f.Name())
	return err == nil && os.SameFile(open, there)
}

// isForeignLock reports whether a lock may belong to another machine, or is too new to have
// content.
func isForeignLock(f *os.File) bool {
	id := make([]byte, len(kernel()))
	_, err := f.ReadAt(id, 0)
	return err != nil || len(id) == 0 || string(id) != kernel()
}

// isStale reports whether nothing in a scratch folder has changed for abandonedAfter.
func isStale(dir string) bool {
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	paths := []string{dir, dir + lockSuffix}
	for _, f := range files {
		paths = append(paths, filepath.Join(dir, f.Name()))
	}
	for _, path := range paths {
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil, time.Since(info.ModTime()) < abandonedAfter:
			return false
		}
	}
	return true
}

// isAlive reports whether a process uses a scratch folder, or may use it.
func isAlive(dir string) bool {
	f, _, err := openRegular(dir+lockSuffix, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	if isForeignLock(f) {
		return !isStale(dir)
	}
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}
