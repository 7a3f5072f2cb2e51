package pipeline

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/fault"
	"stackmill/problem"
	"stackmill/schema"
	"stackmill/stages/attribute"
	"stackmill/stages/decode"
	"stackmill/stages/decode/jitdump"
	"stackmill/stages/symbolize"
	"stackmill/stages/symbolize/source"
	"stackmill/stages/unwind"
	"stackmill/stages/write"
	"stackmill/storedir"
)

// experiment is one recording on its way through the stages.
type experiment struct {
	id       string
	rec      *decode.Recording
	resolver *symbolize.Resolver
	stacks   *attribute.Stacks
	sums     *attribute.Sums
	data     *attribute.Data
	files    *attribute.Files
	segments *schema.Rows
	out      *writers
	progress *Progress
	sources  []source.Rule
	// noRecorded says that sources are not looked for at their recorded paths.
	noRecorded bool
	frames     *unwind.FrameTables
	dumps      *unwind.Dumps

	samples    int64
	perProcess []int64
	ids        *schema.Labels // the experiment's id
}

// The statuses of an experiment or process.
const (
	Complete = "complete"
	Unclosed = "unclosed"
	Partial  = "partial"
	Failed   = "failed"
)

// ingestOne reads one recording, which open opens, and commits it; earlier is what
// the store has of it. The error is why it is not committed, which is no fault of the recording.
func (a *attempt) ingestOne(r *Result, open func() (*decode.Recording, error), earlier storedir.Latest) (err error) {
	rec, err := open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rec.Close()) }()
	files := a.tables.Of(a.SymFS, locate(&a.Options, rec))
	seen := watch(rec)
	if rec.Fault == nil {
		jitdump.Attach(a.ctx, rec)
	}
	if err := errors.Join(rec.Fault, context.Cause(a.ctx)); err != nil {
		return err
	}
	batch, err := write.Begin(a.Store, earlier.Next)
	if err != nil {
		return storeFault(err)
	}
	defer batch.Abort()
	a.batch.Store(batch)

	out := newWriters(a.ctx, batch)
	defer out.close() // again, for the case of a panic
	resolver, metrics := symbolize.New(rec, files), attribute.Metrics(rec)
	frames := unwind.NewFrameTables(files, &rec.Problems)
	name := filepath.Base(a.src.path)
	e := &experiment{
		id: r.ID, rec: rec,
		resolver:   resolver,
		stacks:     attribute.NewStacks(),
		sums:       attribute.NewSums(metrics),
		data:       attribute.NewData(rec, metrics, resolver, files),
		files:      attribute.NewFiles(),
		out:        out,
		progress:   a.Progress,
		sources:    a.Sources,
		noRecorded: a.NoRecordedSources,
		frames:     frames,
		dumps:      unwind.NewDumps(frames),
		ids:        schema.NewLabels(r.ID),
	}
	if err := errors.Join(e.run(a.ctx, name), e.out.close(), rec.Fault, files.Fault()); err != nil {
		return err
	}
	if !a.claim() {
		return errLeft
	}
	r.Status, r.Samples, r.Problems = e.status(), e.samples, rec.Problems.Problems
	return storeFault(a.commit(batch, e, r, earlier, seen))
}

// errLeft is that nobody waits for the attempt any more.
var errLeft = errors.New("it was given up")

// run passes the recording through the stages.
func (e *experiment) run(ctx context.Context, name string) error {
	e.segments = schema.NewRows(schema.Segments, e.id, e.out.write)
	for _, p := range e.rec.Processes {
		before := e.samples
		if err := e.process(ctx, p); err != nil {
			return err
		}
		e.perProcess = append(e.perProcess, e.samples-before)
	}
	if n := e.sums.LeftOut; n > 0 {
		e.rec.Problems.Add(problem.Problem{
			Severity: problem.Error, File: ".", Offset: problem.NoOffset, Reason: "sum-overflow", Count: n,
			Message: "values are left out: they are negative, or their sum needs more than 64 bits",
		})
	}
	attribute.CutStacks(e.stacks, e.sums, &e.rec.Problems)
	total := e.resolver.Program.Locations[e.resolver.Artificial(symbolize.Total)].Function
	e.resolver.Finish()
	disassembler := symbolize.NewDisassembler(e.resolver)
	defer disassembler.Close()
	result := &attribute.Result{
		ExperimentID: e.id, Program: e.resolver.Program, Total: total,
		Stacks: e.stacks, Sums: e.sums, Files: e.files, Data: e.data,
		Disassembler: disassembler,
		Sources: attribute.Sources{
			Finder:  source.Finder{Rules: e.sources, NoRecorded: e.noRecorded, Locate: e.rec.Locate},
			Started: e.rec.Started, Problems: &e.rec.Problems,
		},
	}
	return errors.Join(e.segments.Close(), e.results(result), e.describe(name))
}

