package storedir

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
)

// lockSuffix ends the name of the lock beside a scratch folder.
const lockSuffix = ".lock"

// Scratch is a folder for this process alone. When the process is killed, Clean
// removes it. The lock is there, and locked, before the folder is, and goes after
// it: a folder without a lock is unused.
type Scratch struct {
	Dir  string
	lock *os.File
}

// NewScratch makes a folder in a store for files that will be moved to their place.
func NewScratch(store string) (*Scratch, error) {
	return newScratch(store, fmt.Sprintf("%s%08x", ScratchPrefix, rand.Uint32()), func() bool { return false })
}

// ScratchPrefix begins the names that NewScratch makes.
const ScratchPrefix = ".catalog-"

// NewStaging makes a folder in a store, which it creates if need be, for the files of a
// batch whose name is not known yet.
func NewStaging(store string) (*Scratch, error) {
	if err := makeDirs(store); err != nil {
		return nil, err
	}
	s, err := newScratch(filepath.Join(store, StagingDir), fmt.Sprintf("%s%08x", stagingPrefix, rand.Uint32()), func() bool { return false })
	if err != nil {
		return nil, fmt.Errorf("create batch: %w", err)
	}
	return s, nil
}

// stagingPrefix begins the names that NewStaging makes.
const stagingPrefix = "new-"

// NewAttempt makes the folder of an attempt to commit a batch, in a store that it
// creates if need be.
func NewAttempt(store, batch string) (*Scratch, error) {
	if err := makeDirs(store); err != nil {
		return nil, err
	}
	// A batch that is committed has the files of its name.
	s, err := newScratch(filepath.Join(store, StagingDir), batch, func() bool {
		_, err := os.Lstat(commitPath(store, batch))
		return !errors.Is(err, fs.ErrNotExist)
	})
	if err != nil {
		return nil, fmt.Errorf("create batch: %w", err)
	}
	return s, nil
}

// errTaken says that another process has a scratch folder's name.
var errTaken = errors.New("the name is taken")

// claims bounds how many names are tried.
const claims = 100

// newScratch makes a scratch folder in root: of that name, or with a random part added
// if the name is taken or if used, called once the name is ours, says so.
func newScratch(root, name string, used func() bool) (*Scratch, error) {
	for n := range claims {
		try := name
		if n > 0 {
			try = fmt.Sprintf("%s-%08x", name, rand.Uint32())
		}
		s, err := claim(filepath.Join(root, try))
		if errors.Is(err, errTaken) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if n == 0 && used() {
			s.Remove()
			continue
		}
		if err := os.Mkdir(s.Dir, 0o777); err == nil {
			return s, nil
		} else if s.Remove(); !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s: %w", filepath.Join(root, name), errTaken)
}

// claim takes a scratch folder's name; it does not make the folder.
func claim(dir string) (*Scratch, error) {
	f, err := os.OpenFile(dir+lockSuffix, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil, errTaken
	}
	if err != nil {
		return nil, err
	}
	// Clean may have seen the new file before it was locked.
	if err := hold(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Scratch{dir, f}, nil
}

// hold locks a lock's file, which must still have its name: the error is errTaken
// if another process has locked or removed it.
func hold(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errTaken
	}
	if err != nil {
		return &fs.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
	ours, err := f.Stat()
	if err != nil {
		return err
	}
	named, err := os.Stat(f.Name())
	if err != nil || !os.SameFile(ours, named) {
		return errTaken
	}
	return nil
}

// takeOver claims the name of a scratch folder that no process uses any more, or that
// does not exist. The error is errTaken if a process does.
func takeOver(dir string) (*Scratch, error) {
	f, err := os.OpenFile(dir+lockSuffix, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := hold(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Scratch{dir, f}, nil
}

// Remove removes the folder and gives up its name. What cannot be removed goes
// with the next Clean.
func (s *Scratch) Remove() {
	if os.RemoveAll(s.Dir) == nil {
		_ = os.Remove(s.lock.Name())
	}
	s.Abandon()
}

// Abandon leaves the folder to the next Clean, as the end of the process does.
func (s *Scratch) Abandon() { _ = s.lock.Close() }
