// Command stackmill reads profiler experiments into a store of Parquet files
// and answers questions about them. Each verb has its file.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"stackmill/internal/objstore"
	"stackmill/internal/tempdir"
)

// The exit statuses. Everything that fails otherwise gives exitNothing.
const (
	exitNothing = 1 // nothing could be done, or the query failed
	exitUsage   = 2
	exitLost    = 3 // ingest: data was lost or unreadable in some experiments
	exitWrong   = 4 // check: the store is wrong
)

// app is what every verb needs: where the store is, where to write.
type app struct {
	store     string
	engine    // options of the SQL engine
	stdin     io.Reader
	stdout    io.Writer
	stderr    io.Writer
	cacheSize string // of the mirror of a store elsewhere
	columns   int    // as if the output were a terminal so wide; 0: as it is

	endsItself atomic.Bool // whether the verb ends by itself soon after a signal
}

// exitError ends the program with a status. With a nil err nothing is printed: the
// verb has already printed what is wrong.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usageErrorf is an error in how the program was called.
func usageErrorf(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

func main() {
	signal.Ignore(syscall.SIGXFSZ) // a write beyond `ulimit -f` fails instead
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer tempdir.RemoveAll()    // also of SQL that does not stop
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	out := &standardOutput{to: stdout}
	a := &app{stdin: stdin, stdout: out, stderr: stderr}
	objstore.Tell(func(message string) { say(stderr, "stackmill: %s\n", message) })
	root := newRoot(a)
	root.SetArgs(args)
	err := a.untilEnded(ctx, func() error { return root.ExecuteContext(ctx) })
	err = out.orFailed(stderr, err)
	if err == nil {
		return 0
	}
	code := exitStatus(err)
	var exit *exitError
	if errors.As(err, &exit) && exit.err == nil {
		return code
	}
	if ctx.Err() != nil && exit == nil {
		err = errInterrupted
	}
	if exit == nil {
		err = outOfFiles(missingFile(err))
	}
	say(stderr, "stackmill: %v\n", err)
	return code
}

// exitStatus is the status with which an error ends the program.
func exitStatus(err error) int {
	var exit *exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.code
	}
	return exitNothing
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "stackmill",
		Short: "Turn profiler experiments into tables and ask them questions",
		Example: `  stackmill ingest ~/profiles
  stackmill report functions --limit 20
  stackmill query "SELECT experiment, count(*) FROM samples JOIN experiments USING (experiment_id) GROUP BY ALL"`,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Name() == "version" {
				return nil
			}
			if err := checkFiles(); err != nil {
				return err
			}
			if err := a.reach(cmd.Context(), a.store); err != nil {
				return err
			}
			return a.checkPlaces(cmd)
		},
	}
	var verbs []string
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return noSuchVerb(args[0], verbs)
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageErrorf("%s: %w (see %s --help)", cmd.Name(), err, cmd.CommandPath())
	})
	root.PersistentFlags().StringVar(&a.store, "store", defaultStore(), "the store's directory or s3://BUCKET/PREFIX, also set by $STACKMILL_STORE")
	root.PersistentFlags().StringVar(&a.cacheSize, "cache-size", "10G", "of a store on S3: how much of its tables may be kept here")
	root.AddCommand(newIngestCommand(a), newPlanCommand(a), newVersionCommand(a))
	root.AddCommand(readingCommands(a)...)
	for _, c := range root.Commands() {
		c.Args = usageArgs(c.Args)
		verbs = append(verbs, c.Name())
	}
	return root
}

func defaultStore() string {
	if s := os.Getenv("STACKMILL_STORE"); s != "" {
		return s
	}
	return "stackmill-store"
}

// optionsOnly refuses arguments of a verb that has options only.
func optionsOnly(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q: it takes options only", args[0])
	}
	return nil
}

// usageArgs makes errors about a verb's arguments usage errors.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	if check == nil {
		check = optionsOnly
	}
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageErrorf("%s: %w (see %s --help)", cmd.Name(), err, cmd.CommandPath())
		}
		return nil
	}
}
