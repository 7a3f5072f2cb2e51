// Package hosterr distinguishes errors of the host (this machine or this run) from defects of a
// recording. After a host error, which says nothing about the recording, nothing is committed, and
// the next run tries again.
package hosterr

import (
	"context"
	"errors"

	"golang.org/x/sys/unix"
)

// hostErrors are system errors that a recording never causes.
var hostErrors = []error{
	unix.ENOSPC, unix.EDQUOT, unix.EFBIG, unix.EROFS, // nowhere to write
	unix.EMFILE, unix.ENFILE, unix.ENOMEM, // out of files or memory
	unix.EIO, unix.ESTALE, // a disk or server failed
	context.Canceled, context.DeadlineExceeded,
}

// Error marks an error as a host error.
type Error struct{ Err error }

func (f *Error) Error() string { return f.Err.Error() }

// Unwrap returns the cause.
func (f *Error) Unwrap() error { return f.Err }

// New marks an error as a host error; nil stays nil.
func New(err error) error {
	if err == nil || Is(err) {
		return err
	}
	return &Error{err}
}

// Is reports whether an error is a host error, or wraps one.
func Is(err error) bool {
	var f *Error
	if errors.As(err, &f) {
		return true
	}
	for _, known := range hostErrors {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}
