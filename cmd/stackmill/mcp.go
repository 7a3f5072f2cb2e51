//go:build cgo

package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"stackmill/pipeline"
	"stackmill/queries/mcp"
)

// mcpServer runs `stackmill mcp`.
type mcpServer struct {
	*app
	mcp.Options
	answer bool // answer one call, read from standard input, and exit
}

// defaultAnswer is the default of --max-bytes.
const defaultAnswer = 8 << 10

func newMCPCommand(a *app) *cobra.Command {
	m := &mcpServer{app: a}
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
			s := mcp.New(m.stdin, &m.Output, m.Options)
			run := s.Serve
			if m.answer {
				run = s.AnswerCall
			}
			return named("mcp", run(cmd.Context()))
		},
	}
	c.Flags().IntVar(&m.MaxBytes, "max-bytes", defaultAnswer, "maximum length of an answer, in bytes")
	c.Flags().DurationVar(&m.Timeout, "timeout", time.Minute, "maximum time for an answer (0: no limit)")
	sizeVar(c.Flags(), &m.Memory, "memory", defaultServerMemory, "memory of the SQL engine in each process")
	atLeast(c.Flags(), "timeout", &m.Timeout, 0)
	atLeast(c.Flags(), "max-bytes", &m.MaxBytes, mcp.MinBytes)
	c.Flags().BoolVar(&m.answer, "answer", false, "answer one call from the standard input")
	_ = c.Flags().MarkHidden("answer") // for internal use: the server runs itself with it for each call
	return c
}

// prepare completes the options from the flags.
func (m *mcpServer) prepare() error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("mcp: %w", err)
	}
	m.Options.Store, m.Version, m.Concurrent, m.Stages = m.store, programVersion(), defaultConcurrent, pipeline.Explain
	m.Program = []string{program, "mcp", "--answer", "--store", m.store, "--cache-size", m.cacheSize,
		"--max-bytes", strconv.Itoa(m.MaxBytes), "--timeout", m.Timeout.String(), "--memory", strconv.FormatInt(m.Memory, 10)}
	return nil
}
