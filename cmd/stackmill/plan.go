package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stackmill/internal/atomicfile"
	"stackmill/internal/exit"
	"stackmill/internal/terminal"
	"stackmill/pipeline"
	"stackmill/pipeline/plan"
	"stackmill/schema/storedir"
)

// planner runs `stackmill plan` and `stackmill plan retry`.
type planner struct {
	*app
	planFlags
	verb  string
	lists []string // files that list paths
	pipeline.Options

	header  plan.Header
	skipped int // number of inputs that are in the store already
	failed  int // number of inputs that cannot be planned
}

// planFlags are the flags that `plan` and `plan retry` share.
type planFlags struct {
	output    string
	minutes   float64
	chunks    int
	reports   []string
	cpus      int
	parallel  int
	options   []string
	program   string
	image     string
	claim     string
	scheduler string
}

// maxTasks is how many tasks an array job may have by Slurm's default (MaxArraySize).
const maxTasks = 1001

// maxPrinted limits the printed errors of inputs that cannot be planned.
const maxPrinted = 5

// maxChunks limits --chunks: a Kubernetes Job has at most this many indexes.
const maxChunks = 100_000

func newPlanCommand(a *app) *cobra.Command {
	p := &planner{app: a, verb: "plan"}
	c := &cobra.Command{
		Use:   "plan PATH...",
		Short: "Divide a large ingest into chunks for the tasks of a cluster",
		Long: `Finds the recordings at the paths, as ingest does, leaves out those that the store has,
and divides the rest into chunks that take about equal time. A PATH may be a pattern
('/data/night-*'); --from-file reads paths from a file, one per line.

It writes the plan to --output FILE, an array script for Slurm to FILE.slurm, and with
--image and --claim an Indexed Job for Kubernetes to FILE.k8s.yaml. A task is
"stackmill ingest --plan FILE". It may be killed, run again, or run twice at once. All
tasks must see the store, the recordings and FILE at the same paths.

The time of a recording is estimated from reports of earlier ingests: those that tasks
have left in the store, and --report FILE. See docs/cluster.md.

Exit status: 0 planned; 3 planned, but some inputs cannot be read; 1 nothing could be
done; 2 wrong usage.`,
		Example: `  stackmill plan --recursive /data/recordings --store /data/store -o night.plan
  stackmill plan --submit slurm --cpus 8 --minutes 60 -o night.plan '/data/night-*'
  stackmill plan status night.plan
  stackmill plan retry night.plan -o again.plan --submit slurm`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := p.checkSize(cmd.Flags()); err != nil {
				return err
			}
			return p.run(cmd.Context(), args)
		},
	}
	p.addFlags(c)
	c.Flags().BoolVar(&p.Recursive, "recursive", false, "also look for recordings in subfolders")
	c.Flags().BoolVar(&p.Forgotten, "forgotten", false, "also ingest deleted experiments again, and summaries in full")
	c.Flags().StringArrayVar(&p.lists, "from-file", nil, "file of paths, one per line, - for standard input; may be repeated")
	c.AddCommand(newPlanStatusCommand(a), newPlanRetryCommand(a))
	for _, sub := range c.Commands() {
		sub.Args = usageArgs(sub.Args)
	}
	return c
}

func (p *planner) addFlags(c *cobra.Command) {
	f := c.Flags()
	outputVar(f, &p.output, "output", "o", "", "file to write the plan to; must not exist")
	f.Float64Var(&p.minutes, "minutes", 30, "approximate minutes for each task")
	f.IntVar(&p.chunks, "chunks", 0, fmt.Sprintf("maximum number of chunks, instead of --minutes (which makes at most %d)", maxTasks))
	f.StringArrayVar(&p.reports, "report", nil, "report of an earlier ingest, for estimating times; may be repeated")
	f.IntVar(&p.cpus, "cpus", 4, "processors for each task")
	sizeVar(f, &p.Memory, "memory", "1G", "memory limit of each task's ingest (the job requests half a gigabyte more)")
	f.IntVar(&p.parallel, "parallel", 0, "maximum number of tasks at once (default: the scheduler's choice; Kubernetes: 100)")
	f.StringArrayVar(&p.options, "ingest-option", nil, "additional option for the ingest of all tasks, e.g. --ingest-option=--label=run=7; may be repeated")
	f.StringVar(&p.program, "program", "", "path of stackmill or its worker on Slurm's nodes (default: stackmill-worker in this program's folder, or this program)")
	f.StringVar(&p.image, "image", "", "Kubernetes: image with stackmill or its worker (Containerfile makes one)")
	f.StringVar(&p.claim, "claim", "", "Kubernetes: NAME:MOUNT, the claim of the volume that has the store, the recordings and the plan, and the path at which the pods mount it")
	f.StringVar(&p.scheduler, "submit", "", "slurm or k8s: submit the job with sbatch or kubectl")
	atLeast(f, "cpus", &p.cpus, 1)
	atLeast(f, "parallel", &p.parallel, 0)
	checkValue(f, "minutes", func() error {
		if !(p.minutes > 0) || math.IsInf(p.minutes, 0) { // not NaN either
			return fmt.Errorf("%g is not a number of minutes above 0", p.minutes)
		}
		return nil
	})
	checkValue(f, "chunks", func() error {
		if p.chunks < 1 || p.chunks > maxChunks {
			return fmt.Errorf("%d is not between 1 and %d", p.chunks, maxChunks)
		}
		return nil
	})
	oneOf(c, "submit", "scheduler", []string{plan.Slurm, plan.Kubernetes})
}

