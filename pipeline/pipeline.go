// Package pipeline runs the stages over one recording, and over many.
//
// The stages of one recording are the lists below, which run reads from top to bottom and Explain
// prints. Data flows one way: no stage calls an earlier one or drives a later one.
//
// Millions of samples flow as Arrow record batches of up to 64 K: events in, as a decoder
// returns them (schema.EventSchema), and rows out, to the writer of each table
// (schema.Tables). A column that no stage changes is the same memory from the decoder to the file.
// Samples refer by number to distinct PCs, locations, functions, data objects and stacks, which are
// merged from their roots to a tree. There are fewer of these, and the work is done once for each:
// a stack costs only what is new in it.
//
// The stages of a recording are functions: their arguments are all that they read, and their results
// all that they make, apart from the build (program structure and stacks) and the output (sums and
// rows), which grow with each batch. The lists pass these values on. A process or batch on its way
// has the values that its stages need.
//
// Experiments run concurrently, also those that share a batch, to which each adds its rows in its
// turn (batchbuilder.go). The stages of one experiment run one after the other, except that
//
//   - symbol tables are loaded as soon as a recording names them (prefetch.go),
//   - the decoder reads ahead (readahead.go),
//   - stack dumps are unwound on all processors (unwind.Complete),
//   - the rules, the tree of stacks (build.go) and the sinks (output.go) have a worker each, while
//     the stages before them go on, also with the next process,
//   - each table has a writer (writers.go).
//
// Package ordered starts all goroutines, and its queues are bounded. A batch has one owner at any
// time; samples.Sink says more.
//
// Start reading with experiment.run and process.run, which read the lists of stages; ingest.go has
// what happens around them.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/decode/gprofng"
	"stackmill/stages/decode/perfdata"
	"stackmill/stages/decode/pprof"
	"stackmill/stages/samples"
	"stackmill/stages/unwind"
)

// stage is one step on the way from a recording to the store.
type stage[F any] struct {
	name, does string
	out        string // what the stage makes
	run        F
}

// once lists the stages that prepare a recording.
var once = []stage[func(*experiment) error]{
	{"open", "decodes the recording's logs, maps and stacks, in the format that the magic bytes say, and begins a batch of the store for a large one",
		"processes with their images, trees of recorded stacks, kinds of events", func(e *experiment) (err error) {
			e.recording, e.batch, err = open(e.opening, e.attempt.beginBatch)
			return err
		}},
	{"locate", "finds the files that the recording names, where the options say: below another root, or in caches by build-id",
		"paths of load objects and sources", func(e *experiment) error {
			e.files = e.attempt.in.locate(e.recording)
			return nil
		}},
	{"attach", "reads the files in which run-time compilers describe the code that they generated",
		"mappings of generated code, with their lifetimes", func(e *experiment) error {
			return attach(e.attempt.ctx, e.recording, e.files.locator)
		}},
	{"keep", "encodes what the tables leave out of the recording, so that resymbolize does not need its files",
		"rows of recordings", func(e *experiment) (err error) {
			e.replay, err = keep(e.recording)
			return err
		}},
	{"begin", "begins a writer for each table, or a buffer for the rows of a small recording",
		"destinations of rows", func(e *experiment) error {
			writer := e.stored.tap(newRowWriter(e.attempt.ctx, e.batch))
			e.build, e.out = begin(e.attempt.ctx, buildInput{e.result.ID, e.recording, e.files, e.stored.storedLists(), writer})
			return nil
		}},
}

// beforehand lists the stages that prepare a process while earlier processes pass.
var beforehand = []stage[func(*process)]{
	{"symbolize", "determines which load object owned an address at which time, and looks each distinct PC up in its table of functions and lines",
		"locations, functions, modules, load objects", (*process).symbolize},
}

// perProcess lists the stages that prepare the events of a process.
var perProcess = []stage[func(*process) error]{
	{"unwind", "unwinds stack dumps",
		"recorded stacks", (*process).unwind},
	{"dataspace", "finds the instruction that made each access to memory, and the variable or member that it hit, once per distinct instruction",
		"data objects, or reasons why one is unknown", (*process).dataspace},
}

// perBatch lists the stages that complete each batch of events of a kind.
var perBatch = []stage[func(*batch) error]{
	{"derive", "adds what the record of an event does not contain: durations, files, leaks, names of counters",
		"batches of samples", (*batch).derive},
	{"number", "gives each sample the number of its stack, and reads new frames, once as long as the mappings stay the same",
		"the batch with stacks; new stacks", (*batch).number},
	{"count", "computes the value of each sample for each metric",
		"the batch with values", (*batch).count},
}

// perStack lists the stages of new stacks.
var perStack = []stage[func(*build, *unwind.StackBatch)]{
	{"rules", "normalizes new frames by the manual's rules",
		"paths in the tree of stacks, with the frames that each mode shows", (*build).normalize},
}

// sinks lists the stages that take each batch. A sink is nil if the recording has nothing for it.
var sinks = []stage[func(*process) samples.Sink]{
	{"sums", "adds up metrics per stack, and per thread, CPU and second",
		"sums per distinct stack", (*process).sumsSink},
	{"data", "adds up metrics per data object and instruction",
		"sums per data object, rows of data_samples", (*process).dataSink},
	{"locks", "collects the objects for which threads waited, to name them",
		"addresses of synchronization objects", (*process).syncSink},
	{"fields", "reads what tracepoints recorded with each sample",
		"rows of event_fields", (*process).fieldsSink},
	{"samples", "makes the rows of samples",
		"rows of samples and of the kind's table", (*process).rowsSink},
}

