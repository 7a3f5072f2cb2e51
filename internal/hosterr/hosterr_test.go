package hosterr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestIs(t *testing.T) {
	for _, err := range []error{
		New(io.ErrUnexpectedEOF), fmt.Errorf("read: %w", New(io.EOF)), context.Canceled,
		&os.PathError{Op: "write", Path: "x", Err: unix.ENOSPC}, errors.Join(io.EOF, unix.EMFILE),
	} {
		if !Is(err) {
			t.Errorf("%v is no fault", err)
		}
	}
	for _, err := range []error{nil, io.EOF, os.ErrNotExist, unix.EACCES, unix.ELOOP, New(nil)} {
		if Is(err) {
			t.Errorf("%v is a fault", err)
		}
	}
}
