package symbolize

import (
	"cmp"

	"stackmill/schema/diagnostic"
	"stackmill/stages/loadobject/elf"
)

// ProblemOf turns a note about a load object into a problem of the recording.
func ProblemOf(n elf.Note, file string) diagnostic.Problem {
	severity, reason := diagnostic.Warning, cmp.Or(n.Reason, "bad-debug-information")
	switch {
	case n.Damage:
		reason = "damaged-load-object"
	case n.Reason == elf.UnusedRecord:
		severity = diagnostic.Info
	}
	return diagnostic.Problem{Severity: severity, File: file, Offset: n.Offset, Reason: reason, Message: n.Text}
}
