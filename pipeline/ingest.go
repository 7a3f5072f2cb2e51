package pipeline

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"stackmill/internal/hosterr"
	"stackmill/internal/ordered"
	"stackmill/schema/diagnostic"
	"stackmill/schema/storedir"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/cache"
	"stackmill/stages/symbolize"
	"stackmill/stages/symbolize/source"
)

// Options say what to ingest and how.
type Options struct {
	Store       string
	Program     string        // version of the program: another one retries recordings that lost data
	Cache       string        // directory of load-object tables; empty: no cache on disk
	SharedCache string        // address of a cache that machines share, behind Cache; empty: none
	Kallsyms    string        // file with the kernel's symbols, in the format of /proc/kallsyms; empty: none
	Vmlinux     string        // file with the kernel's image; empty: none
	PerfMaps    string        // directory of perf-PID.map files; empty: /tmp
	SymFS       string        // root below which load objects are, instead of at their recorded paths; empty: none
	DebugDirs   []string      // directories of separate debug files and of copies by build-id; nil: cache.DefaultDebugDirs
	Sources     []source.Rule // where to find source files that are missing at their recorded paths
	// NoRecordedSources disables looking for source files at their recorded paths.
	NoRecordedSources bool
	Jobs              int           // experiments at a time, at least 1
	Memory            int64         // limit in bytes; 0: none, except the default limits of caches
	Timeout           time.Duration // time limit for one experiment; 0: none
	Recursive         bool          // look for recordings below folders, not only in them
	Verify            bool          // also read recordings whose files have not changed since they were read
	Forgotten         bool          // also ingest deleted experiments
	NoJournal         bool          // do not write the store's journal: Result.Noted has its entries
	// Contents is the content of the store: as just read, or a snapshot; nil: Ingest reads the
	// store. With a snapshot, Ingest reads neither the journal nor, for recordings that the
	// snapshot lacks, the store.
	Contents *storedir.Contents
	// Labels returns the labels for the recording at an absolute path when it is ingested for the
	// first time, or again after its deletion; may be nil.
	Labels   func(path string) map[string]string
	Progress *Progress
	// Committing, if not nil, is called before a batch is committed, on any goroutine. The commit
	// does not name its files yet, and may still fail.
	Committing func(storedir.Commit)
	Done       func(Result) // called after each experiment, one call at a time; may be nil

	begun func() // called before a batch of the store is begun, on any goroutine; may be nil
}

// Progress counts finished work. It may be read at any time.
type Progress struct {
	Experiments, Finished, Samples, Bytes, TotalBytes, Problems atomic.Int64
}

// Result is the result of one input.
type Result struct {
	Path          string // absolute
	ID            string // experiment_id, empty if there was nothing to read
	Status        string // a value of experiments.status, or Skipped or Aborted
	Samples       int64
	Bytes         int64  // the recording's size
	Batch         string // the batch that this run has stored it in, if it has
	Rows          int64  // in that batch, including those that it shares with other experiments
	Problems      []diagnostic.Problem
	Elapsed       time.Duration
	Stages        []StageTime           // in the order in which they began
	Err           error                 // why it was not read
	Noted         storedir.JournalEntry // its entry in the store's journal; zero if there is none
	SymbolChanges *SymbolChanges        // by Resymbolize; nil otherwise
	// Remark describes the part of the request that could not be done although the recording is
	// stored; "" if there is none.
	Remark string
	// FileTime is the time of the recording's file if there is no other record of the start and the
	// file may be a copy. It is zero otherwise, and if this run has not stored the recording.
	FileTime storedir.FileTime
}

// Further values of Result.Status. Skipped: the store has the content already. Forgotten: a user
// has deleted the experiment. Aborted: reading ended early, but not because of the recording, so
// the next ingest tries again.
const (
	Skipped   = "skipped"
	Forgotten = storedir.Forgotten
	Aborted   = "aborted"
)

// InternalError is a bug that a recording triggered: it fails that recording, not the whole run.
type InternalError = ordered.Panic

// Lost reports whether data of the input was lost or unreadable.
func (r Result) Lost() bool {
	return r.Err != nil || r.Status == Partial || r.Status == Failed || r.Status == Aborted
}

// tablesShare: tables of load objects take at most 1/tablesShare of the memory.
const tablesShare = 4

// ingest is one run.
type ingest struct {
	options  *Options
	read     func(context.Context, input, *slot) Result // reads one input for a batch
	caches   caches
	lookup   lookup
	store    storeState
	journal  journal
	staging  *semaphore.Weighted     // bounds the local copies of recordings
	stop     context.CancelCauseFunc // ends the run
	attempts activeAttempts
	faults   storeFaults
	mu       sync.Mutex // guards what the inputs' goroutines report
}

