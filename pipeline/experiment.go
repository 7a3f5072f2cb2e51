package pipeline

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/internal/ordered"
	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/attribute"
	"stackmill/stages/code"
	"stackmill/stages/decode"
	"stackmill/stages/decode/jitdump"
	"stackmill/stages/decode/replay"
	"stackmill/stages/listing"
	"stackmill/stages/loadobject/cache"
	"stackmill/stages/program"
	"stackmill/stages/samples"
	"stackmill/stages/stacktree"
	"stackmill/stages/symbolize"
	"stackmill/stages/symbolize/source"
	"stackmill/stages/unwind"
	"stackmill/stages/write"
)

// experiment is one recording on its way through the stages: what they made of it
// so far.
type experiment struct {
	*attempt
	result     *Result
	generation int // with which it is put in
	opening    func() (*decode.Recording, error)

	rec    *decode.Recording // of open
	files  *fileLocator      // of locate
	tables *cache.Recording

	batch    *write.Batch // of begin, as all below; nil if others share it
	out      output
	lists    *listing.Draft // of attribute: what it shares with others of its batch
	resolver *symbolize.Resolver
	frames   *unwind.FrameTables
	dumps    *unwind.DumpUnwinder
	known    *unwind.Cache
	reader   *unwind.StackReader
	unwinder *unwind.Unwinder // of the process whose stacks pass the rules now
	stacks   *samples.StackIndex
	rules    *ordered.Worker[func()]
	growth   *ordered.Worker[*unwind.PathBatch]
	sinking  *ordered.Worker[sinkBatch]
	ioFiles  *samples.Files
	counter  *samples.Counter
	sums     *samples.UsageSums
	data     *samples.Data      // nil: no sample has a data object
	total    program.FunctionNo // the function of all, once the stacks have grown
	rows     *samples.SampleRows
	segments *schema.Rows

	resymbolization *resymbolization // nil for a recording
	contents        *contents        // of keep
	samples         int64            // passed so far
	perProcess      []int64
	ruledFor        []StageTime    // what the rules took, and what else uses the resolver
	sunk            []StageTime    // what the sinks took
	framing         diagnostic.Log // of call frame information
}

// The statuses of an experiment or process.
const (
	Complete = "complete"
	Unclosed = "unclosed"
	Partial  = "partial"
	Failed   = "failed"
)

// ingestOne reads one recording, which opening opens, for a batch. An error says why it
// is not in there, through no fault of the recording.
func (a *attempt) ingestOne(r *Result, generation int, opening func() (*decode.Recording, error)) error {
	return a.pass(&experiment{attempt: a, result: r, generation: generation, opening: opening})
}

// pass passes an experiment through the stages.
func (a *attempt) pass(e *experiment) (err error) {
	defer func() { err = errors.Join(err, e.close()) }()
	if err := e.run(a.ctx); err != nil {
		e.halt() // sinks write rows
		return errors.Join(err, e.closeOutput())
	}
	return nil
}

// halt waits for what runs beside the stages. Their errors are run's.
func (e *experiment) halt() {
	_ = e.sinking.Close()
	_ = e.rules.Close()
	_ = e.growth.Close()
}

// close gives up what the stages hold, also after a panic.
func (e *experiment) close() (err error) {
	e.halt()
	if e.out != nil {
		_ = e.out.close() // settled has its error
	}
	if e.batch != nil {
		e.batch.Abort()
	}
	if e.rec != nil {
		err = e.rec.Close()
	}
	return err
}

// settled waits for the writers. The error is theirs, or a fault of the machine that
// kept files from being read.
func (e *experiment) closeOutput() error {
	if e.out == nil {
		return nil
	}
	return errors.Join(e.out.close(), e.rec.HostErr.Err(), e.tables.HostErr())
}

// open also begins a batch: its folders are made while the recording is read.
func (e *experiment) open() error {
	return ordered.Run(
		func() (err error) {
			e.rec, err = e.opening()
			return err
		},
		func() error {
			if e.to.shared() {
				return nil
			}
			err := e.beginBatch(&e.batch)
			e.attempt.batch.Store(e.batch)
			return err
		},
	)
}

func (e *experiment) locate() error {
	e.files = locate(&e.Options, e.rec)
	e.tables = e.loader.Of(e.SymFS, e.files.recorded)
	return nil
}

