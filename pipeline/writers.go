package pipeline

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/internal/ordered"
	"stackmill/schema"
	"stackmill/stages/write"
)

// writersAhead bounds how many batches may wait for a table's writer.
const writersAhead = 2

// tableWriters runs the write stage of one experiment. Each table has a worker, which runs
// concurrently with the other stages and keeps the order of the table's rows.
type tableWriters struct {
	ctx    context.Context
	cancel context.CancelCauseFunc // called with the first error
	batch  *write.Batch
	mu     sync.Mutex
	tables map[string]*ordered.Worker[arrow.RecordBatch]
	err    error
	rows   atomic.Int64
}

func newTableWriters(ctx context.Context, b *write.Batch) *tableWriters {
	w := &tableWriters{batch: b, tables: map[string]*ordered.Worker[arrow.RecordBatch]{}}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	return w
}

// newRowWriter returns the writer for an experiment's rows: into its own batch b or, if b is nil
// because the batch is shared, into a buffer.
func newRowWriter(ctx context.Context, b *write.Batch) rowWriter {
	if b == nil {
		return newRowBuffer()
	}
	return newTableWriters(ctx, b)
}

// write passes rows to their table's worker; an error if the context has ended. Calls for the same
// table must not be concurrent.
func (w *tableWriters) write(t *schema.Table, rows arrow.RecordBatch) error {
	if err := context.Cause(w.ctx); err != nil {
		return err
	}
	rows.Retain()
	err := w.table(t).Add(rows)
	if err == nil {
		w.rows.Add(rows.NumRows())
	}
	return err
}

// written returns the number of rows passed to write.
func (w *tableWriters) written() int64 { return w.rows.Load() }

// table returns a table's writer, which it starts if need be.
func (w *tableWriters) table(t *schema.Table) *ordered.Worker[arrow.RecordBatch] {
	w.mu.Lock()
	defer w.mu.Unlock()
	writer := w.tables[t.Name]
	if writer == nil {
		writer = ordered.NewWorker(w.ctx, writersAhead, func(rows arrow.RecordBatch) error {
			defer rows.Release()
			err := storeFault(w.batch.Write(t, rows))
			if err != nil {
				w.cancel(err)
			}
			return err
		}, arrow.RecordBatch.Release)
		w.tables[t.Name] = writer
	}
	return writer
}

// close waits for the writers. It may be called again.
func (w *tableWriters) close() error {
	for _, writer := range w.tables {
		if err := writer.Close(); w.err == nil {
			w.err = err
		}
	}
	clear(w.tables)
	w.cancel(nil)
	return w.err
}