// results emits what is known once all samples were read.
func (e *experiment) results(r *attribute.Result) error {
	emit := e.out.write
	return together(
		func() error { return r.StackRows(emit) },
		func() error {
			values := attribute.Compute(r.Program, r.Stacks, r.Sums)
			return together(
				func() error { return r.ValueRows(emit, values) },
				func() error { return r.CodeRows(emit, values) },
			)
		})
}

func (e *experiment) process(ctx context.Context, p *decode.Process) error {
	resolved := e.resolver.Process(p, fileOf(p, "map.xml"))
	attribute.Segments(e.segments, p.Number, resolved)
	e.dumps.Process(resolved)
	completed, err := unwind.Complete(p, e.dumps.Unwind)
	if err != nil {
		return e.unreadable(p, schema.Perf, err)
	}
	p.Stacks = completed.Stacks
	stacks := e.stacks.Process(p, unwind.New(e.stacks.Set, e.resolver, e.frames, resolved, p))
	data, err := e.data.Process(p, resolved)
	if err != nil {
		if err := e.unreadable(p, schema.Heap, err); err != nil {
			return err
		}
	}
	if data != nil && data.Blocks != nil && data.Blocks.Untold > 0 {
		e.rec.Problems.Add(problem.Problem{
			Severity: problem.Info, Process: p.Number, File: fileOf(p, "heaptrace"), Offset: problem.NoOffset,
			Reason: "too-many-heap-blocks", Count: data.Blocks.Untold,
			Message: "there are too many heap blocks to tell in which of them data addresses lie",
		})
	}
	for k := range schema.Kinds {
		if err := e.kind(ctx, p, k, completed, stacks, data); err != nil {
			return fmt.Errorf("%s events: %w", k, err)
		}
	}
	return nil
}

func (e *experiment) kind(ctx context.Context, p *decode.Process, k schema.Kind, completed *unwind.Completed, stacks *attribute.ProcessStacks, data *attribute.DataProcess) error {
	var deriver *attribute.Deriver // made for processes that have such events
	events := p.Events(k)
	defer events.Close()
	for {
		if err := errors.Join(e.rec.Fault, context.Cause(ctx)); err != nil {
			return err
		}
		batch, err := events.Next()
		if err != nil {
			return e.unreadable(p, k, err)
		}
		if batch == nil {
			return nil
		}
		batch = completed.Events(batch)
		if deriver == nil {
			leaks, err := e.leaks(p, k)
			if err != nil {
				batch.Release()
				return err
			}
			deriver = attribute.NewDeriver(e.rec, p, k, leaks, e.files)
		}
		err = e.batch(p, k, batch, deriver, stacks, data)
		batch.Release()
		if err != nil {
			return err
		}
	}
}

// leaks runs ahead over the heap events: whether a block leaks is known at the end only.
func (e *experiment) leaks(p *decode.Process, k schema.Kind) (*attribute.Leaks, error) {
	if k != schema.Heap {
		return nil, nil
	}
	events := p.Events(k)
	defer events.Close()
	leaks, err := attribute.FindLeaks(events)
	if err != nil {
		if err := e.unreadable(p, k, err); err != nil {
			return nil, err
		}
	}
	if leaks.Untold > 0 {
		e.rec.Problems.Add(problem.Problem{
			Severity: problem.Info, Process: p.Number, File: fileOf(p, "heaptrace"), Offset: problem.NoOffset,
			Reason: "realloc-without-old-address", Count: leaks.Untold,
			Message: "the collector did not record which block realloc freed; such a block counts as leaked until its address is used again",
		})
	}
	return leaks, nil
}

