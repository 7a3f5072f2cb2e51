// Package pipeline runs the stages over one recording, and over many.
//
// The stages of one recording are the lists below, which run reads from top to
// bottom and Explain prints. Data flows one way: no stage calls an earlier one or
// drives a later one.
//
// Samples, of which there are millions, flow as Arrow record batches of up to 64 K:
// events in, as a decoder hands them out (schema.EventSchema), and rows out, to the
// writer of each table (schema.Tables). A column that no stage changes is the same
// memory from the decoder to the file. Between the two stand columns of distinct
// things, by their numbers: PCs, locations, functions, data objects, and stacks, which
// are merged from their roots to a tree. There are fewer of those, and the work is done
// once for each: a sample only refers to them, by the number of its stack, and a stack
// costs what is new in it.
//
// Experiments run side by side, also those that share a batch, to which each adds its rows
// in its turn (batchbuilder.go). The stages of one run one after the other, but for the
// symbol tables, which are loaded as soon as a recording names them (prefetch.go), the
// decoder, which reads ahead (readahead.go), the dumps, which are unwound side by side
// (package ordered), the rules, the tree of stacks and the sinks, which run beside what gives
// samples their stacks, also those of the next process (rules.go), and the writers, one per
// table (writers.go): all have bounded channels. A batch has one owner at any time;
// attribute.Sink says more.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/decode/gprofng"
	"stackmill/stages/decode/perfdata"
	"stackmill/stages/decode/pprof"
	"stackmill/stages/samples"
	"stackmill/stages/unwind"
)

// stage is one step of the way from a recording to the store.
type stage[F any] struct {
	name, does string
	out        string // what flows on
	run        F
}

// once are the stages that prepare a recording.
var once = []stage[func(*experiment) error]{
	{"open", "decodes the recording's logs, maps and stacks, by the format found by magic bytes, and begins a batch of the store for a large one",
		"processes with their images, trees of recorded stacks, kinds of events", (*experiment).open},
	{"locate", "finds the files that the recording names where the options say: below another root, in caches by build-id",
		"a locator of load objects and sources", func(e *experiment) error { e.recording.locate(e.attempt.in); return nil }},
	{"attach", "reads the files in which run-time compilers describe the code that they made",
		"mappings of generated code, with their lives", func(e *experiment) error { return e.recording.attach(e.attempt.ctx) }},
	{"keep", "keeps what no table has of the recording, so that its stacks can be given better symbols when it is gone",
		"rows of recordings", func(e *experiment) error { return e.recording.keep() }},
	{"begin", "begins a writer for each table, or keeps the rows of a small recording",
		"where rows go", (*experiment).begin},
}

// beforehand are the stages that prepare a process while the events of those before it pass.
var beforehand = []stage[func(*process)]{
	{"symbolize", "says which load object owned an address when, and joins each distinct PC with that object's table of functions and lines",
		"locations, functions, modules, load objects", (*process).symbolize},
}

// perProcess are the stages that prepare the events of a process.
var perProcess = []stage[func(*process) error]{
	{"unwind", "unwinds stack dumps",
		"recorded stacks", (*process).unwind},
	{"dataspace", "finds the instruction that made each access to memory, and the variable or member that it hit, once per distinct instruction",
		"data objects, or reasons why one is unknown", (*process).dataspace},
}

// perBatch are the stages that complete each batch of a kind's events.
var perBatch = []stage[func(*batch) error]{
	{"derive", "adds what an event's own record does not hold: durations, files, leaks, names of counters",
		"batches of samples", (*batch).derive},
	{"number", "gives each sample the number of its stack, and reads what is new in it, once for as long as its mappings stay the same",
		"the batch with stacks; stacks that were read", (*batch).number},
	{"count", "says what each sample counts for each metric",
		"the batch with counts", (*batch).count},
}

// perStack are the stages of stacks that were read.
var perStack = []stage[func(*build, *unwind.StackBatch)]{
	{"rules", "normalises what is new in them by the manual's rules",
		"paths of the tree of stacks, with what each mode shows of them", (*build).normalize},
}

// sinks take each batch. A sink is nil where a recording has nothing for it.
var sinks = []stage[func(*process) samples.Sink]{
	{"sums", "adds up metrics per stack, and per thread, CPU and second",
		"sums per distinct stack", (*process).sumsSink},
	{"data", "adds up metrics per data object and instruction",
		"sums per data object, rows of data_samples", (*process).dataSink},
	{"samples", "makes the rows of samples",
		"rows of samples and of the kind's table", (*process).rowsSink},
}

// atEnd are the stages that run when all samples were read.
var atEnd = []stage[func(*experiment) error]{
	{"grow", "waits for the rules, the sinks, and the tree, to which the stacks are added beside the stages before, and puts locations, nodes and frames in the order in which they are stored",
		"sums, and the tree of stacks", (*experiment).grow},
	{"judge", "says what the samples as a whole reveal: values left out, stacks that end early",
		"problems", (*experiment).judge},
	{attributeStage, "attributes the sums to functions, callers and callees, lines, instructions, and finds their sources",
		"rows of program structure, stacks and values", (*experiment).attribute},
	{"describe", "describes the recording, its processes and its problems",
		"rows of experiments, processes, problems", (*experiment).describe},
	{"commit", "waits for the writers of Parquet files and adds the recording to its batch",
		"a batch of the store, which exists when all of its recordings were read", (*experiment).commit},
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

// run passes a process's events through the stages.
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

// kind passes a kind's events through the stages and on to the sinks, batch by batch.
func (p *process) kind(ctx context.Context, k schema.Kind, to []stage[samples.Sink]) error {
	events := newReadAhead(ctx, p.recorded.Events(k))
	defer events.Close()
	for b := (&batch{process: p, kind: k}); ; {
		if err := errors.Join(p.recording.HostErr.Err(), context.Cause(ctx)); err != nil {
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
		p.passed(b.Batch)
		if err := p.out.sinks.Add(sinkBatch{b.Batch, to}); err != nil {
			return err
		}
	}
}

// each runs stages in their order, up to the first error, and adds how long they took to
// the result.
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
	p := printer{w: w}
	explain(&p, "Once for a recording", once)
	explain(&p, "Once for each of its processes, beside those before it", beforehand)
	explain(&p, "Once for each of its processes", perProcess)
	explain(&p, "For each batch of up to 64 K events, in the order of time", perBatch)
	explain(&p, "For stacks that were read, beside their batch", perStack)
	explain(&p, "Each batch goes to", sinks)
	explain(&p, "Once all samples were read", atEnd)
	return p.err
}

// printer numbers what it prints and keeps the first error.
type printer struct {
	w   io.Writer
	n   int
	err error
}

func (p *printer) print(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

func explain[F any](p *printer, title string, stages []stage[F]) {
	p.print("%s\n", title)
	for _, s := range stages {
		p.n++
		p.print("%3d. %-9s  %s\n     %-9s  -> %s\n", p.n, s.name, s.does, "", s.out)
	}
}

// decoders lists the input formats.
var decoders = []decode.Decoder{gprofng.New(), perfdata.New(), pprof.New()}

// decoderOf returns the decoder that takes path, or nil.
func decoderOf(path string) decode.Decoder {
	for _, d := range decoders {
		if d.Detect(path) {
			return d
		}
	}
	return nil
}

// FormatOf returns the format of the recording at a path, as `experiments.format` has it; empty
// if there is none.
func FormatOf(path string) string {
	if d := decoderOf(path); d != nil {
		return d.Name()
	}
	return ""
}