// checkSize returns an error if --minutes and --chunks are both given: either sets the size of
// chunks.
func (p *planner) checkSize(f *pflag.FlagSet) error {
	if f.Changed("minutes") && f.Changed("chunks") {
		return exit.Usagef("%s: --minutes and --chunks given (give one of them)", p.verb)
	}
	return nil
}

// check checks the flags.
func (p *planner) check() error {
	switch {
	case p.output == "":
		return exit.Usagef("%s: --output: no file is given for the plan", p.verb)
	case strings.ContainsFunc(p.output, func(r rune) bool { return r < ' ' }):
		return exit.Usagef("%s: --output: %q has a control character", p.verb, p.output)
	}
	if err := p.checkClaim(); err != nil {
		return err
	}
	if err := p.checkOptions(); err != nil {
		return err
	}
	if _, err := os.Lstat(p.output); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: --output: %s: %w", p.verb, p.output, errors.Join(err, fs.ErrExist))
	}
	return named(p.verb+": --output", atomicfile.Check(p.output))
}

// checkOptions checks the options that are passed to ingest.
func (p *planner) checkOptions() error {
	in := newIngester(p.app, "ingest")
	c := &cobra.Command{}
	in.addFlags(c)
	if err := c.ParseFlags(p.options); err != nil {
		return exit.Usagef("%s: --ingest-option: %s", p.verb, flagMessage(c.Flags(), err))
	}
	f := c.Flags()
	p.Forgotten = p.Forgotten || in.Forgotten
	for _, name := range append([]string{"plan", "chunk", "jobs", "memory"}, notOfChunks...) {
		if f.Changed(name) {
			return exit.Usagef("%s: --ingest-option: --%s: the plan sets this option itself", p.verb, name)
		}
	}
	if f.NArg() > 0 {
		return exit.Usagef("%s: --ingest-option: %q is not an option", p.verb, f.Arg(0))
	}
	if err := in.checkNight(f); err != nil {
		return exit.Usagef("%s: --ingest-option: %w", p.verb, err)
	}
	if _, err := in.given.Labels(); err != nil {
		return exit.Usagef("%s: --ingest-option: %w", p.verb, err)
	}
	return nil
}

func (p *planner) run(ctx context.Context, paths []string) error {
	if err := p.check(); err != nil {
		return err
	}
	paths, err := p.paths(paths)
	if err != nil {
		return err
	}
	if p.Forgotten && !slices.Contains(p.options, plan.ForgottenToo) {
		p.options = append(p.options, plan.ForgottenToo)
	}
	p.Store = p.store
	p.Jobs, p.Program = runtime.NumCPU(), programVersion()
	if err := p.readStore(); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	measured := p.learn()
	inputs, err := p.find(ctx, paths)
	if err != nil {
		return fmt.Errorf("plan: %w", exit.Interrupted(ctx, err))
	}
	return p.make(ctx, inputs, &measured)
}

