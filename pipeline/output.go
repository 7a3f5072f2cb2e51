package pipeline

import (
	"context"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/internal/ordered"
	"stackmill/schema"
	"stackmill/stages/samples"
)

// output is where the stages write a recording's rows, and sum up its samples.
type output struct {
	writer rowWriter

	samples  *samples.SampleRows
	segments *schema.Rows
	fields   *samples.FieldRows // nil: no sample has fields
	ioFiles  *samples.Files
	// syncObjects are the synchronization objects for which threads waited.
	syncObjects *samples.SyncObjects
	counter     *samples.Counter
	sums        *samples.UsageSums
	data        *samples.Data // nil: no sample has a data object

	sinks *ordered.Worker[sinkBatch]
	times []StageTime // times of the stages that the sinks' worker runs
}

// rowWriter takes rows, concurrently for different tables.
type rowWriter interface {
	write(*schema.Table, arrow.RecordBatch) error
	// written returns the number of rows.
	written() int64
	// close waits until all rows are written. It may be called more than once.
	close() error
}

// sinksAhead bounds the batches that wait for the sinks.
const sinksAhead = 1

func newOutput(in buildInput, metrics []schema.Metric, data *samples.Data) *output {
	o := &output{writer: in.writer, data: data, ioFiles: samples.NewFiles(), syncObjects: samples.NewSyncObjects(in.id), counter: samples.NewCounter(metrics), sums: samples.NewUsageSums(metrics)}
	if in.rec.FromStore {
		o.ioFiles = samples.FilesOf(in.rec.IOFiles)
	}
	o.samples = samples.NewSampleRows(in.id, in.rec.CGroups, o.writer.write)
	o.segments = schema.NewRows(schema.Segments, in.id, o.writer.write)
	o.fields = samples.NewFieldRows(in.id, in.rec.Fields, o.writer.write)
	return o
}

// startSinks starts the worker of the sinks.
func (o *output) startSinks(ctx context.Context, concurrent bool) {
	o.sinks = newWorker(ctx, concurrent, sinksAhead, o.sink, func(b sinkBatch) { b.Release() })
}

// newWorker returns a worker with a goroutine of its own, or an inline one if it must not be
// concurrent.
func newWorker[T any](ctx context.Context, concurrent bool, queue int, do func(T) error, drop func(T)) *ordered.Worker[T] {
	if concurrent {
		return ordered.NewWorker(ctx, queue, do, drop)
	}
	return ordered.NewInlineWorker(ctx, do, drop)
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
