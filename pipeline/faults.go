package pipeline

import (
	"errors"
	"strings"
	"sync"
	"syscall"

	"stackmill/internal/hosterr"
)

// errStore says that the store cannot be written: probably no other experiment can be
// committed either.
type errStore struct{ error }

func (e errStore) Unwrap() error { return e.error }

// Error is the same whatever was being written, so that it is reported once.
func (e errStore) Error() string {
	var cause syscall.Errno
	if errors.As(e.error, &cause) {
		return "the store cannot be written: " + cause.Error()
	}
	first, _, _ := strings.Cut(e.error.Error(), "\n")
	return "the store cannot be written: " + first
}

// storeFault makes a fault of the store of an error; nil stays nil.
func storeFault(err error) error {
	if err == nil {
		return nil
	}
	return errStore{hosterr.New(err)}
}

// maxStoreFaults is how many experiments in a row may fail to be written before
// the run stops. One may be larger than what is left on the disk.
const maxStoreFaults = 3

// storeFaults counts them.
type storeFaults struct {
	mu    sync.Mutex
	inRow int
}

// add counts an attempt by its error, and reports whether the run is to stop.
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
