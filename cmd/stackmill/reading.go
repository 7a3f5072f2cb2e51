//go:build cgo

package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stackmill/internal/exit"
	"stackmill/queries"
	"stackmill/queries/console"
	"stackmill/queries/report"
)

// fullProgram reports whether the program has all verbs.
const fullProgram = true

// engine is the SQL engine of the verbs.
type engine = console.Session

// readingCommands returns the verbs that need the SQL engine.
func readingCommands(a *app) []*cobra.Command {
	answering := a.addPager(a.reportLeftOut(newReportCommand(a), newQueryCommand(a), newExperimentsCommand(a), newProblemsCommand(a), newCompareCommand(a), newDigestCommand(a), newTrendCommand(a),
		newGateCommand(a), newExplainCommand(a), newExportCommand(a))...)
	return append(answering, newCheckCommand(a), newCompactCommand(a), newForgetCommand(a), newLabelCommand(a), newResymbolizeCommand(a), newMCPCommand(a), newServeCommand(a), newManCommand())
}

// suggestion returns a question that names similar known names, to append to an error.
func suggestion(name string, known []string) string { return queries.Suggest(name, known) }

// noSuchVerb returns the error about a call whose first argument is not a verb. If the argument is
// something else that the program knows, the error names the command for it.
func (a *app) noSuchVerb(name string, verbs []string) error {
	if hint := pathHint(name); hint != "" {
		return exit.Usagef("%s: no such verb (%s)", name, hint)
	}
	if r, err := report.Find(name); err == nil {
		return exit.Usagef("%s: no such verb, but a report (stackmill report %s)", name, r.Name)
	}
	if first, _, many := strings.Cut(strings.TrimSpace(name), " "); many && slices.Contains([]string{"select", "from", "with", "describe"}, strings.ToLower(first)) {
		return exit.Usagef("no such verb: to run SQL, write stackmill query \"%s\"", name)
	}
	if queries.Similar(name, verbs) == nil {
		var known []string
		for _, r := range report.Reports {
			known = append(known, r.Name)
		}
		if near := queries.Similar(name, known); near != nil {
			return exit.Usagef("%s: no such verb, did you mean the report %s? (stackmill report %s)", name, near[0], near[0])
		}
	}
	return exit.Usagef("%s: no such verb%s (stackmill --help lists them)", name, queries.Suggest(name, verbs))
}

func engineVersion() string { return strings.TrimPrefix(queries.EngineVersion(), "v") }

// missingFile rewords the SQL engine's error about a missing file of the store.
func missingFile(err error) error { return console.FileError(err) }

// refresh returns the function that updates the catalog of a store after a commit.
func (*app) refresh() func(store string) error { return queries.Refresh }
