package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"stackmill/pipeline"
	"stackmill/stages/symbolize/source"
	"stackmill/storedir"
)

// ingester is one call of the verb.
type ingester struct {
	*app
	pipeline.Options
	memory  string
	sources []string
}

func newIngestCommand(a *app) *cobra.Command {
	in := &ingester{app: a}
	c := &cobra.Command{
		Use:   "ingest PATH...",
		Short: "Read recordings and commit them to the store",
		Long: `Reads every recording found at the paths (a .er directory, a .erg group, or a
folder holding any of them) and commits them to the store. Content that is in
the store already is skipped, so the same command can be run every night.

A recording that takes more time than --experiment-timeout, or far more memory
than --memory, is put into the store as failed, and tried again the next time. A
full disk, an interrupt, or another fault of the machine leaves recordings out;
run the same command again to put them in.

Exit status: 0 all is in; 3 data of some recordings was lost or unreadable, see
"stackmill problems", or they could not be put in; 1 nothing could be done;
2 wrong usage.`,
		Example: `  stackmill ingest test.1.er
  stackmill ingest --jobs 8 --recursive --store /data/profiles /data/experiments`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := in.check(); err != nil {
				return err
			}
			return runIngest(cmd.Context(), a, in.Options, args)
		},
	}
	in.addFlags(c)
	return c
}

func (in *ingester) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.IntVar(&in.Jobs, "jobs", runtime.NumCPU(), "experiments read side by side")
	f.StringVar(&in.memory, "memory", "1G", "memory to stay within, e.g. 512M or 2G")
	f.DurationVar(&in.Timeout, "experiment-timeout", time.Hour, "how long reading one recording may take, 0 for any time")
	f.StringVar(&in.Cache, "cache", defaultCache(), "directory where tables of load objects are kept, shared by all stores")
	f.BoolVar(&in.Recursive, "recursive", false, "also look for recordings in subfolders")
	f.BoolVar(&in.Verify, "verify", false, "also read recordings whose files have not changed since they were read, by size, time and inode")
	f.StringVar(&in.Kallsyms, "kallsyms", "", "the kernel's symbols when it was recorded, a copy of /proc/kallsyms (perf recordings)")
	f.StringVar(&in.Vmlinux, "vmlinux", "", "the kernel's image with its symbols (perf recordings; default: by the recorded build-id, where distributions put it)")
	f.StringVar(&in.PerfMaps, "perf-map-dir", "", "directory of the perf-PID.map and jit-PID.dump files of run-time compilers (default /tmp, and where the dump was)")
	f.StringVar(&in.SymFS, "symfs", "", "look for load objects below this directory instead of at their recorded paths")
	f.StringArrayVar(&in.DebugDirs, "debug-dir", nil, "directory of separate debug files or of perf's cache of copies by build-id, may be repeated (default /usr/lib/debug and ~/.debug)")
	f.StringArrayVar(&in.sources, "source-path", nil, sourcePathHelp)
	f.BoolVar(&in.NoRecordedSources, "no-recorded-sources", false, noRecordedHelp)
}

// check looks at the flags and sets the options that follow from them.
func (in *ingester) check() error {
	limit, err := parseSize(in.memory)
	if err != nil {
		return usageErrorf("ingest: --memory: %w", err)
	}
	if in.Timeout < 0 {
		return usageErrorf("ingest: --experiment-timeout: %v is less than 0", in.Timeout)
	}
	if in.Jobs < 1 {
		return usageErrorf("ingest: --jobs: %d is less than 1", in.Jobs)
	}
	if in.Sources, err = source.ParseRules(in.sources); err != nil {
		return usageErrorf("ingest: --source-path: %w", err)
	}
	if err := checkSpace(limit); err != nil {
		return fmt.Errorf("ingest: %w", err)
	}
	in.Jobs = jobsFor(in.Jobs, openFiles())
	in.Store, in.Memory, in.Program = in.store, limit, programVersion()
	debug.SetMemoryLimit(limit)
	return nil
}

// noRecordedHelp describes another flag that they share.
const noRecordedHelp = "do not read source files at their recorded paths (where only files that everyone may read are read)"

// sourcePathHelp describes the flag that ingest and report share.
const sourcePathHelp = "where to find source files that are not at their recorded paths: FROM=TO replaces the start of the path, DIR is searched by the path's end; may be repeated"

