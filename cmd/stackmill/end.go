package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"golang.org/x/term"
)

// interruptGrace is how long a verb may take to end after a signal. The SQL
// engine ends most queries sooner.
const interruptGrace = 700 * time.Millisecond

// untilEnded runs a verb and returns its error, or what it panicked with as one. A verb
// that goes on after a signal is left, unless it is one that ends itself.
func (a *app) untilEnded(ctx context.Context, verb func() error) error {
	restore := a.terminalState()
	done := make(chan error, 1)
	go func() { done <- orPanic(verb) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	if a.endsItself.Load() {
		return <-done
	}
	select {
	case err := <-done:
		return err
	case <-time.After(interruptGrace):
		restore()
		return ctx.Err()
	}
}

// orPanic runs f and returns its error, or what it panicked with as one.
func orPanic(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error, please report it with the command: %v%s", p, keepStack(debug.Stack()))
		}
	}()
	return f()
}

// terminalState returns a function that puts the terminal back into its present state:
// a prompt that was left cannot.
func (a *app) terminalState() (restore func()) {
	f, ok := a.stdin.(*os.File)
	if !ok {
		return func() {}
	}
	state, err := term.GetState(int(f.Fd()))
	if err != nil {
		return func() {}
	}
	return func() { _ = term.Restore(int(f.Fd()), state) } // nothing depends on it
}

// keepStack writes the stack of an internal error to a file and returns its name in
// brackets, or nothing if that fails.
func keepStack(stack []byte) string {
	f, err := os.CreateTemp("", "stackmill-error-*.txt")
	if err != nil {
		return ""
	}
	_, err = f.Write(stack)
	if closed := f.Close(); err != nil || closed != nil {
		return ""
	}
	return fmt.Sprintf(" (the stack trace is in %s)", f.Name())
}
