package attribute

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"stackmill/problem"
	"stackmill/schema"
	"stackmill/stages/symbolize/source"
)

// Sources is where the source files of a recording come from.
type Sources struct {
	source.Finder
	Started  time.Time // when the recording did, zero when not known
	Problems *problem.Log
}

// maxSourceBytes bounds the text of all of a recording's files. Programs have
// values in some hundred files, mostly of less than 100 KB.
const maxSourceBytes = 256 << 20

// sourceLines emits the text of the files in which lines have values.
func (r *Result) sourceLines(emit Emit, v *Values) error {
	highest := map[string]int32{}
	for n, k := range v.SourceKeys {
		if v.Source.seen(n) {
			highest[k.File] = max(highest[k.File], k.Line)
		}
	}
	delete(highest, "")
	rows := schema.NewRows(schema.SourceLines, emit)
	var missing []string
	left := maxSourceBytes
	for _, file := range slices.Sorted(maps.Keys(highest)) {
		text, err := r.Sources.Read(file)
		switch {
		case errors.Is(err, source.ErrNotFound):
			missing = append(missing, file)
		case err != nil:
			r.Sources.remark(file, "unreadable-source", fmt.Sprintf("the source file cannot be used: %v", err), 1)
		case left <= 0:
			r.Sources.remark(file, "unreadable-source", fmt.Sprintf("the source file is left out: there are %d MB of others", maxSourceBytes>>20), 1)
		case r.Sources.fits(file, text, highest[file]):
			for i, line := range text.Lines {
				left -= len(line) + 1
				rows.Append(r.ExperimentID, file, int32(i+1), line)
			}
		}
	}
	if n := len(missing); n > 0 {
		some := strings.Join(missing[:min(n, 3)], ", ")
		r.Sources.remark(missing[0], "missing-source", fmt.Sprintf("no text of %d source files, such as %s: neither in the recording nor at their paths (--source-path tells where they are)", n, some), int64(n))
	}
	return rows.Close()
}

// fits remarks on a file that is perhaps not what was compiled, and reports
// whether it has the lines that have values.
func (s *Sources) fits(file string, text *source.Text, highest int32) bool {
	switch {
	case len(text.Lines) < int(highest):
		s.remark(file, "stale-source", fmt.Sprintf("%s has %d lines, but the program was compiled from line %d, too: its text is not shown", text.Path, len(text.Lines), highest), 1)
		return false
	case text.Recorded && !s.Started.IsZero() && text.Modified.After(s.Started):
		s.remark(file, "stale-source", fmt.Sprintf("%s was changed after the recording: lines may be shown with text of others", text.Path), 1)
	}
	return true
}

func (s *Sources) remark(file, reason, message string, count int64) {
	s.Problems.Add(problem.Problem{Severity: problem.Info, File: file, Offset: problem.NoOffset, Reason: reason, Message: message, Count: count})
}
