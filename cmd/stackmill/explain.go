package main

import (
	"github.com/spf13/cobra"

	"stackmill/pipeline"
)

func newExplainCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "explain",
		Short:   "Print the stages between a recording and the store",
		Example: "  stackmill explain",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return pipeline.Explain(a.stdout) },
	}
}
