package storedir

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Scratch is a private folder of this process, with a lock file next to it. If the process is
// killed, Clean removes both. The lock exists before the folder and is removed after it, so a
// folder without a lock is unused.
type Scratch struct {
	Dir  string
	lock *os.File
}

// NewScratch makes a folder in a store for files that will be moved into place.
func NewScratch(store string) (*Scratch, error) {
	return newScratch(store, fmt.Sprintf("%s%08x", ScratchPrefix, rand.Uint32()), func() bool { return false })
}

// ScratchPrefix begins the names of NewScratch's folders.
const ScratchPrefix = ".catalog-"

// NewStaging makes a folder for the files of a batch whose name is not known yet. It creates the
// store if needed.
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

// stagingPrefix begins the names of NewStaging's folders.
const stagingPrefix = "new-"

// NewAttempt makes the folder of an attempt to commit a batch. It creates the store if needed.
func NewAttempt(store, batch string) (*Scratch, error) {
	if err := makeDirs(store); err != nil {
		return nil, err
	}
	// The files of a committed batch may have its plain name. In a remote store, another machine
	// may have committed it.
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

// errTaken says that another process uses a scratch folder of this name.
var errTaken = errors.New("the name is taken")

// claims is how many names newScratch tries.
const claims = 100

// newScratch makes a scratch folder in root. It adds a random part to the name if the name is
// taken, or if used, called when the name is locked, returns true.
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

// Remove removes the folder and its lock. If that fails, the next Clean removes what is left.
func (s *Scratch) Remove() {
	if os.RemoveAll(s.Dir) == nil {
		_ = os.Remove(s.lock.Name())
	}
	s.Abandon()
}

// Abandon leaves the folder to the next Clean, as if the process had ended.
func (s *Scratch) Abandon() { _ = s.lock.Close() }
