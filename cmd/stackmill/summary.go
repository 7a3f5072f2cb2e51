package main

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"stackmill/internal/crash"
	"stackmill/internal/exit"
	"stackmill/pipeline"
	"stackmill/schema/diagnostic"
	"stackmill/schema/storedir"
)

// summary reports the outcome of an ingest.
type summary struct {
	*app
	results []pipeline.Result
	stopped error        // why not all inputs were tried, nil if they were
	log     *slog.Logger // nil: nothing was logged
}

// print prints what became of the inputs, names those that lost data, and returns the
// exit status.
func (s *summary) print(elapsed time.Duration) error {
	count := map[string]int{}
	samples, lost := int64(0), 0
	said := &saidBefore{times: map[string]int{}}
	for _, r := range s.results {
		count[r.Status]++
		samples += r.Samples
		if r.Lost() {
			lost++
			s.printLost(r, said)
		}
	}
	s.printMore(said)
	s.logEnd(elapsed)
	there, failed, aborted, forgotten := count[pipeline.Skipped], count[pipeline.Failed], count[pipeline.Aborted], count[pipeline.Forgotten]
	in := len(s.results) - there - failed - aborted - forgotten
	_ = s.Printf("%d ingested, %d already there, %d failed", in, there, failed)
	if forgotten > 0 {
		_ = s.Printf(", %d forgotten (--forgotten ingests them)", forgotten)
	}
	if aborted > 0 {
		_ = s.Printf(", %d not done", aborted)
	}
	_ = s.Printf(": %d samples in %.1f s\n", samples, elapsed.Seconds())
	code := exit.Lost
	if in+there+forgotten == 0 {
		code = exit.Failed
	}
	switch {
	case aborted > 0:
		why := "some could not be read now, see the reasons above"
		if s.stopped != nil {
			why = s.stopped.Error()
		}
		return exit.With(code, fmt.Errorf("ingest: %d of %d recordings are in the store, %d are not: %s (run the same command again to go on)",
			in+there, len(s.results), len(s.results)-in-there-forgotten, why))
	case lost == 0:
		return nil
	case code == exit.Failed:
		return exit.With(exit.Failed, errors.New("ingest: nothing could be read (see the reasons above)"))
	}
	return exit.With(exit.Lost, fmt.Errorf("ingest: data of %d of %d recordings was lost or unreadable (stackmill problems --store %s lists it)", lost, len(s.results), storedir.DisplayName(s.store)))
}

// printLost prints why data of an input is not in the store. What ended the run is
// printed at the end, a fault that several inputs met only once, and another reason that
// many have only for the first of them. A log has all.
func (s *summary) printLost(r pipeline.Result, said *saidBefore) {
	switch {
	case s.log != nil: // it was logged
	case r.Err != nil && r.Status == pipeline.Aborted:
		why := r.Err.Error()
		if r.Elapsed > 0 && s.stopped != errInterrupted && said.add(why) == 1 {
			s.Warnf("%s: not ingested: %s", r.Path, why)
		}
	case said.add(reasonLost(&r)) > sayTimes:
	case r.Err != nil:
		s.Warnf("%s: %v%s", r.Path, r.Err, stackKept(r.Err))
	default:
		s.Warnf("%s: %s: %s", r.Path, r.Status, firstError(r))
	}
}

// sayTimes is for how many recordings the same reason is printed.
const sayTimes = 5

// saidBefore counts what was printed, in the order of the first times.
type saidBefore struct {
	times  map[string]int
	things []string
}

// add counts a thing and returns its count.
func (s *saidBefore) add(thing string) int {
	if s.times[thing]++; s.times[thing] == 1 {
		s.things = append(s.things, thing)
	}
	return s.times[thing]
}

// reasonLost is why data of an input was lost, in the words that others have in common
// with it.
func reasonLost(r *pipeline.Result) string {
	if err := r.Err; err != nil {
		for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
			err = inner
		}
		return err.Error()
	}
	for _, p := range r.Problems {
		if p.Severity == diagnostic.Error {
			return p.Reason
		}
	}
	return r.Status
}

// printMore counts the recordings that were not named.
func (s *summary) printMore(said *saidBefore) {
	for _, reason := range said.things {
		if more := said.times[reason] - sayTimes; more > 0 && !s.aborted(reason) {
			s.Warnf("%d more recordings have the same: %s", more, reason)
		}
	}
}

// aborted reports whether inputs were aborted for a reason.
func (s *summary) aborted(reason string) bool {
	return slices.ContainsFunc(s.results, func(r pipeline.Result) bool {
		return r.Status == pipeline.Aborted && r.Err != nil && r.Err.Error() == reason
	})
}

// stackKept writes the stack of an internal error to a file and returns the file's name
// in brackets.
func stackKept(err error) string {
	var internal *pipeline.InternalError
	if !errors.As(err, &internal) {
		return ""
	}
	return crash.Save(internal.Stack)
}

// firstError is the first of a recording's errors, and how many there are besides.
func firstError(r pipeline.Result) string {
	var first string
	more := -1
	for _, p := range r.Problems {
		if p.Severity == diagnostic.Error {
			if more++; more == 0 {
				first = fmt.Sprint(p)
			}
		}
	}
	if more > 0 {
		first += fmt.Sprintf(" (and %d more)", more)
	}
	return first
}
