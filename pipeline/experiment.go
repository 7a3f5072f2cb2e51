package pipeline

import (
	"context"
	"errors"
	"slices"

	"stackmill/internal/ordered"
	"stackmill/schema/diagnostic"
	"stackmill/stages/attribute"
	"stackmill/stages/code"
	"stackmill/stages/decode"
	"stackmill/stages/decode/replay"
	"stackmill/stages/listing"
	"stackmill/stages/samples"
	"stackmill/stages/symbolize"
	"stackmill/stages/symbolize/source"
)

// experiment is one recording on its way through the stages, and the results of the stages so far.
type experiment struct {
	attempt         *attempt
	result          *Result
	generation      int              // under which the experiment is stored
	resymbolization *resymbolization // nil for a recording
	recording       recording
	build           build
	out             output
}

// ingestOne reads one recording for a batch. An error says why it is not stored, although the
// recording is not to blame.
func (a *attempt) ingestOne(r *Result, generation int, opening func() (*decode.Recording, error)) error {
	return a.pass(&experiment{attempt: a, result: r, generation: generation, recording: recording{opening: opening}})
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

// halt stops the workers. The stages have returned their errors.
func (e *experiment) halt() {
	_ = e.out.sinks.Close()
	_ = e.build.rules.Close()
	_ = e.build.tree.Close()
}

// close releases everything that the stages hold, also after a panic.
func (e *experiment) close() (err error) {
	e.halt()
	if e.out.writer != nil {
		_ = e.out.writer.close() // closeOutput has its error
	}
	if e.out.batch != nil {
		e.out.batch.Abort()
	}
	if e.recording.Recording != nil {
		err = e.recording.Close()
	}
	return err
}

// closeOutput waits for the writers. It returns their error, or a host error that kept files from
// being read.
func (e *experiment) closeOutput() error {
	if e.out.writer == nil {
		return nil
	}
	return errors.Join(e.out.writer.close(), e.recording.HostErr.Err(), e.recording.tables.HostErr())
}

// open opens the recording, and begins its batch at the same time, unless others share it.
func (e *experiment) open() error {
	return ordered.Run(
		func() (err error) {
			e.recording.Recording, err = e.recording.opening()
			return err
		},
		func() error {
			if e.attempt.to.builder.shared() {
				return nil
			}
			err := e.attempt.in.beginBatch(&e.out.batch)
			e.attempt.batch.Store(e.out.batch)
			return err
		},
	)
}

// begin makes what the following stages need: where rows go, program structure, stacks and sums.
func (e *experiment) begin() error {
	if e.attempt.to.builder.shared() {
		e.out.writer = newRowBuffer()
	} else {
		e.out.writer = newTableWriters(e.attempt.ctx, e.out.batch)
	}
	if e.resymbolization != nil {
		e.resymbolization.after = &rowTap{rowWriter: e.out.writer}
		e.out.writer = e.resymbolization.after
	}
	ctx, r := e.attempt.ctx, &e.recording
	metrics := samples.Metrics(r.Recording)
	e.build.resolver = symbolize.New(r.Recording, r.files, r.tables)
	e.build.resolver.StoredLists = e.resymbolization.storedLists()
	e.out.data = samples.NewData(e.result.ID, r.Recording, metrics, e.build.resolver, r.tables, e.out.writer.write)
	concurrent := e.out.data == nil // data objects need the resolver, which the rules use
	e.build.begin(ctx, r, concurrent)
	e.out.begin(ctx, e.result.ID, r, metrics, concurrent)
	return nil
}

// grow waits for the rules, the tree of stacks and the sinks, and gives everything that they have
// made its final numbers.
func (e *experiment) grow() error {
	nodes, frames, err := e.build.order(e.attempt.ctx, &e.recording, e.out.data)
	if err := errors.Join(err, e.out.sinks.Close(), context.Cause(e.attempt.ctx)); err != nil {
		return err
	}
	for _, s := range slices.Concat(e.build.times, e.out.times) {
		e.result.add(s.Stage, s.Elapsed)
	}
	e.recording.extendDurations()
	e.build.tree = nil // it refers to the tree
	e.build.stacks.Renumber(nodes, frames)
	return nil
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

func (e *experiment) attribute() error {
	r := &code.Result{
		Result:   &attribute.Result{ExperimentID: e.result.ID, Program: e.build.resolver.Program, Total: e.build.total, Stacks: e.build.stacks.Stacks, Sums: e.out.sums.Sums},
		Accessed: e.out.data.AccessLocations(),
		Disassembler: func() *symbolize.Disassembler {
			return symbolize.NewDisassembler(e.build.resolver, e.attempt.in.outlines)
		},
		Sources: code.Sources{
			Finder: source.Finder{Rules: e.attempt.in.Sources, NoRecorded: e.attempt.in.NoRecordedSources, Locate: e.recording.files.ByPath, Stored: e.resymbolization.source(e.recording.began()), Cache: e.attempt.in.texts},
			Began:  e.recording.began(), Problems: &e.recording.Problems,
		},
	}
	lines, err := e.programRows(r)
	e.build.resolver.ForgetCode()
	e.result.add(attributeStage, -e.attempt.waited)
	if err = errors.Join(e.out.segments.Close(), err); err != nil {
		return err
	}
	return r.SourceRows(e.out.writer.write, lines)
}

// programRows emits the rows of program structure, stacks and values. It returns the last line with
// a value of each source file. Independent tables are computed concurrently.
func (e *experiment) programRows(r *code.Result) (lines map[string]int32, err error) {
	emit := e.out.writer.write
	shapes := make(chan *attribute.StackViews, 1) // closed without a value after a panic; also trees
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
			if e.out.lists, err = e.draft(); err != nil {
				return err
			}
			r.Lists = e.out.lists
			return r.CodeRows(emit, functions)
		},
		func() error {
			err := errors.Join(r.StackRows(emit), e.out.ioFiles.Rows(r.Result, emit), e.out.sums.UsageRows(r.Result, emit, e.recording.CGroups), e.out.data.Rows(r.Result, emit))
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

// draft waits for the turn of the experiment and begins the lists that it shares with others of its
// batch.
func (e *experiment) draft() (*listing.Draft, error) {
	if err := e.attempt.awaitTurn(); err != nil {
		return nil, err
	}
	return e.attempt.to.builder.lists.Begin(), nil
}

// errLeft ends an attempt that nobody waits for any more.
var errLeft = errors.New("it was given up")

// addToBatch adds the experiment to its batch.
func (e *experiment) addToBatch() error {
	if !e.attempt.to.builder.shared() {
		if err := e.closeOutput(); err != nil {
			return err
		}
	}
	if err := errors.Join(e.recording.HostErr.Err(), e.recording.tables.HostErr()); err != nil {
		return err
	}
	if !e.attempt.startCommit() {
		return errLeft
	}
	r := e.result
	r.Status, r.Samples, r.Problems = e.recording.status(), e.recording.samples, e.recording.Problems.Problems
	entry, more, err := e.renewedEntry()
	if err != nil || !more {
		return err
	}
	out := e.out.writer
	if e.resymbolization != nil {
		out = e.resymbolization.after.rowWriter
	}
	r.Rows = out.written()
	rows, _ := out.(*rowBuffer)
	batch := e.out.batch
	e.out.batch = nil
	return e.attempt.to.add(entry, batch, rows, e.out.lists)
}
