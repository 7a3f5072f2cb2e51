package storedir

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// StartedLabel is the key of the label with which a user sets the start of a recording.
const StartedLabel = "started"

// startLayouts are the accepted layouts of a start, after blanks and _ are replaced by T. The layouts
// without colons are for file names.
var startLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02",
	"2006-01-02T150405Z07:00", "2006-01-02T1504Z07:00", "2006-01-02T150405", "2006-01-02T1504", "2006-01-02T15-04-05", "2006-01-02T15-04",
	"20060102T150405Z07:00", "20060102T1504Z07:00", "20060102T150405", "20060102T1504", "20060102-150405", "20060102-1504", "20060102150405", "200601021504", "20060102",
}

// ParseStart parses the start of a recording. A time without a zone is in UTC; a date means midnight.
func ParseStart(text string) (time.Time, error) {
	form := strings.NewReplacer(" ", "T", "_", "T", "t", "T", "z", "Z").Replace(text)
	for _, layout := range startLayouts {
		if t, err := time.Parse(layout, form); err == nil && t.Year() >= 1970 {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time (write 2026-11-28T02:00Z, 2026-11-28 or 20261128_0200; without a zone it is UTC)", text)
}

// FormatStart formats a start for the label.
func FormatStart(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// LabeledStart returns when the recording was started according to its label; zero if it has none.
func (e *Entry) LabeledStart() time.Time {
	value, ok := e.Labels[StartedLabel]
	if !ok {
		return time.Time{}
	}
	t, _ := ParseStart(value) // zero if it is not a time: older programs did not allow the label at all
	return t
}

// FileTime is the time of a recording's file, for recordings without any other record of their start.
type FileTime struct {
	Time   time.Time
	Length time.Duration // duration of the recording
}

// fewestCopies is the number of files with the same time from which on they are suspected to be
// copies: two recordings may well have been made together.
const fewestCopies = 3

// copyGap is the longest time between files that are copied one after the other.
const copyGap = 2 * time.Second

// CopiedTogether returns a text that says that files of recordings were probably copied without their
// times, so these do not show when the files were recorded; "" if nothing suggests copies. It looks
// for at least three files with about the same time: each is at most two seconds younger than the one
// before, and by less than the duration of its recording, so that the files were not recorded one
// after the other. The list must not have unknown times, or files that are known to be originals.
func CopiedTogether(files []FileTime) string {
	files = slices.SortedFunc(slices.Values(files), func(a, b FileTime) int { return a.Time.Compare(b.Time) })
	groups, copies := 0, 0
	var first time.Time
	for from := 0; from < len(files); {
		to := from + 1
		for to < len(files) && files[to].Time.Sub(files[to-1].Time) <= min(copyGap, files[to].Length) {
			to++
		}
		if to-from >= fewestCopies {
			if groups == 0 {
				first = files[from].Time
			}
			groups, copies = groups+1, copies+to-from
		}
		from = to
	}
	at := first.UTC().Format("2006-01-02 15:04:05")
	switch groups {
	case 0:
		return ""
	case 1:
		at = "have the same time, " + at
	default:
		at = fmt.Sprintf("have the same time in %d groups, the first %s", groups, at)
	}
	return fmt.Sprintf("%d recordings do not tell when they started, and their files %s: unless they were recorded together, they were copied without their times (cp -p and rsync -t keep times; stackmill label EXPERIMENT started=2026-11-28T02:00Z gives the start)",
		copies, at)
}
