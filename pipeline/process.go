package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"stackmill/internal/hosterr"
	"stackmill/internal/spill"
	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/dataspace"
	"stackmill/stages/decode"
	"stackmill/stages/decode/replay"
	"stackmill/stages/samples"
	"stackmill/stages/symbolize"
	"stackmill/stages/unwind"
)

// process is one process of a recording on its way through the stages.
type process struct {
	rec      *decode.Recording
	recorded *decode.Process
	result   *Result
	build    *build
	out      *output
	passed   *passedSamples
	progress *Progress
	space    *spill.Space // temporary files for what does not fit in memory

	resolved   *symbolize.Process     // the result of stage symbolize
	symbolized chan struct{}          // closed after symbolize
	completed  *unwind.CompleteStacks // a result of stage unwind
	stacks     *samples.ProcessStacks // a result of stage unwind
	accesses   *samples.DataProcess   // the result of stage dataspace; nil if no sample has a data object
	heap       *samples.Heap          // nil before it is needed
}

// processesAhead is how many processes are symbolized ahead, so that stacks of the next process can
// be read while the rules still process stacks of the current one.
const processesAhead = 4

// processes yields the processes in their order, each once it is symbolized. If the worker of the
// rules fails, processes yields a nil process with its error.
func (e *experiment) processes(yield func(*process, error) bool) {
	var waiting []*process
	for rest := e.recording.Processes; len(rest)+len(waiting) > 0; {
		for len(rest) > 0 && len(waiting) <= processesAhead {
			waiting, rest = append(waiting, e.process(rest[0])), rest[1:]
		}
		p := waiting[0]
		waiting = slices.Delete(waiting, 0, 1) // releases the last reference
		if err := e.build.rules.WaitFor(p.symbolized); err != nil {
			yield(nil, err)
			return
		}
		for _, wrong := range p.resolved.Problems.Problems {
			e.recording.Problems.Add(wrong)
		}
		e.passed.processes = append(e.passed.processes, processSamples{}) // counts of the process whose samples pass
		if !yield(p, nil) {
			return
		}
	}
}

// process queues the stages that prepare a process.
func (e *experiment) process(recorded *decode.Process) *process {
	p := &process{
		rec: e.recording, recorded: recorded, result: e.result, build: e.build, out: e.out, passed: &e.passed,
		progress: e.attempt.in.options.Progress, space: e.attempt.space, symbolized: make(chan struct{}),
	}
	e.build.rule(func() {
		for _, s := range beforehand {
			e.build.timed(s.name, func() { s.run(p) })
		}
		close(p.symbolized)
	})
	return p
}

func (p *process) symbolize() {
	p.resolved = p.build.resolver.Process(p.recorded, p.recorded.File(decode.MapFile))
	samples.Segments(p.out.segments, p.recorded.Number, p.resolved)
}

// errLost: the events of a process are not readable, as its problems say.
var errLost = errors.New("the process's events are lost")

func (p *process) unwind() (err error) {
	if p.recorded.Dumps != nil { // walkers use the resolver
		p.build.rules.Wait()
	}
	p.build.dumps.Process(p.resolved)
	if p.completed, err = unwind.Complete(p.recorded, p.build.dumps.Walkers); err != nil {
		return cmp.Or(p.unreadable(schema.Perf, err), errLost)
	}
	whole := *p.recorded
	whole.Stacks = p.completed.Stacks
	grow := func(paths *unwind.PathBatch) { _ = p.build.tree.Add(paths) } // an error stops the worker, and stage number returns it
	p.build.rule(func() {
		p.build.unwinder = unwind.New(p.build.cache, grow, p.build.resolver, p.build.frames, p.resolved, &whole)
	})
	p.build.reader.Process(p.resolved, whole.Stacks)
	p.stacks = p.build.stacks.Process(p.recorded, whole.Stacks, p.build.reader)
	return nil
}

func (p *process) dataspace() error {
	if p.out.data == nil {
		return nil
	}
	var blocks *dataspace.Blocks // nil if allocations were not traced
	if p.recorded.Has(schema.Heap) {
		heap, err := p.heapRead(true)
		if err != nil {
			return err
		}
		blocks = heap.Blocks
	}
	p.accesses = p.out.data.Process(p.recorded, p.completed.Stacks, p.resolved, blocks)
	if blocks != nil && blocks.Dropped > 0 {
		p.remark(schema.Heap, "too-many-heap-blocks", blocks.Dropped, "too many heap blocks to say which one a data address lies in")
	}
	return nil
}

// heapRead returns the heap of the process. The first call reads all heap events, before the stages
// do: only at the end is it known where each block was, and which blocks leak.
func (p *process) heapRead(blocks bool) (*samples.Heap, error) {
	if p.heap != nil {
		return p.heap, nil
	}
	events := p.recorded.Events(schema.Heap, samples.HeapColumns...)
	defer events.Close()
	heap, err := samples.ReadHeap(events, p.space, blocks)
	if err != nil {
		err = p.unreadable(schema.Heap, err)
	}
	p.heap = heap
	return heap, err
}

func (p *process) sumsSink() samples.Sink { return p.out.sums }

func (p *process) rowsSink() samples.Sink { return p.out.samples }

func (p *process) dataSink() samples.Sink {
	if p.accesses == nil {
		return nil
	}
	return p.accesses
}

func (p *process) syncSink() samples.Sink {
	if !p.recorded.Has(schema.Sync) {
		return nil
	}
	return p.out.syncObjects.Process(p.recorded, p.resolved)
}

func (p *process) fieldsSink() samples.Sink {
	if p.out.fields == nil {
		return nil
	}
	return p.out.fields
}

// sinks returns the sinks that apply to this process.
func (p *process) sinks() (list []stage[samples.Sink]) {
	for _, s := range sinks {
		if sink := s.run(p); sink != nil {
			list = append(list, stage[samples.Sink]{name: s.name, run: sink})
		}
	}
	return list
}

// end releases data that is not needed once the events of the process have passed.
func (p *process) end() {
	p.build.rule(func() { p.build.unwinder.Flush() })
	p.recorded.Stacks, p.recorded.Dumps = nil, nil
	if p.recorded.Release != nil {
		p.recorded.Release()
	}
}

// unreadable reports that the rest of the events of a kind is lost, and returns nil: a file that
// changes while it is read costs its experiment, not the whole run. Host errors and panics say
// nothing about the file, so unreadable returns them.
func (p *process) unreadable(k schema.Kind, err error) error {
	if hosterr.Is(err) || errors.As(err, new(*InternalError)) {
		return err
	}
	p.rec.Problems.Add(diagnostic.Problem{
		Severity: diagnostic.Error, Process: p.recorded.Number, File: p.recorded.File("."), Offset: diagnostic.NoOffset,
		Reason: replay.Unreadable, Message: fmt.Sprintf("the rest of the %s events cannot be read: %v", k, err),
	})
	return nil
}

// remark adds a problem of severity info about the events of a kind.
func (p *process) remark(k schema.Kind, reason string, count int64, message string) {
	p.rec.Problems.Add(diagnostic.Problem{
		Severity: diagnostic.Info, Process: p.recorded.Number, File: p.recorded.File(k.Traits().File), Offset: diagnostic.NoOffset,
		Reason: reason, Count: count, Message: message,
	})
}
