package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stackmill/internal/exit"
	"stackmill/internal/hugepages"
	"stackmill/internal/objstore"
	"stackmill/pipeline/runner"
	"stackmill/queries/label"
	"stackmill/stages/loadobject/cache"
	"stackmill/stages/symbolize/source"
)

// ingester runs `stackmill ingest`, and is the part that `stackmill resymbolize` shares.
type ingester struct {
	*app
	runner.Runner
	verb          string
	given         label.Ingest
	noSystemDebug bool // do not search the system's directories for debug files
}

func newIngester(a *app, verb string) ingester {
	return ingester{app: a, verb: verb, Runner: runner.Runner{Output: &a.Output, Refresh: a.refresh()}}
}

func newIngestCommand(a *app) *cobra.Command {
	in := newIngester(a, "ingest")
	c := &cobra.Command{
		Use:   "ingest PATH... | --plan FILE",
		Short: "Read recordings and commit them to the store",
		Long: `Reads every recording found at the paths (a .er directory, a .erg group, a perf.data
file, a pprof profile, or a folder with any of them) and commits them to the store.
Recordings that are already in the store are skipped, so you can run the same command
every night. Deleted ones are skipped, too (see "stackmill forget"). --label and --label-from label
new experiments; those already in the store keep their labels (see "stackmill label"). The label
"started" says when a recording was made, if it does not tell and its file's time is wrong.

A recording that takes longer than --experiment-timeout, or far more memory than
--memory, is stored as failed, and tried again the next time. If a full disk, an
interrupt or another machine error keeps recordings out of the store, run the same
command again.

--report and --metrics are always written on exit, even after an error. With --watch,
the program runs until SIGINT or SIGTERM. In each round it ingests the recordings that
are complete and have not changed since the last round. A recording that stays
incomplete and does not change for --settle is ingested as it is, and again if it changes
later. See docs/operations.md. With --auto-compact, small batches are merged afterwards, as
compact does; without it, a line tells you when that would help.

With --plan, it ingests one chunk of a plan that "stackmill plan" made. It is safe to run
the same chunk again, however it ended, or twice at once.

Exit status: 0 everything is in the store; 3 data of some recordings was lost or
unreadable (see "stackmill problems"), or some recordings could not be stored or batches
not merged; 4 some batches were not merged because they are damaged; 1 nothing could be
done; 2 wrong usage; 75 with --plan: some recordings are not in the store, run the same
command again (after 3 that would not help).`,
		Example: `  stackmill ingest test.1.er
  stackmill ingest --jobs 8 --recursive --store /data/profiles /data/experiments
  stackmill ingest --recursive --report last.json --metrics stackmill.prom /data/experiments
  stackmill ingest --recursive --watch /data/experiments
  stackmill ingest --plan night.plan --chunk 7`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := in.checkPlan(cmd.Flags(), args); err != nil {
				return err
			}
			if in.Plan != "" {
				return in.runChunk(cmd.Context(), cmd.Flags())
			}
			if err := in.checkAll(cmd.Flags()); err != nil {
				return err
			}
			in.endsItself.Store(true)
			return in.Run(cmd.Context(), args)
		},
	}
	in.addFlags(c)
	return c
}

func (in *ingester) addFlags(c *cobra.Command) {
	f := c.Flags()
	in.addCommonFlags(c)
	f.BoolVar(&in.Recursive, "recursive", false, "also look for recordings in subfolders")
	f.BoolVar(&in.Verify, "verify", false, "also read recordings whose files have the same size, time and inode as at the last ingest")
	f.BoolVar(&in.Forgotten, "forgotten", false, "also ingest deleted experiments again, and summaries in full")
	f.StringArrayVar(&in.given.Given, "label", nil, "KEY=VALUE: label for new experiments; may be repeated")
	f.StringVar(&in.given.From, "label-from", "", "label new experiments by the named groups of this regular expression over their absolute paths, e.g. '/night-(?P<night>[^/]+)/'")
	f.StringVar(&in.Plan, "plan", "", "ingest a chunk of this plan (see stackmill plan)")
	f.IntVar(&in.Chunk, "chunk", 0, "with --plan: the number of the chunk, from 0 (default $SLURM_ARRAY_TASK_ID or $JOB_COMPLETION_INDEX)")
	atLeast(f, "chunk", &in.Chunk, 0)
	in.addNightFlags(c)
}

// addCommonFlags adds the flags that ingest shares with resymbolize.
func (in *ingester) addCommonFlags(c *cobra.Command) {
	f := c.Flags()
	f.IntVar(&in.Jobs, "jobs", runtime.NumCPU(), "how many experiments to read at once")
	sizeVar(f, &in.Memory, "memory", "1G", "memory limit, e.g. 512M or 2G")
	f.DurationVar(&in.Timeout, "experiment-timeout", time.Hour, "maximum time for one recording (0: no limit)")
	outputVar(f, &in.Cache, cacheFlag, "", defaultCache(), "directory or s3://BUCKET/PREFIX where symbol tables of load objects are cached, shared by all stores")
	f.StringVar(&in.Kallsyms, "kallsyms", "", "copy of /proc/kallsyms from the time of the recording (perf)")
	f.StringVar(&in.Vmlinux, "vmlinux", "", "kernel image with symbols (perf; default: found by the recorded build-id where distributions install it)")
	f.StringVar(&in.PerfMaps, "perf-map-dir", "", "directory of perf-PID.map and jit-PID.dump files of JIT compilers (default: /tmp, and the dump's own directory)")
	f.StringVar(&in.SymFS, "symfs", "", "look for load objects below this directory instead of at their recorded paths")
	f.StringArrayVar(&in.DebugDirs, "debug-dir", nil, "directory of debug files, or a build-id cache (of perf or of debuginfod clients), in addition to /usr/lib/debug and ~/.debug; may be repeated")
	f.BoolVar(&in.noSystemDebug, "no-system-debug", false, "look for debug files only in --debug-dir, so that names do not depend on this machine's packages")
	f.StringArrayVar(&in.SourcePaths, "source-path", nil, sourcePathHelp)
	f.BoolVar(&in.NoRecordedSources, "no-recorded-sources", false, noRecordedHelp)
	atLeast(f, "jobs", &in.Jobs, 1)
	atLeast(f, "experiment-timeout", &in.Timeout, 0)
}

