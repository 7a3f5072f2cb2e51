package symbolize

import (
	"cmp"

	"stackmill/problem"
	"stackmill/stages/loadobject/elf"
)

// ProblemOf turns a note about a load object into a problem of the recording: names
// are unknown.
func ProblemOf(n elf.Note, file string) problem.Problem {
	severity, reason := problem.Warning, cmp.Or(n.Reason, "bad-debug-information")
	switch {
	case n.Damage:
		reason = "damaged-load-object"
	case n.Reason == elf.Unused:
		severity = problem.Info
	}
	return problem.Problem{Severity: severity, File: file, Offset: n.Offset, Reason: reason, Message: n.Text}
}