// paths returns the given paths and those in the --list files.
func (p *planner) paths(given []string) ([]string, error) {
	if len(given)+len(p.lists) == 0 {
		return nil, exit.Usagef("plan: no PATH is given (see stackmill plan --help)")
	}
	paths, err := plan.ExpandPatterns(given)
	if errors.Is(err, filepath.ErrBadPattern) {
		return nil, exit.Usagef("plan: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	for _, list := range p.lists {
		listed, err := plan.ReadPaths(list, p.stdin)
		if err != nil {
			return nil, fmt.Errorf("plan: --from-file: %w", err)
		}
		paths = append(paths, listed...)
	}
	return paths, nil
}

// readStore reads the contents of the store, which need not exist.
func (p *planner) readStore() (err error) {
	p.Contents, err = storedir.ReadContents(p.store)
	if errors.Is(err, storedir.ErrNoStore) {
		return nil
	}
	return err
}

// learn measures how long ingests took, from the reports that earlier tasks left in the store.
func (p *planner) learn() (measured plan.Measurements) {
	plan.Learn(p.store, p.Contents, &measured, func(err error) { p.Warnf("%v", err) })
	return measured
}

// find returns the inputs that are not in the store, and warns about inputs that cannot be planned.
func (p *planner) find(ctx context.Context, paths []string) (inputs []plan.Input, err error) {
	found, err := pipeline.Find(ctx, p.Options, paths...)
	if err != nil {
		return nil, err
	}
	had := plan.AtPaths(p.Contents)
	printed := 0
	for _, f := range found {
		switch {
		case f.Instead != "":
			p.skipped++
			continue
		case f.Err == nil && !utf8.ValidString(f.Path):
			f.Err = errors.New("its path is not UTF-8, so a plan cannot contain it (ingest it without a plan)")
		}
		if f.Err != nil {
			p.failed++
			if printed++; printed <= maxPrinted {
				p.Warnf("%s: %v", f.Path, f.Err)
			}
			continue
		}
		in := plan.Input{Path: f.Path, Bytes: f.Bytes, State: f.State}
		if e := had[f.Path]; e != nil {
			in.Had = e.ExperimentID
		}
		inputs = append(inputs, in)
	}
	if printed > maxPrinted {
		p.Warnf("%d more cannot be planned", printed-maxPrinted)
	}
	return inputs, nil
}

// make writes the plan and its job files, and submits a job if asked to.
func (p *planner) make(ctx context.Context, inputs []plan.Input, measured *plan.Measurements) error {
	for _, path := range p.reports {
		r, err := plan.ReadReport(path)
		if err != nil {
			return fmt.Errorf("%s: --report: %w", p.verb, err)
		}
		measured.Add(r)
	}
	estimate := measured.Estimate()
	p.header = plan.Header{Program: p.Program, Store: plan.Absolute(p.store), Made: time.Now().UTC().Truncate(time.Second),
		Task: plan.Task{CPUs: p.cpus, Memory: p.Memory, Ingest: p.options}}
	cut := plan.ChunkOptions{Seconds: p.minutes * 60, Chunks: p.chunks, Most: maxTasks, CPUs: p.cpus}
	if p.chunks > 0 {
		cut.Most = maxChunks
	}
	chunks := p.header.Chunk(inputs, cut, estimate)
	var text bytes.Buffer
	if err := plan.Write(&text, &p.header, chunks, p.Contents); err != nil {
		return fmt.Errorf("%s: %w", p.verb, err)
	}
	// The plan is written last: if the command is killed before that, it can be run again.
	submit, err := p.writeJobs()
	if err != nil {
		return fmt.Errorf("%s: %w", p.verb, err)
	}
	err = atomicfile.Replace(p.output, func(w io.Writer) error {
		_, err := text.WriteTo(w)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: --output: %w", p.verb, err)
	}
	if err := p.print(&estimate); err != nil {
		return err
	}
	if err := p.submit(ctx, submit); err != nil {
		return fmt.Errorf("%s: %w", p.verb, err)
	}
	if p.failed > 0 {
		return exit.With(exit.Lost, fmt.Errorf("%s: inputs that are not in the plan, because they cannot be read: %d", p.verb, p.failed))
	}
	return nil
}

// print prints a summary of the plan.
func (p *planner) print(e *plan.Estimate) error {
	h := &p.header
	n := h.Count()
	bytes, total := int64(0), 0.0
	for i := range h.Chunks {
		bytes, total = bytes+h.Chunks[i].Bytes, total+h.Chunks[i].Seconds
	}
	by := "measured on " + terminal.Plural(e.Measured, "recording")
	if e.Measured == 0 {
		by = "nothing was measured on this store yet"
	}
	err := p.Printf("%s of %d bytes in %s; %d already in the store\n", terminal.Plural(n, "recording"), bytes, terminal.Plural(len(h.Chunks), "chunk"), p.skipped)
	if err != nil || n == 0 {
		return err
	}
	return p.Printf("estimated %.1f minutes per task, at most %.1f: %.2g s per recording and %.2g s per megabyte, %s\n",
		total/float64(len(h.Chunks))/60, h.Longest()/60, e.PerInput, e.PerByte*1e6, by)
}