// unreadable records that the rest of a kind's events is lost: a file that
// changes while it is read costs its experiment, not the whole run. A fault of the
// machine, which says nothing about the file, is returned.
func (e *experiment) unreadable(p *decode.Process, k schema.Kind, err error) error {
	if fault.Is(err) {
		return err
	}
	e.rec.Problems.Add(problem.Problem{
		Severity: problem.Error, Process: p.Number, File: fileOf(p, "."), Offset: problem.NoOffset,
		Reason: "unreadable-events", Message: fmt.Sprintf("the rest of the %s events cannot be read: %v", k, err),
	})
	return nil
}

// batch writes one batch of samples and adds it to the sums.
func (e *experiment) batch(p *decode.Process, k schema.Kind, events arrow.RecordBatch, deriver *attribute.Deriver, stacks *attribute.ProcessStacks, data *attribute.DataProcess) error {
	n := int(events.NumRows())
	b := &attribute.Batch{
		Kind: k, Process: p.Number, Payload: deriver.Payload(events),
		Times:   events.Column(schema.EventTime).(*array.Int64).Int64Values(),
		Threads: events.Column(schema.EventThread).(*array.Int64).Int64Values(),
		CPUs:    events.Column(schema.EventCPU).(*array.Int32).Int32Values(),
		Stacks:  make([]attribute.RecordedNo, n),
	}
	for i, raw := range events.Column(schema.EventStack).(*array.Int32).Int32Values() {
		b.Stacks[i] = stacks.Find(raw, b.Threads[i], b.Times[i])
	}
	e.sums.Add(b)
	ofData := data.Add(b, events, e.samples)
	if n > 0 { // a log that was not finished knows nothing of its last events
		p.DurationNS = max(p.DurationNS, b.Times[n-1]-p.StartNS)
	}

	numbers := make([]int64, n)
	ids := make([]int64, n)
	for i, s := range b.Stacks {
		numbers[i] = e.samples + int64(i)
		ids[i] = e.stacks.Recorded[s].ID
	}
	processes := make([]int32, n)
	for i := range processes {
		processes[i] = int32(p.Number)
	}
	experimentID, sample, kind := e.ids.Array(0, n), schema.Int64s(numbers), kinds().Array(int(k), n)
	process, stackID := schema.Int32s(processes), schema.Int64s(ids)
	defer release(append([]arrow.Array{experimentID, sample, kind, process, stackID}, b.Payload...))
	err := errors.Join(
		e.emit(schema.Samples, n, experimentID, sample, kind, process,
			events.Column(schema.EventThread), events.Column(schema.EventCPU), events.Column(schema.EventTime), stackID),
		e.emit(schema.SampleTable(k), n, append([]arrow.Array{experimentID, sample}, b.Payload...)...),
	)
	if ofData != nil {
		ofData = append([]arrow.Array{e.ids.Array(0, ofData[0].Len())}, ofData...)
		defer release(ofData)
		err = errors.Join(err, e.emit(schema.DataSamples, ofData[0].Len(), ofData...))
	}
	e.samples += int64(n)
	e.progress.Samples.Add(int64(n))
	return err
}

// fileOf names a process's file, or `.` its folder, as problems do: relative to
// the recording.
func fileOf(p *decode.Process, name string) string {
	if p.Lineage == "" {
		return name
	}
	return filepath.Join(p.Lineage+".er", name)
}

// kinds are the values of the column samples.kind.
var kinds = sync.OnceValue(func() *schema.Labels { return schema.NewLabels(schema.KindNames[:]...) })

func release(columns []arrow.Array) {
	for _, c := range columns {
		c.Release()
	}
}

// emit hands rows to their table's writer; the columns stay the caller's.
func (e *experiment) emit(t *schema.Table, n int, columns ...arrow.Array) error {
	rec := array.NewRecordBatch(t.Arrow(), columns, int64(n))
	defer rec.Release()
	return e.out.write(t, rec)
}
