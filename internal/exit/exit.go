// Package exit carries exit statuses in errors.
package exit

import (
	"context"
	"errors"
	"fmt"
)

// The exit statuses. Every other error ends the program with Failed.
const (
	Failed   = 1 // nothing was done, or the query failed
	Usage    = 2
	Lost     = 3 // ingest: data of some experiments was lost or unreadable
	Damaged  = 4 // check: the store is damaged
	Violated = 5 // gate: a rule is violated
)

// Error ends the program with a status. With a nil Err nothing is printed: the subcommand has
// already printed the reason.
type Error struct {
	Status int
	Err    error
}

// With returns an error that ends the program with a status.
func With(status int, err error) error { return &Error{status, err} }

// Usagef returns an error about wrong use of the program.
func Usagef(format string, args ...any) error { return With(Usage, fmt.Errorf(format, args...)) }

func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Status)
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Status returns the exit status that an error causes.
func Status(err error) int {
	var exit *Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.Status
	}
	return Failed
}

// ErrInterrupted is the error of a subcommand that a signal interrupted.
var ErrInterrupted = errors.New("interrupted")

// Interrupted returns the error, or ErrInterrupted if a signal has ended the context.
func Interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	return err
}
