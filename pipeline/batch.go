package pipeline

import (
	"errors"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/samples"
)

// batch is the batch of a kind's events that passes the stages now.
type batch struct {
	process *process
	kind    schema.Kind
	deriver *samples.Deriver // of all of the kind's, made for the first

	events arrow.RecordBatch
	*samples.Batch
}

// next reads the next events; false at their end. What cannot be read is a problem.
func (b *batch) next(events decode.EventReader) (more bool, err error) {
	b.Batch = nil
	if b.events, err = events.Next(); err != nil {
		return false, b.process.unreadable(b.kind, err)
	}
	return b.events != nil, nil
}

func (b *batch) derive() error {
	b.events = b.process.completed.Events(b.events)
	if b.deriver == nil {
		var leaks *samples.Leaks
		if b.kind == schema.Heap {
			heap, err := b.process.heapRead(false)
			if err != nil {
				return err
			}
			leaks = heap.Leaks
			b.untold(leaks)
		}
		b.deriver = samples.NewDeriver(b.process.recording.Recording, b.process.recorded, b.kind, leaks, b.process.out.ioFiles)
	}
	b.Batch = b.deriver.Batch(b.events, b.process.recording.samples)
	return nil
}

// untold says what the collector did not record of leaks.
func (b *batch) untold(leaks *samples.Leaks) {
	if leaks.BlindReallocs > 0 {
		b.process.remark(b.kind, "realloc-without-old-address", leaks.BlindReallocs,
			"the collector did not record which block realloc freed; such a block counts as leaked until its address is used again")
	}
}

func (b *batch) number() error {
	b.process.stacks.Add(b.Batch)
	b.process.build.reader.Flush()
	return errors.Join(b.process.build.rules.Err(), b.process.build.tree.Err()) // what follows would be for nothing
}

func (b *batch) count() error {
	b.process.out.counter.Add(b.Batch)
	return nil
}

// release gives up a batch that does not get to the sinks.
func (b *batch) release() {
	if b.Batch == nil {
		b.events.Release()
		return
	}
	b.Batch.Release()
}

// passed counts the samples of a batch.
func (p *process) passed(b *samples.Batch) {
	n := b.Len()
	if n > 0 { // a log that was not finished knows nothing of its last events
		p.recorded.DurationNS = max(p.recorded.DurationNS, b.Times[n-1]-p.recorded.StartNS)
	}
	p.recording.samples += int64(n)
	p.recording.perProcess[len(p.recording.perProcess)-1] += int64(n)
	p.attempt.in.Progress.Samples.Add(int64(n))
}