// caches are the caches that all recordings of a run use.
type caches struct {
	loader   *cache.Loader
	outlines *symbolize.DisassemblyCache
	texts    *source.TextCache
}

// Ingest reads every recording at the paths and commits it to the store: a large one as a batch of
// its own, small ones together. It returns a result per input, in the order in which they were
// found. An error means that ingesting stopped; batches that were committed before stay. When the
// context ends, Ingest returns at once: it abandons attempts that do not check the context, and these
// never commit.
func Ingest(ctx context.Context, opts Options, paths ...string) ([]Result, error) {
	if opts.Progress == nil {
		opts.Progress = &Progress{}
	}
	in, err := newIngest(ctx, opts)
	if err != nil {
		return nil, err
	}
	in.read = in.one
	storedir.Clean(opts.Store)
	if err := in.readStore(); err != nil {
		return nil, err
	}
	ctx, in.stop = context.WithCancelCause(ctx)
	defer in.stop(nil)
	inputs, err := in.discover(ctx, paths)
	if err != nil {
		return nil, err
	}
	return in.watched(ctx, func() []Result { return in.all(ctx, inputs) })
}

func newIngest(ctx context.Context, opts Options) (*ingest, error) {
	where := lookupOf(&opts)
	tables := cache.Options{CacheDir: opts.Cache, DebugDirs: where.debugDirs, MemoryLimit: opts.Memory / tablesShare}
	if opts.SharedCache != "" {
		shared, err := openSharedCache(ctx, opts.SharedCache)
		if err != nil {
			return nil, err
		}
		tables.Shared = shared
	}
	return &ingest{
		options: &opts, lookup: where, caches: caches{cache.New(tables), symbolize.NewDisassemblyCache(), source.NewTextCache()},
		staging: semaphore.NewWeighted(stagedBytes),
	}, nil
}

// watched runs a job within the memory limit, and ends the run.
func (in *ingest) watched(ctx context.Context, job func() []Result) ([]Result, error) {
	watching := ordered.Start(func() (none struct{}, err error) {
		if in.options.Memory > 0 {
			in.watch(ctx)
		}
		return none, nil
	})
	results := job()
	err := context.Cause(ctx)
	in.stop(nil)
	_, failed := watching.Wait()
	return results, errors.Join(err, failed)
}

// readStore reads what the store contains, to skip recordings that it has, mostly without opening
// them.
func (in *ingest) readStore() error {
	if err := in.store.open(in.options.Store, in.options.Contents); errors.Is(err, storedir.ErrNoStore) {
		return nil
	} else if err != nil {
		return err
	}
	if !storedir.IsCache(in.options.Store) { // on S3 compact does it, not every task
		in.store.contents.Sweep(storedir.Keep)
	}
	if !in.store.contents.IsSnapshot() {
		in.journal.before = storedir.ReadJournal(in.options.Store)
	}
	in.store.index()
	return nil
}

// discover finds the inputs and their sizes.
func (in *ingest) discover(ctx context.Context, paths []string) (inputs []input, err error) {
	found := ordered.Start(func() ([]input, error) {
		inputs := discover(ctx, paths, in.options.Recursive)
		return inputs, in.lookAll(ctx, inputs)
	})
	if !waitAfterEnd(ctx, found.Done()) {
		return nil, context.Cause(ctx)
	}
	return found.Wait()
}

// lookAll calls look for all inputs, Options.Jobs of them at a time. For recordings that are stored
// already, nothing else is read.
func (in *ingest) lookAll(ctx context.Context, inputs []input) error {
	return ordered.ForEach(ctx, len(inputs), max(1, in.options.Jobs), func(_ context.Context, i int) error {
		inputs[i].look()
		return nil
	})
}

// all reads all inputs, corrects the results of copies, and updates the journal.
func (in *ingest) all(ctx context.Context, inputs []input) []Result {
	in.options.Progress.Experiments.Store(int64(len(inputs)))
	results := make([]Result, len(inputs))
	for i := range inputs {
		in.options.Progress.TotalBytes.Add(inputs[i].bytes)
	}
	done := in.unchanged(inputs, results)
	in.fillAll(ctx, inputs, done, results)
	in.copies(results)
	in.remember(results)
	return results
}