// warnOfMissing warns of folders that flags name and that do not exist.
func (in *ingester) warnOfMissing() {
	warn := func(flag, folder string) {
		if _, err := os.Stat(folder); folder != "" && err != nil {
			in.app.Warnf("%s: warning: --%s: %v", in.verb, flag, err)
		}
	}
	warn("symfs", in.SymFS)
	warn("perf-map-dir", in.PerfMaps)
	for _, folder := range in.DebugDirs {
		warn("debug-dir", folder)
	}
}

// addNightFlags adds the flags for unattended use.
func (in *ingester) addNightFlags(c *cobra.Command) {
	f := c.Flags()
	outputVar(f, &in.Report, "report", "", "", "write a JSON report to this file on exit: the result of each recording, and where the time went")
	outputVar(f, &in.Metrics, "metrics", "", "", "write metrics to this file on exit, in Prometheus' text format for the node exporter (*.prom)")
	f.StringVar(&in.LogFormat, "log-format", "", "text or json: log to standard error, with a line for each recording (default: text, unless it is a terminal)")
	oneOf(c, "log-format", "format", []string{runner.LogText, runner.LogJSON})
	f.BoolVar(&in.Watch, "watch", false, "keep running, and ingest recordings that appear at the paths once they are complete")
	f.BoolVar(&in.AutoCompact, "auto-compact", false, "merge small batches afterwards, as stackmill compact does")
	f.DurationVar(&in.Interval, "interval", 10*time.Second, "with --watch: how often to look at the paths")
	f.DurationVar(&in.Settle, "settle", time.Minute, "with --watch: ingest an unfinished or damaged recording after it has not changed for this time")
	positive(f, "interval", &in.Interval)
	atLeast(f, "settle", &in.Settle, 0)
}

// checkNight checks the flags for unattended use.
func (in *ingester) checkNight(f *pflag.FlagSet) error {
	if in.AutoCompact && !fullProgram {
		return exit.Usagef("ingest: --auto-compact: the worker, which is built without cgo, cannot merge batches: use the full stackmill")
	}
	for _, name := range []string{"interval", "settle"} {
		if f.Changed(name) && !in.Watch {
			return exit.Usagef("ingest: --%s: it needs --watch", name)
		}
	}
	return nil
}

// checkAll checks all flags.
func (in *ingester) checkAll(f *pflag.FlagSet) error {
	if err := in.checkNight(f); err != nil {
		return err
	}
	var err error
	if in.Labels, err = in.given.Labels(); err != nil {
		return exit.Usagef("ingest: %w", err)
	}
	return in.check()
}

// check checks the flags that ingest shares with resymbolize, and sets the options that follow from
// them.
func (in *ingester) check() (err error) {
	if in.Sources, err = source.ParseRules(in.SourcePaths); err != nil {
		return exit.Usagef("%s: --source-path: %w", in.verb, err)
	}
	if err := checkSpace(in.Memory); err != nil {
		return fmt.Errorf("%s: %w", in.verb, err)
	}
	in.warnOfMissing()
	if objstore.Is(in.Cache) {
		in.SharedCache = in.Cache
		if in.Cache, err = ownCache(); err != nil {
			return fmt.Errorf("%s: %w", in.verb, err)
		}
	}
	switch { // if DebugDirs is nil, the cache searches the system's directories
	case in.noSystemDebug && in.DebugDirs == nil:
		in.DebugDirs = []string{}
	case !in.noSystemDebug && in.DebugDirs != nil:
		in.DebugDirs = append(in.DebugDirs, cache.DefaultDebugDirs()...)
	}
	in.Jobs = jobsFor(in.Jobs, openFiles())
	in.Store, in.Program = in.store, programVersion()
	debug.SetMemoryLimit(in.Memory)
	hugepages.Allow(in.Memory / hugeShare)
	return nil
}

// Huge pages may back at most 1/hugeShare of the memory limit: unused parts of huge pages count as
// used memory.
const hugeShare = 4

// noRecordedHelp describes a flag of ingest and report.
const noRecordedHelp = "do not read source files at their recorded paths (only files that everyone may read are ever read there)"

// sourcePathHelp describes a flag of ingest and report.
const sourcePathHelp = "where to find source files that are not at their recorded paths: FROM=TO replaces the start of a path, DIR is searched for the end of the path; may be repeated"

// defaultCache returns the user's cache directory, "" without one.
func defaultCache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "stackmill")
}
