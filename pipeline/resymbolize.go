package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stackmill/internal/hosterr"
	"stackmill/schema/diagnostic"
	"stackmill/schema/storedir"
	"stackmill/stages/decode"
	"stackmill/stages/decode/gprofng"
	"stackmill/stages/decode/replay"
	"stackmill/stages/symbolize"
	"stackmill/stages/symbolize/source"
)

// SymbolChanges describes how better symbols change an experiment.
type SymbolChanges struct {
	Experiment    string
	Metric        string       // the metric that LoadObject.Value counts; empty if there is none
	Before, After []LoadObject // sorted by path
	Lost          []LoadObject // with fewer symbols now than in the experiment
	Unwound       bool         // stacks were unwound from dumps, which the store does not keep: better symbols cannot make them longer
}

// Unchanged is the status of an experiment for which no better symbols were found.
const Unchanged = "unchanged"

// storedExperiment is an experiment in a batch of the store.
type storedExperiment struct {
	batch *storedir.Batch
	entry storedir.Entry
}

// resymbolization is an experiment for which the stages after decoding run again.
type resymbolization struct {
	of       *storedExperiment
	recorded *replay.Recording
	before   *objectSymbols
	after    *rowTap
	sources  *storedSources
	lists    map[string]*symbolize.StoredList
}

// storedLists returns the symbol lists in the store.
func (d *resymbolization) storedLists() map[string]*symbolize.StoredList {
	if d == nil {
		return nil
	}
	return d.lists
}

// sampleBytes is the assumed size of a sample in a recording. With it, experiments of the store
// form batches about as large as when their recordings are ingested.
const sampleBytes = 40

// Resymbolize runs the stages after decoding again for experiments of the store for which better
// symbols are found now. wanted selects experiments; nil: all. The store has what the stages need,
// so recordings are not read. Experiments without better symbols stay as they are. With dry,
// nothing is written: SymbolChanges then has the symbols, but not what stacks would show.
func Resymbolize(ctx context.Context, opts Options, wanted func(*storedir.Entry) bool, dry bool) ([]Result, error) {
	if opts.Progress == nil {
		opts.Progress = &Progress{}
	}
	in, err := newIngest(ctx, opts)
	if err != nil {
		return nil, err
	}
	in.lookup.onlyGiven = true
	in.read = func(ctx context.Context, src input, to *slot) Result {
		return in.resymbolize(ctx, src, to, dry)
	}
	storedir.Clean(opts.Store)
	if err := in.store.open(opts.Store, nil); err != nil {
		return nil, err
	}
	ctx, in.stop = context.WithCancelCause(ctx)
	defer in.stop(nil)
	inputs := in.storedExperiments(wanted)
	for i := range inputs {
		if err := storedir.FetchVerified(opts.Store, inputs[i].kept.batch.Files); err != nil {
			return nil, err
		}
	}
	return in.watched(ctx, func() []Result {
		in.options.Progress.Experiments.Store(int64(len(inputs)))
		results := make([]Result, len(inputs))
		in.fillAll(ctx, inputs, make([]bool, len(inputs)), results)
		return results
	})
}

// storedExperiments lists the wanted experiments of the store.
func (in *ingest) storedExperiments(wanted func(*storedir.Entry) bool) (inputs []input) {
	for i := range in.store.contents.Batches {
		b := &in.store.contents.Batches[i]
		for e := range b.Visible {
			if e.Status != Failed && e.Status != storedir.Summary && (wanted == nil || wanted(e)) {
				bytes := sampleBytes * e.Samples
				src := input{path: e.Path, bytes: bytes, recorded: bytes, kept: &storedExperiment{b, *e}}
				in.options.Progress.TotalBytes.Add(src.bytes)
				inputs = append(inputs, src)
			}
		}
	}
	return inputs
}

// resymbolize runs one experiment again.
func (in *ingest) resymbolize(ctx context.Context, src input, to *slot, dry bool) Result {
	reader := to.builder.readers.acquire(src.kept.batch)
	defer to.builder.readers.release(reader)
	r := in.try(ctx, src, to, in.options.Timeout, func(a *attempt, r *Result) error { return a.resymbolize(r, reader, dry) })
	if in.faults.add(r.Err) {
		in.stop(r.Err)
	}
	return r
}

// resymbolizeUnchanged makes resymbolize run the stages even if there are no better symbols: tests
// check that the result is the same.
var resymbolizeUnchanged = false

// errFewerSymbols says that an experiment has symbols that are not found any more.
var errFewerSymbols = errors.New("fewer symbols are found now than when it was ingested, so it is left unchanged")

