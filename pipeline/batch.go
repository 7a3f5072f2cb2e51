package pipeline

import (
	"errors"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/samples"
)

// batch is one record batch with the intermediate results of the stages.
type batch struct {
	process *process
	kind    schema.Kind
	deriver *samples.Deriver // one for all batches of the kind, made for the first

	events arrow.RecordBatch
	*samples.Batch
}

// next reads the next events; false at their end. Unreadable events become a problem.
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
			b.reportBlindReallocs(leaks)
		}
		b.deriver = samples.NewDeriver(b.process.rec, b.process.recorded, b.kind, leaks, b.process.out.ioFiles)
	}
	b.Batch = b.deriver.Batch(b.events, b.process.passed.samples)
	return nil
}

// reportBlindReallocs reports that the collector did not record which blocks realloc freed.
func (b *batch) reportBlindReallocs(leaks *samples.Leaks) {
	if leaks.BlindReallocs > 0 {
		b.process.remark(b.kind, "realloc-without-old-address", leaks.BlindReallocs,
			"the collector did not record which block realloc freed; such a block counts as leaked until its address is used again")
	}
}

func (b *batch) number() error {
	b.process.stacks.Add(b.Batch)
	b.process.build.reader.Flush()
	return errors.Join(b.process.build.rules.Err(), b.process.build.tree.Err()) // the following stages would work for nothing
}

func (b *batch) count() error {
	b.process.out.counter.Add(b.Batch)
	return nil
}

// release frees a batch that does not reach the sinks because of an error.
func (b *batch) release() {
	if b.Batch == nil {
		b.events.Release()
		return
	}
	b.Batch.Release()
}

// count counts the samples of a batch that has passed all stages.
func (s *passedSamples) count(b *samples.Batch, startNS int64) {
	n, last := b.Len(), &s.processes[len(s.processes)-1]
	if n > 0 { // the duration in an unfinished log may end before the last events
		last.durationNS = max(last.durationNS, b.Times[n-1]-startNS)
	}
	last.samples += int64(n)
	s.samples += int64(n)
}