func runIngest(ctx context.Context, a *app, opts pipeline.Options, paths []string) error {
	a.endsItself.Store(true)
	start := time.Now()
	opts.Progress = &pipeline.Progress{}
	bar := newProgressBar(a.stderr, opts.Progress)
	if bar == nil {
		log := slog.New(slog.NewTextHandler(a.stderr, nil))
		opts.Done = func(r pipeline.Result) { logResult(log, r) }
	}
	p := publisher{app: a, store: opts.Store, cache: opts.Cache, progress: opts.Progress}
	defer p.end()
	opts.Begun = func() { p.begin(ctx) }
	opts.Committing = func(c storedir.Commit) { p.expect(ctx, c) }
	results, err := pipeline.Ingest(ctx, opts, paths...)
	if bar != nil {
		bar.stop()
	}
	if len(results) == 0 && err != nil {
		return fmt.Errorf("ingest: nothing was read: %w", interruption(ctx, err))
	}
	p.publish(ctx)
	s := summary{app: a, results: results, stopped: interruption(ctx, err), onTerminal: bar != nil}
	return s.print(time.Since(start))
}

// interruption replaces the error if a signal ended the ingest.
func interruption(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errInterrupted
	}
	return err
}

var errInterrupted = errors.New("interrupted")

func logResult(log *slog.Logger, r pipeline.Result) {
	level := slog.LevelInfo
	if r.Lost() {
		level = slog.LevelError
	}
	attrs := []slog.Attr{slog.String("path", r.Path), slog.String("status", r.Status), slog.Int64("samples", r.Samples),
		slog.Int("problems", len(r.Problems)), slog.Duration("elapsed", r.Elapsed.Round(time.Millisecond))}
	if r.Err != nil {
		attrs = append(attrs, slog.Any("error", r.Err))
	}
	var internal *pipeline.InternalError
	if errors.As(r.Err, &internal) {
		attrs = append(attrs, slog.String("stack", string(internal.Stack)))
	}
	if r.Status != pipeline.Aborted || r.Elapsed > 0 { // was begun
		log.LogAttrs(context.Background(), level, "ingest", attrs...)
	}
}

// progressBar shows on a terminal what an ingest has done so far.
type progressBar struct {
	bar        *progressbar.ProgressBar
	p          *pipeline.Progress
	start      time.Time
	quit, done chan struct{}
}

// newProgressBar starts a bar on w, or returns nil if w is not a terminal.
func newProgressBar(w io.Writer, p *pipeline.Progress) *progressBar {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	b := &progressBar{
		bar: progressbar.NewOptions64(-1, progressbar.OptionSetWriter(w), progressbar.OptionShowBytes(true),
			progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(20)),
		p: p, start: time.Now(), quit: make(chan struct{}), done: make(chan struct{}),
	}
	go func() { _ = orPanic(b.run) }() // nothing depends on the bar
	return b
}

func (b *progressBar) run() error {
	defer close(b.done)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			b.show()
		case <-b.quit:
			return b.bar.Finish()
		}
	}
}

func (b *progressBar) show() {
	rate := float64(b.p.Samples.Load()) / time.Since(b.start).Seconds()
	b.bar.Describe(fmt.Sprintf("%d/%d experiments, %.0f k samples/s, %d problems",
		b.p.Finished.Load(), b.p.Experiments.Load(), rate/1e3, b.p.Problems.Load()))
	if total := b.p.TotalBytes.Load(); total > 0 {
		b.bar.ChangeMax64(total)
	}
	_ = b.bar.Set64(b.p.Bytes.Load()) // nothing depends on the terminal
}

func (b *progressBar) stop() {
	close(b.quit)
	<-b.done
}

// defaultCache is the user's cache directory; without one nothing is kept.
func defaultCache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "stackmill")
}

// parseSize reads a size such as 512M: K, M, G are powers of 1024.
func parseSize(s string) (int64, error) {
	t := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(s), "B"), "I")
	shift := 0
	if t != "" {
		if i := strings.IndexByte("KMGT", t[len(t)-1]); i >= 0 {
			shift = 10 * (i + 1)
			t = t[:len(t)-1]
		}
	}
	n, err := strconv.ParseInt(t, 10, 64)
	if err != nil || n <= 0 || n > 1<<62>>shift {
		return 0, fmt.Errorf("%q is not a size (write 512M or 2G)", s)
	}
	return n << shift, nil
}