// resymbolize runs the stages again if there are better symbols.
func (a *attempt) resymbolize(r *Result, reader *batchReader, dry bool) error {
	entry := &a.src.kept.entry
	r.ID, r.Bytes, r.Status = entry.ExperimentID, a.src.bytes, Unchanged
	r.SymbolChanges = &SymbolChanges{Experiment: entry.Experiment}
	d := &resymbolization{of: a.src.kept, before: newObjectSymbols()}
	tables := reader.tables(r.ID)
	program, err := replay.OpenProgram(tables)
	if errors.Is(err, replay.ErrIncomplete) {
		return hosterr.New(fmt.Errorf("it cannot be symbolized again: %w (an older version of stackmill ingested it)", err))
	}
	if err == nil {
		err = d.before.read(tables)
	}
	if err == nil {
		d.lists, err = a.in.lookup.storedLists(tables)
	}
	if err != nil {
		return err
	}
	a.locateAgain(program.Recording)
	now, better, lost, err := a.better(program.Recording, d)
	*r.SymbolChanges = SymbolChanges{entry.Experiment, d.before.metric, d.before.list(), d.before.list(), lost, program.Unwound}
	if err != nil || !better && !resymbolizeUnchanged {
		return err
	}
	if len(lost) > 0 {
		return hosterr.New(fmt.Errorf("%w: %s (say where they are: --symfs, --debug-dir, --vmlinux)", errFewerSymbols, pathsOf(lost)))
	}
	if dry {
		r.Status, r.SymbolChanges.After = entry.Status, d.before.as(now)
		return nil
	}
	_, generation := a.in.store.latest(r.ID)
	if err := (&experiment{attempt: a, result: r, generation: generation, stored: d, opening: d.opening(a, reader, r.ID)}).pass(); err != nil {
		return err
	}
	if r.Status != Skipped {
		r.SymbolChanges.After = d.after.objectSymbols().list()
	}
	return nil
}

// opening returns a function that reconstructs the recording from the store: see
// experiment.opening.
func (d *resymbolization) opening(a *attempt, s *batchReader, id string) func() (*decode.Recording, error) {
	return func() (_ *decode.Recording, err error) {
		if d.recorded, err = replay.Open(s.tables(id)); err != nil {
			return nil, err
		}
		a.locateAgain(d.recorded.Recording)
		d.sources, err = readSources(s, id)
		return d.recorded.Recording, err
	}
}

// locateAgain sets how to find the files that a recording refers to. If a gprofng experiment still
// exists at its path, its archives are searched, too.
func (a *attempt) locateAgain(rec *decode.Recording) {
	rec.Locate = decode.AtPath
	if rec.Format == gprofng.New().Name() {
		rec.Locate = gprofng.Locator(a.src.path)
	}
}

// better finds the current symbols of a recording's load objects. It returns them, whether they are
// better than the stored ones, and the load objects with fewer symbols than stored.
func (a *attempt) better(rec *decode.Recording, d *resymbolization) (now *objectSymbols, better bool, lost []LoadObject, err error) {
	at := a.in.locate(rec)
	resolver := symbolize.New(rec, at.locator, at.tables)
	resolver.StoredLists = d.lists
	for _, p := range rec.Processes {
		resolver.Process(p, p.File(decode.MapFile))
		for _, d := range p.JITDumps {
			better = better || !d.Attached && len(at.locator.ByPath(d.Path)) > 0
		}
	}
	now = currentSymbols(resolver.Program)
	found, lost := d.before.compare(now)
	return now, better || found, lost, errors.Join(rec.HostErr.Err(), at.tables.HostErr())
}

func pathsOf(objects []LoadObject) string {
	const most = 3
	var paths []string
	for i, o := range objects {
		if i == most {
			paths = append(paths, fmt.Sprintf("%d others", len(objects)-most))
			break
		}
		paths = append(paths, o.Path)
	}
	return strings.Join(paths, ", ")
}

// late adds problems of the recording that running the stages from the store does not find again.
func (d *resymbolization) late(log *diagnostic.Log) {
	if d == nil {
		return
	}
	for _, p := range d.recorded.Late {
		if !slices.Contains(log.Problems, p) {
			log.Add(p)
		}
	}
}

// source returns a function that returns the stored text of a source file; nil for a recording.
func (d *resymbolization) source(began time.Time) func(path string) *source.Text {
	if d == nil {
		return nil
	}
	return func(path string) *source.Text { return d.sources.text(path, began) }
}

// tap returns a rowWriter that also keeps the rows that describe symbols. For a recording, it
// returns w.
func (d *resymbolization) tap(w rowWriter) rowWriter {
	if d == nil {
		return w
	}
	d.after = &rowTap{rowWriter: w}
	return d.after
}

// untap returns the rowWriter that tap was called with.
func (d *resymbolization) untap(w rowWriter) rowWriter {
	if d == nil {
		return w
	}
	return d.after.rowWriter
}
