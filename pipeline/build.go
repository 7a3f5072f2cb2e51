package pipeline

import (
	"context"
	"errors"
	"sync"
	"time"

	"stackmill/internal/ordered"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/program"
	"stackmill/stages/samples"
	"stackmill/stages/stacktree"
	"stackmill/stages/symbolize"
	"stackmill/stages/unwind"
)

// build is the program structure and the stacks of a recording under construction.
type build struct {
	resolver *symbolize.Resolver
	frames   *unwind.FrameTables
	dumps    *unwind.DumpUnwinder
	cache    *unwind.Cache
	reader   *unwind.StackReader
	unwinder *unwind.Unwinder // the unwinder of the process whose stacks pass the rules now
	stacks   *samples.StackIndex
	total    program.FunctionNo // the function <Total>, once the stacks are complete

	rules *ordered.Worker[func()]            // uses the resolver and the rules
	tree  *ordered.Worker[*unwind.PathBatch] // adds paths to the tree of stacks
	times []StageTime                        // times of the stages that the rules worker runs
	cfi   diagnostic.Log                     // problems of call frame information
}

// The lengths of the workers' queues. The worker of the rules has a longer queue, because it is
// slow with stacks of functions that it sees for the first time, and fast later.
const (
	rulesAhead = 16
	treeAhead  = 4
)

// wholeStacks is the value of unwind.Cache.IgnoreSettled: tests compare the results of both values.
var wholeStacks = false

func newBuild(rec *decode.Recording, files recordingFiles, resolver *symbolize.Resolver) *build {
	b := &build{resolver: resolver, stacks: samples.NewStackIndex(), cache: unwind.NewCache()}
	b.frames = unwind.NewFrameTables(files.tables, &b.cfi)
	b.dumps = unwind.NewDumpUnwinder(b.frames)
	b.stacks.Expect(rec.Processes)
	b.cache.IgnoreSettled = wholeStacks
	b.reader = unwind.NewStackReader(func(stacks *unwind.StackBatch) { b.rule(func() { b.pass(stacks) }) })
	return b
}

// start starts the workers.
func (b *build) start(ctx context.Context, concurrent bool) {
	builder := unwind.NewTreeBuilder(b.stacks.Tree)
	b.tree = ordered.NewWorker(ctx, treeAhead, func(paths *unwind.PathBatch) error { builder.Add(paths); return nil }, nil)
	b.rules = newWorker(ctx, concurrent, rulesAhead, func(do func()) error { do(); return nil }, nil)
}

// rule queues a function that uses the resolver or the rules.
func (b *build) rule(do func()) {
	_ = b.rules.Add(do) // batch.number, processes and order return the worker's error
}

// pass runs the stages of perStack on new stacks.
func (b *build) pass(stacks *unwind.StackBatch) {
	for _, s := range perStack {
		b.timed(s.name, func() { s.run(b, stacks) })
	}
}

// timed runs a stage, and adds the time that it took to b.times. Only the worker of the rules calls
// it.
func (b *build) timed(name string, run func()) {
	began := time.Now()
	run()
	b.times = addTime(b.times, name, time.Since(began))
}

func (b *build) normalize(stacks *unwind.StackBatch) { b.unwinder.Add(stacks) }

// order waits for the rules and the tree. It then sorts locations, nodes and frames as they are
// stored, and returns the new numbers of nodes and frames.
func (b *build) order(ctx context.Context, problems *diagnostic.Log, data *samples.Data) (nodes []stacktree.NodeNo, frames []stacktree.FrameNo, err error) {
	if err := errors.Join(b.rules.Close(), context.Cause(ctx)); err != nil {
		return nil, nil, err
	}
	for _, p := range b.cfi.Problems {
		problems.Add(p)
	}
	b.cache, b.reader, b.unwinder, b.frames, b.dumps = nil, nil, nil, nil, nil
	b.total = b.resolver.Program.Location(b.resolver.Artificial(program.Total)).Function
	complete := sync.OnceValue(func() error { return errors.Join(b.tree.Close(), context.Cause(ctx)) })
	err = ordered.Run(
		func() error {
			if err := complete(); err != nil {
				return err
			}
			nodes = b.stacks.OrderNodes()
			b.stacks.SetEnds()
			return nil
		},
		func() error {
			b.resolver.Finish()
			locations := b.resolver.Program.Order()
			if err := complete(); err != nil {
				return err
			}
			frames = b.stacks.OrderFrames(locations)
			data.Renumber(locations)
			return nil
		},
	)
	return nodes, frames, err
}
