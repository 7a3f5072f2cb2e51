//go:build cgo

package main

import (
	"strings"

	"github.com/spf13/cobra"

	"stackmill/internal/exit"
	"stackmill/queries"
	"stackmill/queries/console"
)

// fully says that the program has all verbs.
const fully = true

// engine are options of the SQL engine.
type engine struct {
	limits queries.Limits
	unsafe bool // whether SQL may do more than read the store

	leftOut []string // what answers from the store that was opened lack
}

// readingCommands are the verbs that need the SQL engine.
func readingCommands(a *app) []*cobra.Command {
	answering := a.answering(newReportCommand(a), newQueryCommand(a), newExperimentsCommand(a), newProblemsCommand(a), newCompareCommand(a),
		newGateCommand(a), newExplainCommand(a), newExportCommand(a))
	return append(answering, newCheckCommand(a), newCompactCommand(a), newForgetCommand(a), newLabelCommand(a), newResymbolizeCommand(a), newMCPCommand(a), newServeCommand(a))
}

func noSuchVerb(name string, verbs []string) error {
	return exit.Usagef("%s: no such verb%s (stackmill --help lists them)", name, queries.Suggest(name, verbs))
}

func engineVersion() string { return strings.TrimPrefix(queries.EngineVersion(), "v") }

// missingFile rewords an error about a file of the store that is missing.
func missingFile(err error) error { return console.FileError(err) }
