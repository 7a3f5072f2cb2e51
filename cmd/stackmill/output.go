package main

import (
	"errors"
	"io"
	"sync/atomic"

	"stackmill/internal/terminal"
)

// standardOutput remembers the first write error: not every printer returns it.
type standardOutput struct {
	to     io.Writer
	failed atomic.Pointer[error] // the first
}

func (o *standardOutput) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if err != nil {
		o.failed.CompareAndSwap(nil, &err)
	}
	return n, err
}

// Fd returns the descriptor, by which terminal.Is recognizes a terminal; none if it is no file.
func (o *standardOutput) Fd() uintptr {
	if f, ok := o.to.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

// orFailed returns the error of a verb or, without one, the write error. If the verb failed for
// another reason, it prints the write error.
func (o *standardOutput) orFailed(out *terminal.Output, err error) error {
	switch failed := o.failed.Load(); {
	case failed == nil:
	case err == nil:
		return *failed
	case !errors.Is(err, *failed):
		out.Warnf("%v", *failed)
	}
	return err
}
