package pipeline

import (
	"context"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/internal/ordered"
	"stackmill/schema"
	"stackmill/stages/listing"
	"stackmill/stages/samples"
	"stackmill/stages/write"
)

// output is what the stages write of a recording, and the sums over its samples.
type output struct {
	batch  *write.Batch // nil: a batch that others share
	writer rowWriter
	lists  *listing.Draft // shared with others of the batch; of attribute

	samples  *samples.SampleRows
	segments *schema.Rows
	ioFiles  *samples.Files
	counter  *samples.Counter
	sums     *samples.UsageSums
	data     *samples.Data // nil: no sample has a data object

	sinks *ordered.Worker[sinkBatch]
	times []StageTime // of the sinks
}

// rowWriter takes rows, concurrently for different tables.
type rowWriter interface {
	write(*schema.Table, arrow.RecordBatch) error
	// written returns the number of rows.
	written() int64
	// close waits until all rows are written. It may be called again.
	close() error
}

// sinksAhead bounds the batches that wait for the sinks.
const sinksAhead = 1

// begin makes the sinks. They run on the goroutine of the stages unless they may be concurrent.
func (o *output) begin(ctx context.Context, id string, r *recording, metrics []schema.Metric, concurrent bool) {
	o.ioFiles = samples.NewFiles()
	if r.FromStore {
		o.ioFiles = samples.FilesOf(r.IOFiles)
	}
	o.counter, o.sums = samples.NewCounter(metrics), samples.NewUsageSums(metrics)
	o.samples = samples.NewSampleRows(id, r.CGroups, o.writer.write)
	o.segments = schema.NewRows(schema.Segments, id, o.writer.write)
	release := func(b sinkBatch) { b.Release() }
	if concurrent {
		o.sinks = ordered.NewWorker(ctx, sinksAhead, o.sink, release)
	} else {
		o.sinks = ordered.NewInlineWorker(ctx, o.sink, release)
	}
}

// sinkBatch is a batch on its way to the sinks.
type sinkBatch struct {
	*samples.Batch
	sinks []stage[samples.Sink]
}

// sink passes a batch to its sinks and releases it.
func (o *output) sink(b sinkBatch) error {
	defer b.Release()
	for _, s := range b.sinks {
		began := time.Now()
		err := s.run.Add(b.Batch)
		o.times = addTime(o.times, s.name, time.Since(began))
		if err != nil {
			return err
		}
	}
	return nil
}