func (e *experiment) attach() error {
	if e.rec.HostErr.Err() == nil {
		for _, g := range jitdump.Find(e.ctx, e.rec, e.files) {
			g.Attach()
		}
	}
	return errors.Join(e.rec.HostErr.Err(), context.Cause(e.ctx))
}

// wholeStacks is unwind.Known.Whole.
var wholeStacks = false

func (e *experiment) begin() (err error) {
	if e.to.shared() {
		e.out = newRowBuffer()
	} else {
		e.out = newTableWriters(e.ctx, e.batch)
	}
	if e.resymbolization != nil {
		e.resymbolization.after = &rowTap{output: e.out}
		e.out = e.resymbolization.after
	}
	e.resolver = symbolize.New(e.rec, e.files, e.tables)
	e.resolver.StoredLists = e.resymbolization.storedLists()
	e.frames = unwind.NewFrameTables(e.tables, &e.framing)
	e.dumps = unwind.NewDumpUnwinder(e.frames)
	metrics := samples.Metrics(e.rec)
	id := e.result.ID
	e.stacks, e.ioFiles = samples.NewStackIndex(), samples.NewFiles()
	if e.rec.FromStore {
		e.ioFiles = samples.FilesOf(e.rec.IOFiles)
	}
	e.stacks.Expect(e.rec.Processes)
	e.known, e.growth = unwind.NewCache(), grow(e.ctx, e.stacks.Tree)
	e.known.IgnoreSettled = wholeStacks
	e.counter, e.sums = samples.NewCounter(metrics), samples.NewUsageSums(metrics)
	e.data = samples.NewData(id, e.rec, metrics, e.resolver, e.tables, e.out.write)
	e.rows = samples.NewSampleRows(id, e.rec.CGroups, e.out.write)
	e.segments = schema.NewRows(schema.Segments, id, e.out.write)
	rule := func(do func()) error { do(); return nil }
	release := func(b sinkBatch) { b.Release() }
	if e.data == nil {
		e.rules = ordered.NewWorker(e.ctx, rulesAhead, rule, nil)
		e.sinking = ordered.NewWorker(e.ctx, sinksAhead, e.sink, release)
	} else { // sinks use what the stages before them and the rules use
		e.rules = ordered.NewInlineWorker(e.ctx, rule, nil)
		e.sinking = ordered.NewInlineWorker(e.ctx, e.sink, release)
	}
	e.reader = unwind.NewStackReader(func(r *unwind.StackBatch) { e.rule(func() { e.read(r) }) })
	return nil
}

// grown waits for the rules, the tree of stacks and the sinks. Locations, nodes and frames are
// put in the order in which they are stored as soon as there are no more of them.
func (e *experiment) orderStacks() error {
	if err := errors.Join(e.rules.Close(), context.Cause(e.ctx)); err != nil {
		return err
	}
	for _, p := range e.framing.Problems {
		e.rec.Problems.Add(p)
	}
	e.known, e.reader, e.unwinder, e.frames, e.dumps = nil, nil, nil, nil, nil
	e.total = e.resolver.Program.Location(e.resolver.Artificial(program.Total)).Function
	grown := sync.OnceValue(e.growth.Close)
	var nodes []stacktree.NodeNo
	var frames []stacktree.FrameNo // their new numbers
	err := ordered.Run(
		func() error {
			if err := grown(); err != nil {
				return err
			}
			nodes = e.stacks.OrderNodes()
			e.stacks.SetEnds()
			return nil
		},
		func() error {
			e.resolver.Finish()
			locations := e.resolver.Program.Order()
			if err := grown(); err != nil {
				return err
			}
			frames = e.stacks.OrderFrames(locations)
			e.data.Renumber(locations)
			return nil
		},
	)
	if err := errors.Join(err, e.sinking.Close(), context.Cause(e.ctx)); err != nil {
		return err
	}
	for _, s := range slices.Concat(e.ruledFor, e.sunk) {
		e.result.add(s.Stage, s.Elapsed)
	}
	e.growth = nil // it holds on to the tree
	e.stacks.Renumber(nodes, frames)
	return nil
}

func (e *experiment) judge() error {
	e.resymbolization.late(&e.rec.Problems)
	if n := e.counter.LeftOut; n > 0 {
		e.rec.Problems.Add(diagnostic.Problem{
			Severity: diagnostic.Error, File: ".", Offset: diagnostic.NoOffset, Reason: replay.Overflow, Count: n,
			Message: "values are left out: they are negative, or their sum needs more than 64 bits",
		})
	}
	attribute.ReportCutStacks(e.stacks.Stacks, e.sums.Sums, &e.rec.Problems)
	return nil
}

