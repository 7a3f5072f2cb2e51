//go:build cgo

package main

import (
	"strings"

	"github.com/spf13/cobra"

	"stackmill/internal/exit"
	"stackmill/queries"
	"stackmill/queries/console"
)

// fullProgram reports whether the program has all verbs.
const fullProgram = true

// engine is the SQL engine of the verbs.
type engine = console.Session

// readingCommands returns the verbs that need the SQL engine.
func readingCommands(a *app) []*cobra.Command {
	answering := a.reportLeftOut(newReportCommand(a), newQueryCommand(a), newExperimentsCommand(a), newProblemsCommand(a), newCompareCommand(a), newDigestCommand(a), newTrendCommand(a),
		newGateCommand(a), newExplainCommand(a), newExportCommand(a))
	return append(answering, newCheckCommand(a), newCompactCommand(a), newForgetCommand(a), newLabelCommand(a), newResymbolizeCommand(a), newMCPCommand(a), newServeCommand(a), newManCommand())
}

func noSuchVerb(name string, verbs []string) error {
	return exit.Usagef("%s: no such verb%s (stackmill --help lists them)", name, queries.Suggest(name, verbs))
}

func engineVersion() string { return strings.TrimPrefix(queries.EngineVersion(), "v") }

// missingFile rewords the SQL engine's error about a missing file of the store.
func missingFile(err error) error { return console.FileError(err) }

// refresh returns the function that updates the catalog of a store after a commit.
func (*app) refresh() func(store string) error { return queries.Refresh }
