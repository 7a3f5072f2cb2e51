package runner

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"stackmill/internal/crash"
	"stackmill/internal/exit"
	"stackmill/internal/terminal"
	"stackmill/pipeline"
	"stackmill/schema/diagnostic"
	"stackmill/schema/storedir"
)

// summary prints the results of an ingest.
type summary struct {
	*terminal.Output
	store   string
	results []pipeline.Result
	stopped error        // why not all inputs were tried, nil if they were
	log     *slog.Logger // nil: nothing was logged
}

// print prints the numbers of inputs by result, names those that lost data, and returns the exit
// status as an error.
func (s *summary) print(elapsed time.Duration) error {
	count := map[string]int{}
	samples, lost := int64(0), 0
	printed := &reasonCounts{times: map[string]int{}}
	for _, r := range s.results {
		count[r.Status]++
		samples += r.Samples
		if r.Lost() {
			lost++
			s.printLost(r, printed)
		}
	}
	s.printRemarks()
	s.printMore(printed)
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
	_ = s.Printf(": %s in %.1f s\n", terminal.Plural(samples, "sample"), elapsed.Seconds())
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
		return exit.With(code, fmt.Errorf("ingest: %d of %s in the store, %d not: %s (run the same command again to continue)",
			in+there, terminal.Plural(len(s.results), "recording"), len(s.results)-in-there-forgotten, why))
	case lost == 0:
		return nil
	case code == exit.Failed:
		return exit.With(exit.Failed, errors.New("ingest: nothing could be read (see the reasons above)"))
	}
	return exit.With(exit.Lost, fmt.Errorf("ingest: data of %d of %s was lost or unreadable (stackmill problems --store %s lists it)", lost, terminal.Plural(len(s.results), "recording"), storedir.DisplayName(s.store)))
}

// printLost prints why data of an input is not in the store. It prints a fault of the machine once,
// and any other reason for the first maxPrinted inputs. If there is a log, that has all of them.
func (s *summary) printLost(r pipeline.Result, printed *reasonCounts) {
	switch {
	case s.log != nil: // it was logged
	case r.Err != nil && r.Status == pipeline.Aborted:
		why := r.Err.Error()
		if r.Elapsed > 0 && s.stopped != exit.ErrInterrupted && printed.add(why) == 1 {
			s.Warnf("%s: not ingested: %s", r.Path, why)
		}
	case printed.add(lossReason(&r)) > maxPrinted:
	case r.Err != nil:
		s.Warnf("%s: %v%s", r.Path, r.Err, savedStack(r.Err))
	default:
		s.Warnf("%s: %s: %s", r.Path, r.Status, firstError(r))
	}
}

// printRemarks prints the remarks of the recordings, and which recordings have the same file time. If
// there is a log, the remarks are only in the log.
func (s *summary) printRemarks() {
	remarks := 0
	var files []storedir.FileTime
	for _, r := range s.results {
		if r.Remark != "" && s.log == nil {
			if remarks++; remarks <= maxPrinted {
				s.Warnf("%s: %s", r.Path, r.Remark)
			}
		}
		if !r.FileTime.Time.IsZero() {
			files = append(files, r.FileTime)
		}
	}
	if more := remarks - maxPrinted; more > 0 {
		s.Warnf("the same kind of remark for %d more", more)
	}
	if remark := storedir.CopiedTogether(files); remark != "" {
		s.Warnf("%s", remark)
	}
}

// maxPrinted is how many recordings are printed with the same reason.
const maxPrinted = 5

// reasonCounts counts how often each reason occurred. reasons has them in order of first
// occurrence.
type reasonCounts struct {
	times   map[string]int
	reasons []string
}

// add counts a reason and returns its count.
func (c *reasonCounts) add(reason string) int {
	if c.times[reason]++; c.times[reason] == 1 {
		c.reasons = append(c.reasons, reason)
	}
	return c.times[reason]
}

// lossReason returns why data of an input was lost, in words without details of the input, so that
// equal reasons can be counted.
func lossReason(r *pipeline.Result) string {
	if err := r.Err; err != nil {
		for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
			err = inner
		}
		return terminal.Wording(err)
	}
	for _, p := range r.Problems {
		if p.Severity == diagnostic.Error {
			return p.Reason
		}
	}
	return r.Status
}

// printMore prints, for each reason, how many more recordings than maxPrinted have it.
func (s *summary) printMore(printed *reasonCounts) {
	for _, reason := range printed.reasons {
		if more := printed.times[reason] - maxPrinted; more > 0 && !s.aborted(reason) {
			s.Warnf("the same for %d more: %s", more, reason)
		}
	}
}

// aborted reports whether inputs were aborted for this reason.
func (s *summary) aborted(reason string) bool {
	return slices.ContainsFunc(s.results, func(r pipeline.Result) bool {
		return r.Status == pipeline.Aborted && r.Err != nil && r.Err.Error() == reason
	})
}

// savedStack writes the stack of an internal error to a file and returns the file's name in
// parentheses.
func savedStack(err error) string {
	var internal *pipeline.InternalError
	if !errors.As(err, &internal) {
		return ""
	}
	return crash.Save(internal.Stack)
}

// firstError returns the first of a recording's errors, and the number of others.
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
