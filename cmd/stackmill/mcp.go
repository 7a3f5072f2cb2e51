//go:build cgo

package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// agents is one call of the verb mcp: what answers may take.
type agents struct {
	*app
	most    int // bytes of an answer
	timeout time.Duration
}

// The smallest answers that make sense, and the usual ones.
const (
	leastAnswer = 1 << 10
	usualAnswer = 8 << 10
)

func newMCPCommand(a *app) *cobra.Command {
	m := &agents{app: a}
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Let agents ask the store, by the Model Context Protocol",
		Long: `Answers the requests of an agent, by the Model Context Protocol over standard input and
output, until the input ends. The tools are experiments, report, query, explain and
compare; they only read the store.

An answer never has more bytes than --max-bytes: it says how many rows there are in all,
how much of the total the rows show, and how much of it has no name, with the reasons.
docs/agents.md tells an agent how to work with the store.`,
		Example: `  stackmill mcp --store /data/store
  claude mcp add profiles -- stackmill mcp --store /data/store`,
		Args: optionsOnly,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if m.most < leastAnswer {
				return usageErrorf("mcp: --max-bytes: %d is less than %d", m.most, leastAnswer)
			}
			if err := m.serve(cmd.Context()); err != nil {
				return fmt.Errorf("mcp: %w", err)
			}
			return nil
		},
	}
	c.Flags().IntVar(&m.most, "max-bytes", usualAnswer, "how long an answer may be")
	c.Flags().DurationVar(&m.timeout, "timeout", time.Minute, "how long one answer may take (0: any time)")
	return c
}
