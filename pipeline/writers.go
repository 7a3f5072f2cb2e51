package pipeline

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"golang.org/x/sync/errgroup"

	"stackmill/schema"
	"stackmill/stages/write"
)

// writersAhead bounds how many batches may wait for a table's writer.
const writersAhead = 2

// writers runs the write stage of one experiment concurrently with the stages before
// it: one goroutine per table, so that each table's rows keep their order.
type writers struct {
	ctx    context.Context
	batch  *write.Batch
	group  errgroup.Group
	mu     sync.Mutex
	tables map[string]chan arrow.RecordBatch
	once   sync.Once
	failed chan struct{} // closed after the first error
	err    error
	n      atomic.Int64 // rows
}

func newWriters(ctx context.Context, b *write.Batch) *writers {
	return &writers{ctx: ctx, batch: b, tables: map[string]chan arrow.RecordBatch{}, failed: make(chan struct{})}
}

// write hands rows to their table's writer, until the context ends. For each
// table it is called by one goroutine.
func (w *writers) write(t *schema.Table, rows arrow.RecordBatch) error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	c := w.table(t)
	rows.Retain()
	select {
	case c <- rows:
		w.n.Add(rows.NumRows())
		return nil
	case <-w.failed:
		rows.Release()
		return w.err
	}
}

// written counts the rows that were handed over.
func (w *writers) written() int64 { return w.n.Load() }

// table returns the channel of a table's writer, which it starts if need be.
func (w *writers) table(t *schema.Table) chan<- arrow.RecordBatch {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.tables[t.Name]
	if c == nil {
		c = make(chan arrow.RecordBatch, writersAhead)
		w.tables[t.Name] = c
		w.group.Go(func() error { return w.run(t, c) })
	}
	return c
}

// run writes until the context ends; later batches are only released.
func (w *writers) run(t *schema.Table, c <-chan arrow.RecordBatch) error {
	var first error
	for rows := range c {
		if first == nil {
			first = guarded(func() error { return storeFault(w.batch.Write(t, rows)) })
			if first == nil {
				first = context.Cause(w.ctx)
			}
			if first != nil {
				w.once.Do(func() { w.err = first; close(w.failed) })
			}
		}
		rows.Release()
	}
	return first
}

// close waits for the writers. It may be called again.
func (w *writers) close() error {
	for _, c := range w.tables {
		close(c)
	}
	clear(w.tables)
	return w.group.Wait()
}

// together runs functions at once and returns their first error, or panic.
func together(run ...func() error) error {
	var g errgroup.Group
	for _, f := range run {
		g.Go(func() error { return guarded(f) })
	}
	return g.Wait()
}
