//go:build cgo

package console

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"stackmill/queries"
	"stackmill/queries/sandbox"
)

// Reword shortens an error of SQL to one sentence, and adds the option that helps.
func Reword(err error, timeout time.Duration) error {
	if err = FileError(err); err == nil || errors.As(err, new(*rewordedError)) || errors.As(err, new(*queries.LostFile)) {
		return err
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	var refusal *queries.Refusal
	if errors.As(err, &refusal) {
		return fmt.Errorf("%w (--unsafe allows it)", err)
	}
	if queries.IsRefusal(err) {
		return &rewordedError{first + " (--unsafe lifts that)", err}
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &rewordedError{fmt.Sprintf("the SQL did not end within %v (ask for less, or give more with --timeout)", timeout), err}
	case errors.Is(err, sandbox.ErrMemory), strings.HasPrefix(first, "Out of Memory Error"):
		return &rewordedError{"the SQL needs more memory, or more temporary files, than it may take (ask for less, or give more with --memory)", err}
	}
	return err
}

// FileError rewords an error of SQL about a file of the store that is missing.
func FileError(err error) error {
	if lost := queries.FindLostFile(err); lost != nil {
		return lost
	}
	return err
}

// rewordedError is an error with a text of its own.
type rewordedError struct {
	text string
	err  error
}

func (e *rewordedError) Error() string { return e.text }

func (e *rewordedError) Unwrap() error { return e.err }
