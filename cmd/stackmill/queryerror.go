//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"stackmill/pattern"
	"stackmill/queries"
	"stackmill/queries/sandbox"
)

// sentence words an error of SQL. Of what was refused or did not fit, one sentence says
// what to do.
func sentence(err error, timeout time.Duration) error {
	if err = missingFile(err); err == nil || errors.As(err, new(*reworded)) {
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

// missing is the locked engine's error for a file of the store that is gone: it takes
// the path for a folder.
var missing = pattern.Lazy(`Permission Error: Cannot access file "([^"]*)/\*\*/\*\.parquet"`)

// missingFile rewords that error.
func missingFile(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	at := missing().FindStringSubmatchIndex(text)
	if at == nil {
		return err
	}
	return &reworded{fmt.Sprintf("%s%s is missing (stackmill check lists files that are missing or damaged)", text[:at[0]], text[at[2]:at[3]]), err}
}

// reworded is an error in other words.
type reworded struct {
	text string
	err  error
}

func (e *reworded) Error() string { return e.text }

func (e *reworded) Unwrap() error { return e.err }
