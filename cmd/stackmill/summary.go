package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"stackmill/pipeline"
	"stackmill/problem"
)

// summary reports the outcome of an ingest.
type summary struct {
	*app
	results    []pipeline.Result
	stopped    error // why not all inputs were tried, nil if they were
	onTerminal bool  // nothing was logged
}

// print prints what became of the inputs, names those that lost data, and returns the
// exit status.
func (s *summary) print(elapsed time.Duration) error {
	count := map[string]int{}
	samples, lost := int64(0), 0
	said := map[string]bool{}
	for _, r := range s.results {
		count[r.Status]++
		samples += r.Samples
		if r.Lost() {
			lost++
			s.printLost(r, said)
		}
	}
	there, failed, aborted := count[pipeline.Skipped], count[pipeline.Failed], count[pipeline.Aborted]
	in := len(s.results) - there - failed - aborted
	_ = s.printf("%d ingested, %d already there, %d failed", in, there, failed)
	if aborted > 0 {
		_ = s.printf(", %d not done", aborted)
	}
	_ = s.printf(": %d samples in %.1f s\n", samples, elapsed.Seconds())
	code := exitLost
	if in == 0 && there == 0 {
		code = exitNothing
	}
	switch {
	case aborted > 0:
		why := "some could not be read now, see the reasons above"
		if s.stopped != nil {
			why = s.stopped.Error()
		}
		return &exitError{code, fmt.Errorf("ingest: %d of %d recordings are in the store, %d are not: %s (run the same command again to go on)",
			in+there, len(s.results), len(s.results)-in-there, why)}
	case lost == 0:
		return nil
	case code == exitNothing:
		return &exitError{exitNothing, errors.New("ingest: nothing could be read (see the reasons above)")}
	}
	return &exitError{exitLost, fmt.Errorf("ingest: data of %d of %d recordings was lost or unreadable (stackmill problems --store %s lists it)", lost, len(s.results), s.store)}
}

// printLost prints why data of an input is not in the store. What ended the run is
// printed at the end, and a fault that several inputs met only once.
func (s *summary) printLost(r pipeline.Result, said map[string]bool) {
	switch {
	case r.Err != nil && r.Status == pipeline.Aborted:
		why := r.Err.Error()
		if r.Elapsed == 0 || said[why] || s.stopped == errInterrupted {
			return
		}
		said[why] = true
		say(s.stderr, "stackmill: %s: not ingested: %s\n", r.Path, why)
	case r.Err != nil:
		say(s.stderr, "stackmill: %s: %v%s\n", r.Path, r.Err, s.keepStack(r.Err))
	default:
		printProblems(s.stderr, r)
	}
}

// keepStack writes the stack of an internal error to a file, unless it was logged, and
// returns the file's name in brackets.
func (s *summary) keepStack(err error) string {
	var internal *pipeline.InternalError
	if !s.onTerminal || !errors.As(err, &internal) {
		return ""
	}
	return keepStack(internal.Stack)
}

// printProblems prints the first of a recording's errors.
func printProblems(w io.Writer, r pipeline.Result) {
	more := 0
	said := false
	for _, p := range r.Problems {
		if p.Severity != problem.Error {
			continue
		}
		if said {
			more++
			continue
		}
		say(w, "stackmill: %s: %s: %s", r.Path, r.Status, p)
		said = true
	}
	if more > 0 {
		say(w, " (and %d more)", more)
	}
	say(w, "\n")
}
