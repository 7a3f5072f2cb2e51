package s3cache

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"stackmill/schema/storedir"
)

// pinList lists the files that this process needs, which evict keeps. A file in dir has the list,
// for other processes. It is locked as long as the process lives.
type pinList struct {
	dir    string
	file   *os.File
	pinned map[string]bool
}

func newPinList(dir string) (*pinList, error) {
	f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("%016x", rand.Uint64())), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &pinList{dir, f, map[string]bool{}}, nil
}

// add pins files.
func (u *pinList) add(files []storedir.File) error {
	var text strings.Builder
	for _, f := range files {
		text.WriteString(f.Path + "\n")
		u.pinned[f.Path] = true
	}
	_, err := u.file.WriteString(text.String())
	return err
}

// forget unpins files. The caller holds the lock file of evict.
func (u *pinList) forget(which func(file string) bool) error {
	var text strings.Builder
	for file := range u.pinned {
		if which(file) {
			delete(u.pinned, file)
		} else {
			text.WriteString(file + "\n")
		}
	}
	if err := u.file.Truncate(0); err != nil {
		return err
	}
	_, err := u.file.WriteString(text.String())
	return err
}

// all returns the files that processes of this machine need. It removes the lists of ended
// processes.
func (u *pinList) all() (map[string]bool, error) {
	needed := map[string]bool{}
	entries, err := os.ReadDir(u.dir)
	for _, e := range entries {
		path := filepath.Join(u.dir, e.Name())
		f, err := os.Open(path)
		if err != nil {
			continue // just removed
		}
		if path != u.file.Name() && syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = errors.Join(os.Remove(path), f.Close()) // otherwise another process removes it
			continue
		}
		text, err := os.ReadFile(path)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			needed[strings.TrimSuffix(line, "\n")] = true
		}
	}
	return needed, err
}

// lock waits for a lock between processes of this machine.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil // it cannot fail
}
