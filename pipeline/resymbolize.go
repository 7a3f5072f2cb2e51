package pipeline

import (
	"context"
	"errors"
	"fmt"
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

// Redone says what better symbols have changed in an experiment.
type Redone struct {
	Experiment    string
	Metric        string       // of which load objects have values; empty if there is none
	Before, After []LoadObject // sorted by path
	Lost          []LoadObject // of which less is found now than the experiment knows
	Unwound       bool         // stacks were unwound from dumps, which the store has not: they stay as long as they are
}

// Unchanged is the status of an experiment of which no more is known now than when it was
// read.
const Unchanged = "unchanged"

// inStore is an experiment in a batch of the store.
type inStore struct {
	batch *storedir.Batch
	entry storedir.Entry
}

// redoing is an experiment of which the stages after decoding run again.
type redoing struct {
	of       *inStore
	recorded *replay.Recording
	before   *knowledge
	after    *tapped
	sources  *keptSources
	lists    map[string]*symbolize.KeptList
}

// keptLists are the lists of symbols that the store has.
func (d *redoing) keptLists() map[string]*symbolize.KeptList {
	if d == nil {
		return nil
	}
	return d.lists
}

// sampleBytes is about what a sample has in a recording: experiments are grouped as their
// recordings were.
const sampleBytes = 40

// Resymbolize runs the stages after decoding again for experiments of the store of which
// more is known now: symbols of their load objects were found, or better ones. wanted says
// which are looked at; nil: all. What the stages need is in the store, recordings are not
// read. Experiments of which nothing more is known stay as they are. dry says that nothing
// is written: Redone then has what is found, but not what stacks would show.
func Resymbolize(ctx context.Context, opts Options, wanted func(*storedir.Entry) bool, dry bool) ([]Result, error) {
	if opts.Progress == nil {
		opts.Progress = &Progress{}
	}
	in, err := newIngest(ctx, opts)
	if err != nil {
		return nil, err
	}
	in.onlyGiven = true
	in.each = func(ctx context.Context, src input, to *place) Result {
		return in.redo(ctx, src, to, dry)
	}
	storedir.Clean(opts.Store)
	if in.store, err = storedir.Look(opts.Store); err == nil {
		err = in.store.Usable()
	}
	if err != nil {
		return nil, err
	}
	ctx, in.stop = context.WithCancelCause(ctx)
	defer in.stop(nil)
	inputs := in.inStore(wanted)
	for i := range inputs {
		if err := storedir.Prove(opts.Store, inputs[i].kept.batch.Files); err != nil {
			return nil, err
		}
	}
	return in.watched(ctx, func() []Result {
		in.Progress.Experiments.Store(int64(len(inputs)))
		results := make([]Result, len(inputs))
		in.fillAll(ctx, inputs, make([]bool, len(inputs)), results)
		return results
	})
}

// inStore lists the experiments of the store that are wanted.
func (in *ingest) inStore(wanted func(*storedir.Entry) bool) (inputs []input) {
	for i := range in.store.Batches {
		b := &in.store.Batches[i]
		for e := range b.Visible {
			if e.Status != Failed && e.Status != storedir.Summary && (wanted == nil || wanted(e)) {
				bytes := sampleBytes * e.Samples
				src := input{path: e.Path, bytes: bytes, recorded: bytes, kept: &inStore{b, *e}}
				in.Progress.TotalBytes.Add(src.bytes)
				inputs = append(inputs, src)
			}
		}
	}
	return inputs
}

// redo does one experiment again.
func (in *ingest) redo(ctx context.Context, src input, to *place, dry bool) Result {
	shelf := to.shelves.take(src.kept.batch)
	defer to.shelves.put(shelf)
	r := in.try(ctx, src, to, in.Timeout, func(a *attempt, r *Result) error { return a.redo(r, shelf, dry) })
	if in.faults.add(r.Err) {
		in.stop(r.Err)
	}
	return r
}

// redoUnchanged says that the stages run again whether or not more is known: tests compare.
var redoUnchanged = false

// errLess says that less is found of load objects now than an experiment knows.
var errLess = errors.New("less is found now than when it was read, so it stays as it is")

// redo runs the stages again if more is known now.
func (a *attempt) redo(r *Result, shelf *shelf, dry bool) error {
	entry := &a.src.kept.entry
	r.ID, r.Bytes, r.Status = entry.ExperimentID, a.src.bytes, Unchanged
	r.Redone = &Redone{Experiment: entry.Experiment}
	d := &redoing{of: a.src.kept, before: newKnowledge()}
	tables := shelf.tables(r.ID)
	program, err := replay.OpenProgram(tables)
	if errors.Is(err, replay.ErrIncomplete) {
		return hosterr.New(fmt.Errorf("it cannot be done again: %w (it was put in by an older program)", err))
	}
	if err == nil {
		err = d.before.read(tables)
	}
	if err == nil {
		d.lists, err = a.keptLists(tables)
	}
	if err != nil {
		return err
	}
	a.locateAgain(program.Recording)
	now, better, lost, err := a.better(program.Recording, d)
	*r.Redone = Redone{entry.Experiment, d.before.metric, d.before.list(), d.before.list(), lost, program.Unwound}
	if err != nil || !better && !redoUnchanged {
		return err
	}
	if len(lost) > 0 {
		return hosterr.New(fmt.Errorf("%w: %s (say where they are: --symfs, --debug-dir, --vmlinux)", errLess, pathsOf(lost)))
	}
	if dry {
		r.Status, r.Redone.After = entry.Status, d.before.as(now)
		return nil
	}
	_, generation := a.latest(r.ID)
	if err := a.pass(&experiment{attempt: a, result: r, generation: generation, redoing: d, opening: d.opening(a, shelf, r.ID)}); err != nil {
		return err
	}
	if r.Status != Skipped {
		r.Redone.After = d.after.knowledge().list()
	}
	return nil
}

// opening opens the recording.
func (d *redoing) opening(a *attempt, s *shelf, id string) func() (*decode.Recording, error) {
	return func() (_ *decode.Recording, err error) {
		if d.recorded, err = replay.Open(s.tables(id)); err != nil {
			return nil, err
		}
		a.locateAgain(d.recorded.Recording)
		d.sources, err = readSources(s, id)
		return d.recorded.Recording, err
	}
}

// locateAgain says where files are: in the recording's archives, too, if it is there.
func (a *attempt) locateAgain(rec *decode.Recording) {
	rec.Locate = decode.AtPath
	if rec.Format == gprofng.New().Name() {
		rec.Locate = gprofng.Locator(a.src.path)
	}
}

// better returns what is known of the load objects of a recording now, whether that is
// more than the store knows, and of which it is less.
func (a *attempt) better(rec *decode.Recording, d *redoing) (now *knowledge, better bool, lost []LoadObject, err error) {
	files := locate(&a.Options, rec)
	tables := a.loader.Of(a.SymFS, files.recorded)
	resolver := symbolize.New(rec, files, tables)
	resolver.Kept = d.lists
	for _, p := range rec.Processes {
		resolver.Process(p, p.File(decode.MapFile))
		for _, d := range p.JITDumps {
			better = better || !d.Attached && len(files.ByPath(d.Path)) > 0
		}
	}
	now = knownNow(resolver.Program)
	found, lost := d.before.compare(now)
	return now, better || found, lost, errors.Join(rec.HostErr.Err(), tables.HostErr())
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

// late adds the problems that the stages do not find again.
func (d *redoing) late(log *diagnostic.Log) {
	if d == nil {
		return
	}
	for _, p := range d.recorded.Late {
		if !containsProblem(log.Problems, p) {
			log.Add(p)
		}
	}
}

// source returns what finds the texts that the store has.
func (d *redoing) source(began time.Time) func(path string) *source.Text {
	if d == nil {
		return nil
	}
	return func(path string) *source.Text { return d.sources.text(path, began) }
}

func containsProblem(list []diagnostic.Problem, p diagnostic.Problem) bool {
	for _, known := range list {
		if known == p {
			return true
		}
	}
	return false
}

// describeEntry describes the experiment for its commit; false if it is not to be put in.
func (e *experiment) describeEntry() (entry storedir.Entry, more bool) {
	if e.redoing == nil {
		return e.entry()
	}
	c := e.redoing.of.entry
	known, next := e.latest(c.ExperimentID)
	if next > e.generation || known.Replaced { // another program was faster
		e.result.skip()
		return c, false
	}
	c.Generation, c.Status, c.Samples, c.Objects = e.generation, e.result.Status, e.samples, e.found()
	c.Instead, c.Labels, c.Labelled = known.Instead, known.Labels, known.Labelled
	c.Ingested = c.PutIn(e.redoing.of.batch.Ingested)
	c.Looked, c.State, c.Outcome = nil, "", ""
	e.lookedAt(&c)
	return c, true
}
