// Command stackmill reads profiler experiments into a store of Parquet files
// and answers questions about them. Each verb has its file.
//
// Start reading with newRoot, which lists the verbs; ingest.go and report.go are typical ones.
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

	"stackmill/internal/exit"
	"stackmill/internal/objstore"
	"stackmill/internal/tempdir"
	"stackmill/internal/terminal"
)

// app is what every verb needs: the store, the input and the outputs.
type app struct {
	store  string
	engine // with the options of the SQL engine
	stdin  io.Reader
	terminal.Output
	cacheSize string // limit of the local copy of a store on S3, e.g. 20G

	endsItself atomic.Bool // set by verbs that end by themselves soon after a signal: wait for them
}

func main() {
	signal.Ignore(syscall.SIGXFSZ) // a write beyond `ulimit -f` then fails instead of killing the program
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer tempdir.RemoveAll()    // even if SQL is still running that does not stop
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	out := &standardOutput{to: stdout}
	a := &app{stdin: stdin, Output: terminal.Output{Stdout: out, Stderr: stderr}}
	objstore.SetNotifier(func(message string) { a.Warnf("%s", message) })
	root := newRoot(a)
	root.SetArgs(args)
	err := a.runVerb(ctx, func() error { return root.ExecuteContext(ctx) })
	err = out.orFailed(&a.Output, err)
	var exits *exit.Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exits) && exits.Err == nil:
		return exits.Status
	case exits != nil:
	case ctx.Err() != nil:
		err = exit.ErrInterrupted
	default:
		err = outOfFiles(missingFile(err))
	}
	a.Warnf("%v", err)
	return exit.Status(err)
}

func newRoot(a *app) *cobra.Command {
	showVersion := false
	root := &cobra.Command{
		Use:   "stackmill",
		Short: "Turn profiler recordings into tables, and query them",
		Example: `  stackmill ingest ~/profiles
  stackmill report functions --limit 20
  stackmill query "SELECT experiment, count(*) FROM samples JOIN experiments USING (experiment_id) GROUP BY ALL"`,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Name() == "version" || !cmd.HasParent() { // needs no store
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
	root.Flags().BoolVar(&showVersion, "version", false, "print the versions of the program and its libraries, like the verb version")
	root.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) > 0:
			return a.noSuchVerb(args[0], verbs)
		case showVersion:
			return a.printVersion("table")
		}
		return cmd.Help()
	}
	root.SetIn(a.stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	root.SetFlagErrorFunc(flagError)
	root.PersistentFlags().StringVar(&a.store, "store", defaultStore(), "the store's directory or s3://BUCKET/PREFIX, also set by $STACKMILL_STORE")
	root.PersistentFlags().StringVar(&a.cacheSize, "cache-size", "10G", "for a store on S3: size limit of the local copy of its tables")
	checkValue(root.PersistentFlags(), "cache-size", func() error { _, err := parseSize(a.cacheSize); return err })
	root.AddCommand(newIngestCommand(a), newRecordCommand(a), newPlanCommand(a), newVersionCommand(a))
	root.AddCommand(readingCommands(a)...)
	for _, c := range root.Commands() {
		c.Args = usageArgs(c.Args)
		verbs = append(verbs, c.Name())
	}
	verbs = append(verbs, "completion", "help")
	a.addHelp(root, verbs)
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
		return fmt.Errorf("unexpected argument %q: this verb takes options only", args[0])
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
			return exit.Usagef("%s: %w (see %s --help)", verbOf(cmd), err, cmd.CommandPath())
		}
		return nil
	}
}

// arguments accepts between least and most arguments. what describes the arguments in errors.
func arguments(least, most int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return fmt.Errorf("no %s is given", what)
		case len(args) > most:
			return fmt.Errorf("unexpected argument %q: this verb takes one %s", args[most], what)
		}
		return nil
	}
}
