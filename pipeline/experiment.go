package pipeline

import (
	"context"
	"errors"
	"slices"

	"stackmill/internal/ordered"
	"stackmill/schema/diagnostic"
	"stackmill/stages/attribute"
	"stackmill/stages/decode"
	"stackmill/stages/decode/replay"
	"stackmill/stages/listing"
	"stackmill/stages/samples"
	"stackmill/stages/symbolize"
	"stackmill/stages/write"
)

// experiment is one recording on its way through the stages: where it comes from, and the results
// of each stage. The lists in pipeline.go show which of these a stage takes.
type experiment struct {
	attempt    *attempt
	result     *Result
	generation int              // under which the experiment is stored
	stored     *resymbolization // nil for a recording
	opening    func() (*decode.Recording, error)

	recording *decode.Recording // the result of stage open
	batch     *write.Batch      // made by stage open; nil if several experiments share a batch
	files     recordingFiles    // the result of stage locate
	replay    replayData        // the result of stage keep
	build     *build            // made by stage begin
	out       *output           // made by stage begin
	passed    passedSamples     // summary of the samples that have passed the stages
	lists     *listing.Draft    // made by stage attribute; other experiments of the batch refer to its lists
}

// pass runs all stages on the experiment. If it is not stored although the recording is not to
// blame, the error says why.
func (e *experiment) pass() (err error) {
	defer func() { err = errors.Join(err, e.close()) }()
	if err := e.run(e.attempt.ctx); err != nil {
		e.halt() // first: until they stop, the sinks send rows to the writer that closeOutput closes
		return errors.Join(err, e.closeOutput())
	}
	return nil
}

// halt stops the workers. It ignores their errors, because the stages have returned them.
func (e *experiment) halt() {
	if e.build != nil {
		_ = e.out.sinks.Close()
		_ = e.build.rules.Close()
		_ = e.build.tree.Close()
	}
}

// close releases everything that the stages hold, also after a panic.
func (e *experiment) close() (err error) {
	e.halt()
	if e.out != nil {
		_ = e.out.writer.close() // closeOutput has its error
	}
	if e.batch != nil {
		e.batch.Abort()
	}
	if e.recording != nil {
		err = e.recording.Close()
	}
	return err
}

// closeOutput waits for the writers. It returns their error, or a host error that kept files from
// being read.
func (e *experiment) closeOutput() error {
	if e.out == nil {
		return nil
	}
	return errors.Join(e.out.writer.close(), e.recording.HostErr.Err(), e.files.tables.HostErr())
}

// written waits until all rows are written, if the experiment has a batch of its own.
func (e *experiment) written() error {
	if e.batch != nil {
		return e.closeOutput()
	}
	return errors.Join(e.recording.HostErr.Err(), e.files.tables.HostErr())
}

// open opens a recording, and concurrently begins its batch.
func open(opening func() (*decode.Recording, error), begin func() (*write.Batch, error)) (
	rec *decode.Recording, batch *write.Batch, err error,
) {
	err = ordered.Run(
		func() (err error) { rec, err = opening(); return err },
		func() (err error) { batch, err = begin(); return err },
	)
	return rec, batch, err
}

// buildInput is what begin takes.
type buildInput struct {
	id     string // the experiment's id
	rec    *decode.Recording
	files  recordingFiles
	lists  map[string]*symbolize.StoredList // symbol lists of the store, to symbolize again
	writer rowWriter
}

// begin returns what the following stages fill: program structure and stacks, and sums and rows. If
// there are data objects, the rules and the sinks get no goroutines of their own.
func begin(ctx context.Context, in buildInput) (*build, *output) {
	metrics := samples.Metrics(in.rec)
	resolver := symbolize.New(in.rec, in.files.locator, in.files.tables)
	resolver.StoredLists = in.lists
	data := samples.NewData(in.id, in.rec, metrics, resolver, in.files.tables, in.writer.write)
	concurrent := data == nil // data objects need the resolver, which the rules use
	out := newOutput(in, metrics, data)
	b := newBuild(in.rec, in.files, resolver)
	out.startSinks(ctx, concurrent)
	b.start(ctx, concurrent)
	return b, out
}

// grow waits for the rules, the tree of stacks and the sinks. It then sorts and renumbers nodes and
// frames, and adds the problems of call frame information to the log.
func grow(ctx context.Context, b *build, out *output, problems *diagnostic.Log) ([]StageTime, error) {
	nodes, frames, err := b.order(ctx, problems, out.data)
	if err := errors.Join(err, out.sinks.Close(), out.fields.Close(), context.Cause(ctx)); err != nil {
		return nil, err
	}
	b.tree = nil // it refers to the tree
	b.stacks.Renumber(nodes, frames)
	return slices.Concat(b.times, out.times), nil
}

// judge adds the problems that only the samples as a whole show.
func judge(again *resymbolization, counter *samples.Counter, stacks *attribute.Stacks, sums *attribute.Sums, problems *diagnostic.Log) {
	again.late(problems)
	if n := counter.LeftOut; n > 0 {
		problems.Add(diagnostic.Problem{
			Severity: diagnostic.Error, File: ".", Offset: diagnostic.NoOffset, Reason: replay.Overflow, Count: n,
			Message: "values are left out: they are negative, or their sum needs more than 64 bits",
		})
	}
	attribute.ReportCutStacks(stacks, sums, problems)
}

// errLeft ends an attempt that nobody waits for any more.
var errLeft = errors.New("it was given up")

// addition is what addToBatch takes.
type addition struct {
	candidate
	attempt *attempt
	writer  rowWriter
	batch   *write.Batch // nil: a batch that others share
	lists   *listing.Draft
}

// addToBatch adds an experiment to its batch once all stages have ended. It reports whether it has
// handed the experiment to the batch's builder, which then commits or aborts it.
func addToBatch(c *addition) (taken bool, err error) {
	if !c.attempt.startCommit() {
		return false, errLeft
	}
	r := c.result
	r.Status, r.Problems = statusOf(c.rec, r.Samples), c.rec.Problems.Problems
	entry, more, err := c.renewedEntry()
	if err != nil || !more {
		return false, err
	}
	c.noteFileTime(&entry)
	out := c.stored.untap(c.writer)
	r.Rows = out.written()
	rows, _ := out.(*rowBuffer)
	return true, c.attempt.to.add(entry, c.batch, rows, c.lists)
}
