//go:build cgo

package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"stackmill/internal/exit"
	"stackmill/queries/sandbox"
)

// agents is one call of the verb mcp: what answers may take.
type agents struct {
	*app
	most    int // bytes of an answer
	timeout time.Duration
	memory  string // of each process that answers
	answer  bool   // one call from the standard input
	box     *sandbox.Box
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
		Short: "Answer AI agents, through the Model Context Protocol",
		Long: `Answers an AI agent through the Model Context Protocol, over standard input and output,
until the input ends. The tools are experiments, report, query, explain and compare; they
only read the store.

Each call runs in a process of its own, which is killed when it takes longer than
--timeout or more than --memory, or when the agent cancels it.

No answer is longer than --max-bytes. It says how many rows there are in all, how much of
the total the returned rows cover, and how much of it could not be named, with the
reasons. docs/agents.md tells an agent how to work with the store.`,
		Example: `  stackmill mcp --store /data/store
  claude mcp add profiles -- stackmill mcp --store /data/store`,
		Args: optionsOnly,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := m.prepare(); err != nil {
				return err
			}
			run := m.serve
			if m.answer {
				run = m.answerCall
			}
			if err := run(cmd.Context()); err != nil {
				return fmt.Errorf("mcp: %w", err)
			}
			return nil
		},
	}
	c.Flags().IntVar(&m.most, "max-bytes", usualAnswer, "maximum length of an answer, in bytes")
	c.Flags().DurationVar(&m.timeout, "timeout", time.Minute, "maximum time for an answer (0: no limit)")
	c.Flags().StringVar(&m.memory, "memory", usualServerMemory, "memory of the SQL engine in each process")
	c.Flags().BoolVar(&m.answer, "answer", false, "answer one call from the standard input")
	_ = c.Flags().MarkHidden("answer") // the program calls itself so
	return c
}

// prepare checks the flags, and says how processes that answer are started.
func (m *agents) prepare() (err error) {
	if m.most < leastAnswer {
		return exit.Usagef("mcp: --max-bytes: %d is less than %d", m.most, leastAnswer)
	}
	if m.limits.Memory, err = parseSize(m.memory); err != nil {
		return exit.Usagef("mcp: --memory: %w", err)
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("mcp: %w", err)
	}
	m.box = &sandbox.Box{
		Program: []string{program, "mcp", "--answer", "--store", m.store, "--cache-size", m.cacheSize, "--max-bytes", fmt.Sprint(m.most), "--timeout", m.timeout.String(), "--memory", m.memory},
		Memory:  m.limits.Memory, Largest: int64(m.most), Errors: m.Stderr,
	}
	return nil
}
