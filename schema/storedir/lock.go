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

// lockSuffix ends the name of the lock beside a scratch folder.
const lockSuffix = ".lock"

// kernel identifies the running kernel, by whose locks its processes know each other, also
// on file systems that do not tell other machines of them. A lock's file says it. It is
// empty if that is unknown.
var kernel = sync.OnceValue(func() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
})

// abandonedAfter is for how long nothing must have changed in the scratch folder of another
// machine for it to be abandoned: its lock may not be seen here.
const abandonedAfter = 24 * time.Hour

// claim takes a scratch folder's name, which is free; it does not make the folder.
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
		_ = os.Remove(f.Name()) // no one else would for a day
	}
	return s, err
}

// claimWhole is claim where the system can make a file without a name: the lock says whose it
// is as soon as it is there. Otherwise a process that is killed may leave one that says nothing,
// which no one removes for a day.
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

// takeOver claims the name of a scratch folder that no process uses any more, or that
// does not exist. The error is errTaken if a process does, or may.
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

// lockNamed takes a lock's file, which must still have its name: the error is errTaken if another
// process has locked or removed it.
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

// lockFile locks a lock's file and says so in it. The error is errTaken if another process has
// locked it.
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

// stillNamed reports whether an open file still has its name.
func stillNamed(f *os.File) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(f.Name())
	return err == nil && os.SameFile(open, there)
}

// isForeignLock reports whether a lock may be another machine's, or has just been made.
func isForeignLock(f *os.File) bool {
	id := make([]byte, len(kernel()))
	_, err := f.ReadAt(id, 0)
	return err != nil || len(id) == 0 || string(id) != kernel()
}

// isStale reports whether nothing has changed in a scratch folder for long.
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

// isAlive reports whether a process uses a scratch folder, or may.
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