// atEnd lists the stages that run once all samples were read.
var atEnd = []stage[func(*experiment) error]{
	{"grow", "waits for the rules, the sinks and the tree of stacks, which run concurrently, and puts locations, nodes and frames in the order in which they are stored",
		"sums, and the tree of stacks", func(e *experiment) error {
			times, err := grow(e.attempt.ctx, e.build, e.out, &e.recording.Problems)
			for _, s := range times {
				e.result.add(s.Stage, s.Elapsed)
			}
			e.passed.extendDurations(e.recording.Processes)
			return err
		}},
	{"judge", "reports problems that only all samples together show: values left out, stacks that end early",
		"problems", func(e *experiment) error {
			judge(e.stored, e.out.counter, e.build.stacks.Stacks, e.out.sums.Sums, &e.recording.Problems)
			return nil
		}},
	{attributeStage, "attributes the sums to functions, callers and callees, lines and instructions, and finds their sources",
		"rows of program structure, stacks and values", func(e *experiment) (err error) {
			e.lists, err = attributeSums(newAttribution(e))
			e.result.add(attributeStage, -e.attempt.waited)
			return err
		}},
	{"describe", "describes the recording, its processes and its problems",
		"rows of experiments, processes, problems", func(e *experiment) error {
			name := filepath.Base(e.attempt.src.path)
			return describe(&description{e.result.ID, name, e.recording, &e.passed, &e.replay, e.build.stacks.Forms.List, e.out.writer.write})
		}},
	{"commit", "waits for the writers of Parquet files, and adds the recording to its batch",
		"a batch of the store, which exists once all of its recordings were read", func(e *experiment) error {
			if err := e.written(); err != nil {
				return err
			}
			e.result.Samples = e.passed.samples
			c := candidate{e.attempt.in, &e.attempt.src, e.attempt.to.number, e.stored, e.generation, e.result, e.recording, e.files.locator, e.build.resolver.Program}
			taken, err := addToBatch(&addition{c, e.attempt, e.out.writer, e.batch, e.lists})
			if taken {
				e.batch = nil
			}
			return err
		}},
}

// run passes a recording through the stages.
func (e *experiment) run(ctx context.Context) error {
	if err := each(e.result, once, e); err != nil {
		return err
	}
	for p, err := range e.processes {
		if err == nil {
			err = p.run(ctx)
		}
		if err != nil {
			return err
		}
	}
	return each(e.result, atEnd, e)
}

// run passes the events of a process through the stages.
func (p *process) run(ctx context.Context) error {
	if err := each(p.result, perProcess, p); errors.Is(err, errLost) {
		return nil
	} else if err != nil {
		return err
	}
	to := p.sinks()
	for k := range schema.Kinds {
		if err := p.kind(ctx, k, to); err != nil {
			return fmt.Errorf("%s events: %w", k, err)
		}
	}
	p.end()
	return nil
}

// kind passes the events of a kind through the stages and on to the sinks, batch by batch.
func (p *process) kind(ctx context.Context, k schema.Kind, to []stage[samples.Sink]) error {
	events := newReadAhead(ctx, p.recorded.Events(k))
	defer events.Close()
	for b := (&batch{process: p, kind: k}); ; {
		if err := errors.Join(p.rec.HostErr.Err(), context.Cause(ctx)); err != nil {
			return err
		}
		began := time.Now()
		more, err := b.next(events)
		p.result.took(eventsStage, began)
		if err != nil || !more {
			return err
		}
		if err := each(p.result, perBatch, b); err != nil {
			b.release()
			return err
		}
		p.passed.count(b.Batch, p.recorded.StartNS)
		p.progress.Samples.Add(int64(b.Len()))
		if err := p.out.sinks.Add(sinkBatch{b.Batch, to}); err != nil {
			return err
		}
	}
}

// each runs stages in their order, up to the first error, and adds the time that they took to the
// result.
func each[T any](r *Result, stages []stage[func(T) error], x T) error {
	for i := range stages {
		began := time.Now()
		err := stages[i].run(x)
		r.took(stages[i].name, began)
		if err != nil {
			return err
		}
	}
	return nil
}

// Explain prints the stages.
func Explain(w io.Writer) error {
	var text strings.Builder
	n := 0
	explain(&text, &n, "Once for a recording", once)
	explain(&text, &n, "Once for each of its processes, while earlier ones pass", beforehand)
	explain(&text, &n, "Once for each of its processes", perProcess)
	explain(&text, &n, "For each batch of up to 64 K events, in the order of time", perBatch)
	explain(&text, &n, "For new stacks, while their batch passes", perStack)
	explain(&text, &n, "Each batch goes to", sinks)
	explain(&text, &n, "Once all samples were read", atEnd)
	_, err := io.WriteString(w, text.String())
	return err
}

// explain prints a list of stages, numbered after the n stages before.
func explain[F any](w io.Writer, n *int, title string, stages []stage[F]) {
	fmt.Fprintln(w, title)
	for _, s := range stages {
		*n++
		fmt.Fprintf(w, "%3d. %-9s  %s\n     %-9s  -> %s\n", *n, s.name, s.does, "", s.out)
	}
}

// decoders lists the input formats.
var decoders = []decode.Decoder{gprofng.New(), perfdata.New(), pprof.New()}

// decoderOf returns the decoder for the recording at a path, or nil.
func decoderOf(path string) decode.Decoder {
	for _, d := range decoders {
		if d.Detect(path) {
			return d
		}
	}
	return nil
}

// FormatOf returns the format of the recording at a path, as in `experiments.format`; empty if there
// is none.
func FormatOf(path string) string {
	if d := decoderOf(path); d != nil {
		return d.Name()
	}
	return ""
}
