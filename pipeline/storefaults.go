package pipeline

import (
	"errors"
	"strings"
	"sync"
	"syscall"

	"stackmill/internal/hosterr"
)

// errStore is an error of writing the store. It probably affects all other experiments, too.
type errStore struct{ error }

func (e errStore) Unwrap() error { return e.error }

// Error leaves out which file was written, so that equal errors are reported once.
func (e errStore) Error() string {
	var cause syscall.Errno
	if errors.As(e.error, &cause) {
		return "the store cannot be written: " + cause.Error()
	}
	first, _, _ := strings.Cut(e.error.Error(), "\n")
	return "the store cannot be written: " + first
}

// storeFault wraps an error of the store; nil stays nil.
func storeFault(err error) error {
	if err == nil {
		return nil
	}
	return errStore{hosterr.New(err)}
}

// maxStoreFaults is how many experiments in a row that cannot be written stop the run. A single one
// may just be larger than the free space on the disk.
const maxStoreFaults = 3

// storeFaults counts experiments in a row that could not be written.
type storeFaults struct {
	mu    sync.Mutex
	inRow int
}

// add takes the error of an attempt, or nil, and reports whether to stop the run.
func (s *storeFaults) add(err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.inRow = 0
	} else if errors.As(err, new(errStore)) {
		s.inRow++
	}
	return s.inRow >= maxStoreFaults
}
