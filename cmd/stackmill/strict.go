//go:build cgo

package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"stackmill/internal/exit"
	"stackmill/queries/console"
)

// reportLeftOut wraps verbs so that they report experiments missing from their answers: below
// tables, since standard error may get lost, and with --strict by the exit status.
func (a *app) reportLeftOut(verbs ...*cobra.Command) []*cobra.Command {
	for _, c := range verbs {
		strict := c.Flags().Bool("strict", false, "fail if experiments are left out because their files or commits are damaged")
		run := c.RunE
		c.RunE = func(cmd *cobra.Command, args []string) error {
			if err := run(cmd, args); err != nil || a.LeftOut == nil {
				return err
			}
			if err := a.noteLeftOut(cmd); err != nil {
				return err
			}
			if *strict {
				return exit.With(strictStatus(cmd.Name()), fmt.Errorf("%s: --strict: the answer is incomplete, since experiments are left out", cmd.Name()))
			}
			return nil
		}
	}
	return verbs
}

// strictStatus returns the exit status of a verb when experiments are missing from its answer. For
// gate, it is the status that means "undecided".
func strictStatus(verb string) int {
	if verb == "gate" {
		return exit.Failed
	}
	return exit.Lost
}

// noteLeftOut prints which experiments are missing below a table. In other formats the output has
// only rows.
func (a *app) noteLeftOut(cmd *cobra.Command) error {
	format, output := cmd.Flags().Lookup("format"), cmd.Flags().Lookup("output")
	if format == nil || !slices.Contains([]string{"table", "markdown", "text"}, format.Value.String()) || output != nil && output.Value.String() != "" {
		return nil
	}
	return console.PrintLeftOut(&a.Output, a.LeftOut)
}