// fillAll reads the inputs that are not done. It starts the inputs of a batch in order, so that the
// first unfinished one, which the others wait for, is always running. In the end it reads again, one
// by one, the inputs that used too much memory together.
func (in *ingest) fillAll(ctx context.Context, inputs []input, done []bool, results []Result) {
	var retries []int
	var batches [][]*slot
	for _, group := range partition(inputs, done) {
		batches = append(batches, in.begin(group))
	}
	order := interleaved(batches, max(1, in.options.Jobs/fillers))
	each := context.WithoutCancel(ctx) // after a cancellation, too, each input gets its result
	_ = ordered.ForEach(each, len(order), max(1, in.options.Jobs), func(_ context.Context, i int) error {
		again := order[i].fill(ctx, inputs, results)
		in.mu.Lock()
		defer in.mu.Unlock()
		retries = append(retries, again...)
		return nil // each result has its own error
	})
	slices.Sort(retries)
	for _, i := range retries {
		in.begin([]int{i})[0].fill(ctx, inputs, results)
	}
}

// unchanged sets the results of inputs that are stored and whose files have not changed since. It
// reports, by input, whether it has set the result.
func (in *ingest) unchanged(inputs []input, results []Result) []bool {
	done := make([]bool, len(inputs))
	for i := range inputs {
		src := &inputs[i]
		noted := in.journal.known(src)
		id := noted.ExperimentID
		if id == "" || in.options.Verify {
			continue
		}
		instead := in.skipReason(noted)
		if instead == "" || !in.store.claim(id, i) {
			continue
		}
		results[i] = Result{Path: src.path, ID: id, Bytes: src.bytes, Status: instead, Noted: noted}
		in.finished(&results[i])
		done[i] = true
	}
	return done
}

// one reads one input for a batch, and quarantines it if it exceeds a limit.
func (in *ingest) one(ctx context.Context, src input, to *slot) Result {
	if src.from != nil && src.err == nil {
		done, err := in.bring(ctx, &src)
		if hosterr.Is(err) {
			return Result{Path: src.path, Bytes: src.bytes, Status: Aborted, Err: err}
		} else if err != nil {
			src.err = err
		} else {
			defer done()
		}
	}
	r := in.try(ctx, src, to, in.options.Timeout, (*attempt).read)
	var over *overLimit
	if r.Status == Aborted && errors.As(r.Err, &over) {
		r = in.quarantine(ctx, src, to, &r, over)
	}
	if in.faults.add(r.Err) {
		in.stop(r.Err)
	}
	return r
}

// read ingests the input, unless the store has it already. A recording that failed before is read
// again each time, because its files may have been repaired.
func (a *attempt) read(r *Result) (err error) {
	open := func() (*decode.Recording, error) { return a.src.decoder.Open(a.ctx, a.src.at), nil }
	if a.src.err == nil && !a.in.store.known[a.src.path] {
		symbols := a.in.prefetchSymbols(a.ctx)
		opening := startOpen(a.ctx, a.src, symbols.request)
		defer func() { err = errors.Join(err, opening.close(), symbols.close()) }()
		open = opening.take
	}
	if r.Err = a.src.err; r.Err == nil {
		began := time.Now()
		r.ID, r.Bytes, r.Err = a.src.identify(a.ctx)
		r.took(identifyStage, began)
	}
	if hosterr.Is(r.Err) {
		return r.Err
	}
	if r.Err != nil {
		r.Status = Failed
		return nil
	}
	a.identity.Store(&inputIdentity{r.ID, r.Bytes})
	a.in.journal.note(&a.src, r.ID)
	if !a.in.store.claim(r.ID, a.to.number) {
		r.Status = Skipped
		return nil
	}
	generation, instead := a.in.needsIngest(r.ID)
	if instead != "" {
		r.Status = instead
		return nil
	}
	return (&experiment{attempt: a, result: r, generation: generation, opening: open}).pass()
}

// copies corrects results: an input that was skipped because another input has the same content
// becomes Aborted, too, if that other input was aborted later.
func (in *ingest) copies(results []Result) {
	aborted := map[string]error{}
	for _, r := range results {
		if r.Status == Aborted && r.ID != "" {
			aborted[r.ID] = r.Err
		}
	}
	for i := range results {
		if r := &results[i]; r.Status == Skipped && aborted[r.ID] != nil {
			r.Status, r.Err = Aborted, aborted[r.ID]
		}
	}
}

func (in *ingest) finished(r *Result) {
	in.mu.Lock()
	defer in.mu.Unlock()
	p := in.options.Progress
	p.Finished.Add(1)
	p.Bytes.Add(r.Bytes)
	p.Problems.Add(int64(len(r.Problems)))
	if in.options.Done != nil {
		in.options.Done(*r)
	}
}
