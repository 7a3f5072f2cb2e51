package pipeline

import (
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"golang.org/x/sync/errgroup"

	"stackmill/schema"
	"stackmill/stages/write"
)

// writersAhead bounds how many batches may wait for a table's writer.
const writersAhead = 2

// writers runs the write stage of one experiment beside the stages before it:
// one goroutine per table, so that each table's rows keep their order.
type writers struct {
	batch  *write.Batch
	group  errgroup.Group
	mu     sync.Mutex
	tables map[string]chan arrow.RecordBatch
	once   sync.Once
	failed chan struct{} // closed after the first error
	err    error
}

func newWriters(b *write.Batch) *writers {
	return &writers{batch: b, tables: map[string]chan arrow.RecordBatch{}, failed: make(chan struct{})}
}

// write hands rows to their table's writer. For each table it is called by one
// goroutine.
func (w *writers) write(t *schema.Table, rows arrow.RecordBatch) error {
	c := w.table(t)
	rows.Retain()
	select {
	case c <- rows:
		return nil
	case <-w.failed:
		rows.Release()
		return w.err
	}
}

// table returns what leads to a table's writer, which it starts if need be.
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

func (w *writers) run(t *schema.Table, c <-chan arrow.RecordBatch) error {
	var first error
	for rows := range c {
		if first == nil {
			if first = w.batch.Write(t, rows); first != nil {
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

// together runs functions at once and returns their first error. When one
// panics, so does together in the end.
func together(run ...func() error) error {
	panics := make([]any, len(run))
	var g errgroup.Group
	for i, f := range run {
		g.Go(func() error {
			defer func() { panics[i] = recover() }()
			return f()
		})
	}
	err := g.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p)
		}
	}
	return err
}
