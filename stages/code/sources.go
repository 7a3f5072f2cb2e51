package code

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"stackmill/internal/hosterr"
	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/attribute"
	"stackmill/stages/symbolize/source"
)

// Sources finds the source files of a recording.
type Sources struct {
	source.Finder
	Began    time.Time // when the recording started, at the latest; zero if unknown
	Problems *diagnostic.Log
}

// maxSourceBytes bounds the source text stored for a recording. Programs have values in some
// hundred files, most of them smaller than 100 KB.
const maxSourceBytes = 256 << 20

// SourceRows emits the text of the files that have lines with values. last maps each file to its
// highest such line.
func (r *Result) SourceRows(emit attribute.Emit, last map[string]int32) error {
	delete(last, "") // code without line numbers
	files := r.Rows(schema.SourceFiles, emit).Labels("listed_in", "")
	rows := schema.NewRows(schema.SourceLines, "", emit)
	var missing, private, leading []string
	left := maxSourceBytes
	for _, file := range slices.Sorted(maps.Keys(last)) {
		text, err := r.Sources.Read(file)
		switch {
		case errors.Is(err, source.ErrNotFound):
			missing = append(missing, file)
		case errors.Is(err, source.ErrPrivate):
			private = append(private, file)
		case errors.Is(err, source.ErrLeadsOut):
			leading = append(leading, file)
		case hosterr.Is(err):
			return err
		case err != nil:
			r.Sources.remark(file, "unreadable-source", fmt.Sprintf("the source file cannot be used: %v", err), 1)
		case left <= 0:
			r.Sources.remark(file, "unreadable-source", fmt.Sprintf("the source file is left out: the files before it reach the limit of %d MB", maxSourceBytes>>20), 1)
		case r.Sources.fits(file, text, last[file]) && len(text.Lines) > 0:
			left -= text.Bytes
			l := r.internList(text.Content)
			if l.append(files.Text(file)); l.first {
				for i, line := range text.Lines {
					rows.Int32(l.number).Int32(int32(i + 1)).Text(line)
				}
			}
		}
	}
	where := "neither in the recording nor at their paths"
	if r.Sources.NoRecorded {
		where = "not in the recording, and not looked for at their paths"
	}
	r.Sources.reportMissing(diagnostic.Info, "missing-source", missing, where+" (--source-path says where they are)")
	r.Sources.reportMissing(diagnostic.Info, "private-source", private,
		"not everyone may read the files at their paths, or they describe this system (/proc, /sys), so their text is not stored (--source-path names folders of sources that may be stored)")
	r.Sources.reportMissing(diagnostic.Warning, "source-outside", leading, "links in the recording's archives lead out of it and are not followed")
	return schema.CloseAll(files, rows)
}

// fits reports whether a file is long enough to have all lines with values. It adds a problem if
// the file may not be the one that was compiled.
func (s *Sources) fits(file string, text *source.Text, highest int32) bool {
	switch {
	case len(text.Lines) < int(highest):
		s.remark(file, "stale-source", fmt.Sprintf("%s has %d lines, but the program has code from line %d: its text is not shown", text.Path, len(text.Lines), highest), 1)
		return false
	case text.Recorded && !s.Began.IsZero() && text.Modified.After(s.Began):
		s.remark(file, "stale-source", fmt.Sprintf("%s was changed after the recording: lines may be shown with wrong text", text.Path), 1)
	}
	return true
}

// reportMissing adds a problem for files whose text is not available.
func (s *Sources) reportMissing(severity diagnostic.Severity, reason string, files []string, why string) {
	n := len(files)
	if n == 0 {
		return
	}
	some := strings.Join(files[:min(n, 3)], ", ")
	s.Problems.Add(diagnostic.Problem{Severity: severity, File: files[0], Offset: diagnostic.NoOffset, Reason: reason, Count: int64(n),
		Message: fmt.Sprintf("no text for %d of the source files, such as %s: %s", n, some, why)})
}

func (s *Sources) remark(file, reason, message string, count int64) {
	s.Problems.Add(diagnostic.Problem{Severity: diagnostic.Info, File: file, Offset: diagnostic.NoOffset, Reason: reason, Message: message, Count: count})
}
