package main

import (
	"context"
	"os"
	"time"

	"golang.org/x/term"

	"stackmill/internal/crash"
)

// interruptGrace limits how long a verb may go on after a signal. The SQL engine ends most queries
// sooner than that.
const interruptGrace = 700 * time.Millisecond

// runVerb runs a verb and returns its error; a panic becomes an error. After a signal, it waits for
// the verb for interruptGrace, or without limit if endsItself is set.
func (a *app) runVerb(ctx context.Context, verb func() error) error {
	restore := a.terminalState()
	done := make(chan error, 1)
	go func() { done <- crash.Catch(verb) }()
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

// terminalState returns a function that restores the current settings of the terminal. A prompt
// that is still running at the end of the program cannot restore them.
func (a *app) terminalState() (restore func()) {
	f, ok := a.stdin.(*os.File)
	if !ok {
		return func() {}
	}
	state, err := term.GetState(int(f.Fd()))
	if err != nil {
		return func() {}
	}
	return func() { _ = term.Restore(int(f.Fd()), state) } // an error would change nothing
}
