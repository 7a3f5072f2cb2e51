package elf

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrUnreadable means that a mapped file shrank, or that its device failed.
var ErrUnreadable = errors.New("the file became unreadable while it was read")

// Guard runs f, and turns a fault in mapped memory, or a panic because of hostile input, into an
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
