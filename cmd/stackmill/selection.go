//go:build cgo

package main

import (
	"slices"

	"github.com/spf13/cobra"

	"stackmill/queries"
)

// selection chooses the experiments of a call: the ones that match any SELECTOR, which is an argument
// or the value of --experiment. Without a SELECTOR, it chooses all experiments.
type selection struct{ option []string }

// experimentHelp describes the flag --experiment.
const experimentHelp = "only these experiments, like SELECTOR; may be repeated: " + queries.SelectorHelp

// addSelection adds the flag --experiment to a verb that takes SELECTORs as arguments, and completes
// both.
func (a *app) addSelection(c *cobra.Command, s *selection) {
	c.Flags().StringArrayVar(&s.option, "experiment", nil, experimentHelp)
	a.completeFromStore(c, "experiment", experimentNames)
	if c.ValidArgsFunction == nil {
		c.ValidArgsFunction = a.fromStore(experimentNames)
	}
}

// with returns all SELECTORs of a call with these arguments.
func (s *selection) with(args []string) []string { return slices.Concat(args, s.option) }

// experimentNames is a query for the names of experiments, which are SELECTORs.
const experimentNames = "SELECT experiment FROM experiment_names ORDER BY ALL"
