package elf

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrUnreadable says that a file's content could not be read: it shrank or its
// device failed while it was mapped.
var ErrUnreadable = errors.New("the file became unreadable while it was read")

// Guard turns a fault in mapped memory, or a panic over hostile input, into an
// error.
func Guard(path string, f func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch r := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }:
			err = fmt.Errorf("%s: %w", path, ErrUnreadable)
		default:
			err = fmt.Errorf("%s: %w: %v", path, ErrNotELF, r)
		}
	}()
	f()
	return nil
}
