package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"stackmill/problem"
	"stackmill/stages/decode"
	"stackmill/stages/symbolize/source"
	"stackmill/stages/symbolize/tables"
	"stackmill/stages/write"
)

// Options say what to ingest and how.
type Options struct {
	Store     string
	Cache     string        // directory of load-object tables; empty: no cache on disk
	Kallsyms  string        // file with the kernel's symbols, as /proc/kallsyms has them; empty: none
	Vmlinux   string        // file with the kernel's image; empty: none
	PerfMaps  string        // directory of perf-PID.map files; empty: /tmp
	SymFS     string        // root below which load objects are, instead of at their recorded paths; empty: none
	DebugDirs []string      // where separate debug files, and copies by build-id, are; nil: tables.DefaultDebugDirs
	Sources   []source.Rule // where source files are that are not at their recorded paths
	Jobs      int           // experiments side by side, at least 1
	Memory    int64         // bytes to stay within as far as caches are concerned, 0 for the default
	Recursive bool          // look for recordings below folders, not only in them
	Progress  *Progress
	Done      func(Result) // called after each experiment, one call at a time; may be nil
}

// Progress counts what was done so far. It may be read at any time.
type Progress struct {
	Experiments, Finished, Samples, Bytes, TotalBytes, Problems atomic.Int64
}

// Result says what became of one input.
type Result struct {
	Path     string // absolute
	ID       string // experiment_id, empty when there was nothing to read
	Status   string // as experiments.status, or Skipped
	Samples  int64
	Bytes    int64 // the recording's size
	Problems []problem.Problem
	Elapsed  time.Duration
	Err      error // why nothing of it could be read
}

// Skipped is the status of a recording whose content is in the store already.
const Skipped = "skipped"

// Lost reports whether data of the input was lost or unreadable.
func (r Result) Lost() bool { return r.Err != nil || r.Status == Partial || r.Status == Failed }

// tablesShare is the part of the memory that tables of load objects may keep.
const tablesShare = 4

type ingest struct {
	Options
	tables *tables.Loader
	mu     sync.Mutex
	taken  map[string]bool // ids of inputs that were begun
	known  map[string]bool // paths whose recordings are in the store, as they were then
}

// Ingest reads every recording found at the paths and commits each to the
// store as a batch of its own. It returns a result per input, in the order in
// which they were found. An error means that ingesting stopped: what was
// committed before stays.
func Ingest(ctx context.Context, opts Options, paths ...string) ([]Result, error) {
	if opts.Progress == nil {
		opts.Progress = &Progress{}
	}
	in := &ingest{
		Options: opts,
		tables:  tables.New(tables.Options{CacheDir: opts.Cache, DebugDirs: opts.debugDirs(), MemoryLimit: opts.Memory / tablesShare}),
		taken:   map[string]bool{},
		known:   map[string]bool{},
	}
	if err := write.Clean(opts.Store); err != nil {
		return nil, err
	}
	in.recall()
	inputs := discover(paths, opts.Recursive)
	opts.Progress.Experiments.Store(int64(len(inputs)))

	results := make([]Result, len(inputs))
	for i, src := range inputs {
		opts.Progress.TotalBytes.Add(src.size())
		results[i] = Result{Path: src.path, Err: src.err}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, opts.Jobs))
	for i := range inputs {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			err := in.one(ctx, &results[i], inputs[i])
			in.finished(&results[i])
			return err
		})
	}
	err := g.Wait()
	return results, err
}

// recall finds the paths of what is in the store: probably nothing has to be
// opened there. Without that the work is the same, so that errors do not matter.
func (in *ingest) recall() {
	commits, _ := write.Commits(in.Store)
	for _, c := range commits {
		in.known[c.Path] = c.Status != Failed
	}
}

// one ingests one input, unless it is in the store. A failed recording is
// tried again each time: its files may have been repaired.
func (in *ingest) one(ctx context.Context, r *Result, src input) (err error) {
	start := time.Now()
	defer func() { r.Elapsed = time.Since(start) }()
	open := func() *decode.Recording { return src.decoder.Open(src.path) }
	if r.Err == nil && !in.known[src.path] {
		a := openAhead(src)
		defer func() { err = errors.Join(err, a.drop()) }()
		open = a.take
	}
	if r.Err == nil {
		r.ID, r.Bytes, r.Err = src.identify()
	}
	if r.Err != nil {
		r.Status = Failed
		return nil
	}
	if !in.take(r.ID) {
		r.Status = Skipped
		return nil
	}
	c, err := write.ReadCommit(in.Store, r.ID)
	switch {
	case err == nil && c.Status != Failed:
		r.Status = Skipped
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := in.ingestOne(ctx, r, src, open); err != nil {
		return fmt.Errorf("%s: %w", src.path, err)
	}
	return nil
}

// take reports whether no other input of this run has the same content.
func (in *ingest) take(id string) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	taken := in.taken[id]
	in.taken[id] = true
	return !taken
}

func (in *ingest) finished(r *Result) {
	in.mu.Lock()
	defer in.mu.Unlock()
	p := in.Progress
	p.Finished.Add(1)
	p.Bytes.Add(r.Bytes)
	p.Problems.Add(int64(len(r.Problems)))
	if in.Done != nil {
		in.Done(*r)
	}
}
