package main

import (
	"errors"
	"io"
	"sync/atomic"

	"stackmill/internal/terminal"
)

// standardOutput remembers the first write error, because some printers do not return it.
type standardOutput struct {
	to     io.Writer
	failed atomic.Pointer[error] // the first write error; nil if all writes succeeded
}

func (o *standardOutput) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if err != nil {
		o.failed.CompareAndSwap(nil, &err)
	}
	return n, err
}

// Fd returns the file descriptor, for terminal.Is; an invalid one if the output is not a file.
func (o *standardOutput) Fd() uintptr {
	if f, ok := o.to.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

// orFailed returns err, the error of a verb or, if err is nil, the first write error. If both exist
// and differ, it prints the write error as a warning.
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
