package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/internal/ordered"
	"stackmill/schema"
	"stackmill/schema/storedir"
	"stackmill/stages/listing"
	"stackmill/stages/write"
)

// batchBuilder builds one batch of the store from a group of inputs. The inputs are read side by
// side; each then adds its rows in its turn, so that the batch has them in the inputs' order.
type batchBuilder struct {
	in      *ingest
	group   []int        // numbers of the inputs
	batch   *write.Batch // nil until it has an experiment
	broken  bool         // the rows of an experiment may be incomplete
	err     error        // why the batch cannot be committed
	lists   *listing.Registry
	entries []storedir.Entry
	numbers []int      // number of the input from which each of entries comes
	readers readerPool // readers of the batches that resymbolize reads
}

// slot is the place of an input in its batch: the input adds its rows when its turn comes.
type slot struct {
	builder *batchBuilder
	number  int          // the input's index
	turn    ordered.Turn // comes when all inputs before it have been added or given up
}

// begin returns the slots of a new batch, one per input of the group.
func (in *ingest) begin(group []int) []*slot {
	f := &batchBuilder{in: in, group: group, lists: listing.NewRegistry(), readers: readerPool{store: in.options.Store}}
	var list []*slot
	for i, turn := range ordered.NewTurns(len(group)) {
		list = append(list, &slot{f, group[i], turn})
	}
	return list
}

// shared reports whether several inputs share the batch.
func (f *batchBuilder) shared() bool { return len(f.group) > 1 }

// fill reads an input for the batch. The call for the last input also commits the batch, and
// returns the inputs to read again, each for a batch of its own.
func (p *slot) fill(ctx context.Context, inputs []input, results []Result) (retries []int) {
	err := ordered.Guard(func() error {
		if p.number == p.builder.group[0] {
			if err := p.builder.in.store.refresh(); err != nil {
				return err
			}
		}
		results[p.number] = p.builder.in.read(ctx, inputs[p.number], p)
		return nil
	})
	<-p.turn.Come()
	if err != nil {
		p.builder.err = err
	}
	if last := p.turn.End(); !last {
		return nil
	}
	return p.builder.end(inputs, results)
}

// end commits the batch. It returns the inputs to read again, each for a batch of its own.
func (f *batchBuilder) end(inputs []input, results []Result) (retries []int) {
	err := f.err
	if err == nil {
		err = ordered.Guard(func() error { return f.commit(results) })
	}
	f.abort()
	f.readers.close()
	if err != nil {
		f.lost(results, err)
	}
	for _, i := range f.group {
		r := &results[i]
		switch {
		case err != nil && r.Path == "":
			*r = Result{Path: inputs[i].path, Status: Aborted, Err: err}
		case errors.Is(r.Err, errMemoryShared):
			retries = append(retries, i)
			continue
		}
		if err := ordered.Guard(func() error { f.in.finished(r); return nil }); err != nil {
			*r = Result{Path: r.Path, Status: Failed, Err: err}
		}
	}
	return retries
}

// lost sets the results of inputs whose batch cannot be committed because of a bug. If several
// inputs share the batch, their results say Aborted and errBroken: each is read again, alone.
func (f *batchBuilder) lost(results []Result, err error) {
	for _, i := range f.numbers {
		r := Result{Path: results[i].Path, Status: Failed, Err: err}
		if f.shared() {
			r.Status, r.Err = Aborted, errBroken
		}
		results[i] = r
	}
}

// beginBatch begins a batch of the store.
func (in *ingest) beginBatch() (*write.Batch, error) {
	if in.options.begun != nil {
		in.options.begun()
	}
	b, err := write.Begin(in.options.Store)
	return b, storeFault(err)
}

// errBroken marks inputs to read again, each alone: the rows of another input of their batch were
// written incompletely.
var errBroken = fmt.Errorf("%w: another recording of its batch could not be written", errMemoryShared)

// add adds the rows and lists of an experiment, in the turn of its input. Rows wait in memory if
// the batch is shared.
func (p *slot) add(entry storedir.Entry, batch *write.Batch, rows *rowBuffer, lists *listing.Draft) (err error) {
	if p.builder.broken {
		return errBroken
	}
	p.builder.broken = true // until all rows are written
	if p.builder.batch == nil {
		if p.builder.batch = batch; batch == nil {
			p.builder.batch, err = p.builder.in.beginBatch()
		}
	}
	if err == nil && rows != nil {
		err = rows.pass(p.builder.batch.Write)
	}
	if err != nil {
		return storeFault(err)
	}
	lists.Commit()
	p.builder.entries, p.builder.numbers = append(p.builder.entries, entry), append(p.builder.numbers, p.number)
	p.builder.broken = false
	return nil
}

// commit commits the batch. If that fails, none of its experiments is in the store. If another
// program has committed a batch of this name meanwhile, the inputs' results become Skipped.
func (f *batchBuilder) commit(results []Result) error {
	if f.broken {
		f.lost(results, errBroken)
		return nil
	}
	if len(f.entries) == 0 {
		return nil
	}
	name := f.in.store.newName(f.entries)
	c := storedir.Commit{Ingested: time.Now().UTC().Truncate(time.Second), Program: f.in.options.Program, Experiments: f.entries}
	if f.in.options.Committing != nil {
		c.Batch = name
		f.in.options.Committing(c)
	}
	began := time.Now()
	err := f.batch.Commit(name, c)
	each := time.Since(began) / time.Duration(max(1, len(f.numbers)))
	for _, i := range f.numbers {
		results[i].add(writeStage, each)
		results[i].Batch = name
	}
	if err == nil {
		f.in.store.committed(name)
		return nil
	}
	if errors.Is(err, storedir.ErrExists) {
		if err = f.in.store.learn(name); err == nil || errors.Is(err, fs.ErrNotExist) { // it was replaced meanwhile
			for _, i := range f.numbers {
				results[i].skip()
			}
			return nil
		}
	}
	err = storeFault(err)
	if f.in.faults.add(err) {
		f.in.stop(err)
	}
	for _, i := range f.numbers {
		results[i].discard(Aborted, err)
	}
	return nil
}

// abort removes the batch, unless it was committed.
func (f *batchBuilder) abort() {
	if f.batch != nil {
		f.batch.Abort()
	}
}

// rowBuffer holds the rows of an experiment until it was read to the end, because a shared batch
// contains whole experiments only.
type rowBuffer struct {
	mu     sync.Mutex
	tables map[*schema.Table][]arrow.RecordBatch
	n      int64 // number of rows
}

func newRowBuffer() *rowBuffer { return &rowBuffer{tables: map[*schema.Table][]arrow.RecordBatch{}} }

// write appends rows.
func (h *rowBuffer) write(t *schema.Table, rows arrow.RecordBatch) error {
	rows.Retain()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tables[t] = append(h.tables[t], rows)
	h.n += rows.NumRows()
	return nil
}

// written returns the number of rows.
func (h *rowBuffer) written() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.n
}

// pass passes the rows on, table by table.
func (h *rowBuffer) pass(to func(*schema.Table, arrow.RecordBatch) error) error {
	for _, t := range schema.Tables {
		for _, rows := range h.tables[t] {
			if err := to(t, rows); err != nil {
				return fmt.Errorf("table %s: %w", t.Name, err)
			}
		}
	}
	return nil
}

// close releases the rows.
func (h *rowBuffer) close() error {
	for _, list := range h.tables {
		for _, rows := range list {
			rows.Release()
		}
	}
	clear(h.tables)
	return nil
}
