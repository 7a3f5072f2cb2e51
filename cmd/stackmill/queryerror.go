//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"stackmill/queries"
	"stackmill/queries/sandbox"
)

// sentence words an error of SQL. Of what was refused or did not fit, one sentence says
// what to do.
func sentence(err error, timeout time.Duration) error {
	if err = missingFile(err); err == nil || errors.As(err, new(*reworded)) || errors.As(err, new(*queries.LostFile)) {
		return err
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	var refusal *queries.Refusal
	if errors.As(err, &refusal) {
		return fmt.Errorf("%w (--unsafe allows it)", err)
	}
	if queries.IsRefusal(err) {
		return &reworded{first + " (--unsafe lifts that)", err}
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &reworded{fmt.Sprintf("the SQL did not end within %v (ask for less, or give more with --timeout)", timeout), err}
	case errors.Is(err, sandbox.ErrMemory), strings.HasPrefix(first, "Out of Memory Error"):
		return &reworded{"the SQL needs more memory, or more temporary files, than it may take (ask for less, or give more with --memory)", err}
	}
	return err
}

// missingFile rewords an error of SQL that needs a file of the store which is gone.
func missingFile(err error) error {
	if lost := queries.FindLostFile(err); lost != nil {
		return lost
	}
	return err
}

// reworded is an error in other words.
type reworded struct {
	text string
	err  error
}

func (e *reworded) Error() string { return e.text }

func (e *reworded) Unwrap() error { return e.err }