// began is the latest time at which the recording may have started: gprofng's log has
// whole seconds. It is zero if the recording does not say.
func (e *experiment) began() time.Time {
	if e.rec.Started.IsZero() || e.rec.Began.Before(e.rec.Started) {
		return e.rec.Started
	}
	return e.rec.Began
}

func (e *experiment) attribute() error {
	r := &code.Result{
		Result:       &attribute.Result{ExperimentID: e.result.ID, Program: e.resolver.Program, Total: e.total, Stacks: e.stacks.Stacks, Sums: e.sums.Sums},
		Accessed:     e.data.AccessLocations(),
		Disassembler: func() *symbolize.Disassembler { return symbolize.NewDisassembler(e.resolver, e.outlines) },
		Sources: code.Sources{
			Finder: source.Finder{Rules: e.Sources, NoRecorded: e.NoRecordedSources, Locate: e.files.ByPath, Stored: e.resymbolization.source(e.began()), Cache: e.texts},
			Began:  e.began(), Problems: &e.rec.Problems,
		},
	}
	lines, err := e.programRows(r)
	e.resolver.ForgetCode()
	e.result.add(attributeStage, -e.waited)
	if err = errors.Join(e.segments.Close(), err); err != nil {
		return err
	}
	return r.SourceRows(e.out.write, lines)
}

// programRows emits the rows of program structure, stacks and values. It returns the last
// line with a value of each source file. What needs neither waits for the other, so that
// no processor has nothing to do before all is done.
func (e *experiment) programRows(r *code.Result) (lines map[string]int32, err error) {
	emit := e.out.write
	shapes := make(chan *attribute.StackViews, 1) // closed without one after a panic, as the next
	trees := make(chan *attribute.CallTree, 1)
	err = ordered.Run(
		func() error {
			defer close(shapes)
			defer close(trees)
			shape := attribute.NewStackViews(r.Program, r.Stacks, r.Sums)
			shapes <- shape
			tree := attribute.NewCallTree(shape)
			trees <- tree
			functions, err := r.FunctionRows(emit, tree)
			if err != nil {
				return err
			}
			if e.lists, err = e.draft(); err != nil {
				return err
			}
			r.Lists = e.lists
			return r.CodeRows(emit, functions)
		},
		func() error {
			err := errors.Join(r.StackRows(emit), e.ioFiles.Rows(r.Result, emit), e.sums.UsageRows(r.Result, emit, e.rec.CGroups), e.data.Rows(r.Result, emit))
			if tree := <-trees; tree != nil {
				err = errors.Join(err, r.TreeRows(emit, tree))
			}
			return err
		},
		func() (err error) {
			if shape := <-shapes; shape != nil {
				lines, err = r.LineRows(emit, shape)
			}
			return err
		},
	)
	return lines, err
}

// draft waits for the experiment's turn and begins what it shares with others of its batch.
func (e *experiment) draft() (*listing.Draft, error) {
	if err := e.awaitTurn(); err != nil {
		return nil, err
	}
	return e.to.lists.Begin(), nil
}

// errLeft says that nobody waits for the attempt any more.
var errLeft = errors.New("it was given up")

// commit adds the experiment to its batch.
func (e *experiment) commit() error {
	if !e.to.shared() {
		if err := e.closeOutput(); err != nil {
			return err
		}
	}
	if err := errors.Join(e.rec.HostErr.Err(), e.tables.HostErr()); err != nil {
		return err
	}
	if !e.startCommit() {
		return errLeft
	}
	r := e.result
	r.Status, r.Samples, r.Problems = e.status(), e.samples, e.rec.Problems.Problems
	entry, more, err := e.renewedEntry()
	if err != nil || !more {
		return err
	}
	out := e.out
	if e.resymbolization != nil {
		out = e.resymbolization.after.output
	}
	r.Rows = out.written()
	rows, _ := out.(*rowBuffer)
	batch := e.batch
	e.batch = nil
	return e.to.add(entry, batch, rows, e.lists)
}

// output takes rows, concurrently for different tables.
type output interface {
	write(*schema.Table, arrow.RecordBatch) error
	// written counts the rows.
	written() int64
	// close waits for what is under way. It may be called again.
	close() error
}
