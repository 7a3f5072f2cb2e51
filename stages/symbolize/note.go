package symbolize

import (
	"cmp"

	"stackmill/problem"
	"stackmill/stages/loadobject/elf"
)

// ProblemOf turns a note about a load object into a problem of the recording: names
// are unknown.
func ProblemOf(n elf.Note, file string) problem.Problem {
	reason := cmp.Or(n.Reason, "bad-debug-information")
	if n.Damage {
		reason = "damaged-load-object"
	}
	return problem.Problem{Severity: problem.Warning, File: file, Offset: n.Offset, Reason: reason, Message: n.Text}
}
