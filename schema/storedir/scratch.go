package storedir

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Scratch is a folder for this process alone. When the process is killed, Clean
// removes it. The lock is there before the folder is, and goes after it: a folder
// without a lock is unused.
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
	// A batch that is committed has the files of its name. Elsewhere another machine may have them.
	s, err := newScratch(filepath.Join(store, StagingDir), batch, func() bool {
		if remoteOf(store) != nil {
			return true
		}
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
