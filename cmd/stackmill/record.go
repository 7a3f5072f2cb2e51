package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stackmill/internal/exit"
	"stackmill/internal/terminal"
	"stackmill/pipeline/record"
	"stackmill/schema/storedir"
)

// programRecorder runs `stackmill record`.
type programRecorder struct {
	ingester
	want record.Options
}

func newRecordCommand(a *app) *cobra.Command {
	r := &programRecorder{ingester: newIngester(a, "record")}
	c := &cobra.Command{
		Use:   "record [options] [--] PROGRAM [ARGUMENT...]",
		Short: "Record a program with perf or gprofng, and ingest the recording",
		Long: `Runs a program under perf, or under gprofng if perf is not installed or may not record. It
prints the command line, so that you can run it yourself, ingests the recording, and prints
commands that show it. The program has the terminal, and its exit status is that of record:
128 and the number of the signal, if a signal ended it. Ctrl-C ends the program; what was
recorded until then is kept.

Recorded are samples of the time on CPUs and, unless --waits=false, when threads waited for
what and who woke them. If this user may not record all of that, record says what is missing
and how to permit it. --system records all processes while PROGRAM runs, --pid running ones;
both without PROGRAM until Ctrl-C.

The recording stays in a new file PROGRAM.N.data of this folder (gprofng: PROGRAM.N.er), or
in --output. Programs that were compiled without frame pointers, as most packages of Linux
distributions, need --call-graph dwarf, the default. For others --call-graph fp makes smaller
recordings and slows the program down less.

Exit status: that of the program; if that is 0, that of ingest; 1 nothing could be recorded;
2 wrong usage; 127 there is no such program.`,
		Example: `  stackmill record ./program input.txt
  stackmill record --call-graph fp -- sh -c 'sort input.txt | uniq -c'
  stackmill record --system -- sleep 10
  stackmill record --pid 4711 --waits=false
  stackmill record --with gprofng ./program`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.want.Program = args
			if err := r.checkUse(cmd.Flags()); err != nil {
				return err
			}
			r.endsItself.Store(true)
			return r.run(cmd.Context())
		},
	}
	f := c.Flags()
	f.SetInterspersed(false) // options after PROGRAM are its own
	f.StringVar(&r.want.With, "with", "", "perf or gprofng (default: perf if it may record, else gprofng)")
	outputVar(f, &r.want.Output, "output", "o", "", "file or folder of the recording (default: PROGRAM.N.data or PROGRAM.N.er)")
	f.IntVarP(&r.want.Frequency, "frequency", "F", 499, "samples in a second of CPU time")
	f.StringVar(&r.want.CallGraph, "call-graph", "", "perf: how stacks are recorded: fp, dwarf or dwarf,SIZE (default: dwarf, with --system fp)")
	f.BoolVar(&r.want.Waits, "waits", true, "record when threads waited, and who woke them")
	f.BoolVarP(&r.want.System, "system", "a", false, "perf: record all processes of the machine")
	f.StringVarP(&r.want.PID, "pid", "p", "", "perf: record these running processes, separated by commas")
	f.StringArrayVar(&r.given.Given, "label", nil, "KEY=VALUE: label for the experiment; may be repeated")
	r.addCommonFlags(c)
	checkValue(f, "call-graph", func() error {
		kind, size, sized := strings.Cut(r.want.CallGraph, ",")
		n, err := strconv.ParseUint(size, 10, 16)
		if kind == "dwarf" && (!sized || err == nil && n > 0) || (kind == "fp" || kind == "lbr") && !sized {
			return nil
		}
		return fmt.Errorf("%q is not a way to record stacks (write fp, dwarf, dwarf,16384 or lbr)", r.want.CallGraph)
	})
	checkValue(f, "pid", func() error {
		for pid := range strings.SplitSeq(r.want.PID, ",") {
			if n, err := strconv.ParseUint(pid, 10, 31); err != nil || n == 0 {
				return fmt.Errorf("%q is not a process (write 4711 or 4711,4712)", pid)
			}
		}
		return nil
	})
	oneOf(c, "with", "profiler", []string{record.Perf, record.Gprofng})
	atLeast(f, "frequency", &r.want.Frequency, 1)
	return c
}

// checkUse checks flags and arguments.
func (r *programRecorder) checkUse(f *pflag.FlagSet) (err error) {
	for _, name := range []string{"call-graph", "pid", "system"} {
		if f.Changed(name) && r.want.With == record.Gprofng {
			return exit.Usagef("record: --%s: gprofng has no such option: use perf", name)
		}
	}
	switch {
	case len(r.want.Program) == 0 && !r.want.System && r.want.PID == "":
		return exit.Usagef("record: no PROGRAM is given (or give --system or --pid)")
	case r.want.System && r.want.PID != "":
		return exit.Usagef("record: --system includes every process: leave out --pid")
	}
	if r.want.CallGraph == "" {
		r.want.CallGraph = "dwarf"
		if r.want.System { // stack dumps of all programs would be too much to write
			r.want.CallGraph = "fp"
		}
	}
	if folder := filepath.Dir(r.want.Output); r.want.Output != "" {
		if _, err := os.Stat(folder); err != nil {
			return exit.Usagef("record: --output: %w", err)
		}
	}
	if r.Labels, err = r.given.Labels(); err != nil {
		return exit.Usagef("record: %w", err)
	}
	return r.check()
}

func (r *programRecorder) run(ctx context.Context) error {
	c, err := record.Choose(ctx, &r.want)
	if err != nil {
		return named("record", exit.Interrupted(ctx, err))
	}
	if c.Lacks != "" {
		r.app.Warnf("the recording will lack %s", c.Lacks)
	}
	r.app.Warnf("%s", c.String())
	status, err := c.Run()
	if len(r.want.Program) == 0 && (status == 128+int(syscall.SIGINT) || status == 128+int(syscall.SIGTERM)) {
		status = 0 // that is how such recordings end
	}
	if err != nil {
		return named("record", exit.With(max(status, 1), err))
	}
	// A signal may have ended the recording: only a later one ends the ingest.
	ctx, stop := signal.NotifyContext(context.WithoutCancel(ctx), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r.Runner.Output = &terminal.Output{Stdout: r.app.Stderr, Stderr: r.app.Stderr} // standard output is the program's
	if err = r.Run(ctx, []string{c.Output}); err == nil && fullProgram {
		r.printNext(c)
	}
	if status != 0 {
		if err != nil {
			r.app.Warnf("%v", err)
		}
		return exit.With(status, nil)
	}
	return err
}

// printNext prints commands that show the recording.
func (r *programRecorder) printNext(c *record.Command) {
	name, store := filepath.Base(c.Output), ""
	if r.store != defaultStore() {
		store = " --store " + storedir.DisplayName(r.store)
	}
	metric := ""
	if c.Waits && c.Args[0] == record.Perf {
		metric = " --metric wall"
	}
	next := []string{"report functions" + metric + store + " --experiment " + name}
	if metric != "" {
		next = append(next, "report waits"+store+" --experiment "+name)
	}
	next = append(next, "serve --open"+store)
	r.app.Messagef("Look at it with\n")
	for _, words := range next {
		r.app.Messagef("  stackmill %s\n", words)
	}
}
