package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/schema"
	"stackmill/stages/listing"
	"stackmill/stages/write"
	"stackmill/storedir"
)

// filling is a batch of the store in the making: the experiments of a group of inputs,
// in the inputs' order. One goroutine fills it.
type filling struct {
	*ingest
	shared  bool         // by several inputs
	batch   *write.Batch // nil until it has an experiment
	broken  bool         // an experiment's rows may be there in part
	lists   *listing.Book
	entries []storedir.Entry
	numbers []int  // the inputs' numbers, by entry
	shelf   *shelf // of the batch that experiments are read from; nil before the first
}

// fill reads the inputs of a group, given by their numbers, and commits them. It returns
// those that are to be read again alone.
func (in *ingest) fill(ctx context.Context, inputs []input, group []int, results []Result) (crowded []int) {
	f := &filling{ingest: in, shared: len(group) > 1, lists: listing.NewBook()}
	err := guarded(func() error {
		if err := in.refresh(); err != nil {
			return err
		}
		for _, i := range group {
			before := len(f.entries)
			results[i] = in.each(ctx, inputs[i], f)
			if len(f.entries) > before {
				f.numbers = append(f.numbers, i)
			}
		}
		return f.commit(results)
	})
	f.abort()
	if f.shelf != nil {
		f.shelf.close()
	}
	if err != nil {
		f.lost(results, err)
	}
	for _, i := range group {
		r := &results[i]
		switch {
		case err != nil && r.Path == "":
			*r = Result{Path: inputs[i].path, Status: Aborted, Err: err}
		case errors.Is(r.Err, errCrowded):
			crowded = append(crowded, i)
			continue
		}
		if err := guarded(func() error { in.finished(r); return nil }); err != nil {
			*r = Result{Path: r.Path, Status: Failed, Err: err}
		}
	}
	return crowded
}

// lost corrects the results of what was read when a mistake of ours kept the batch from
// being committed: what shared it is read again alone.
func (f *filling) lost(results []Result, err error) {
	for _, i := range f.numbers {
		r := Result{Path: results[i].Path, Status: Failed, Err: err}
		if f.shared {
			r.Status, r.Err = Aborted, errBroken
		}
		results[i] = r
	}
}

// beginBatch begins a batch of the store.
func (in *ingest) beginBatch(to **write.Batch) (err error) {
	if *to, err = write.Begin(in.Store); err == nil && in.Begun != nil {
		in.Begun()
	}
	return storeFault(err)
}

// refresh looks for what other programs have committed.
func (in *ingest) refresh() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if err := in.store.Refresh(); !errors.Is(err, storedir.ErrNoStore) {
		return err
	}
	return nil
}

// errBroken says that an experiment is to be read again alone, since another one of its
// batch could not be written to its end.
var errBroken = fmt.Errorf("%w: another one of its batch could not be written", errCrowded)

// add adds the rows of an experiment, which waited in memory if the batch is shared, and
// its lists.
func (f *filling) add(entry storedir.Entry, batch *write.Batch, rows *held, lists *listing.Draft) (err error) {
	if f.broken {
		return errBroken
	}
	f.broken = true // unless it comes to its end
	if f.batch == nil {
		if f.batch = batch; batch == nil {
			err = f.beginBatch(&f.batch)
		}
	}
	if err == nil && rows != nil {
		err = rows.pass(f.batch.Write)
	}
	if err != nil {
		return storeFault(err)
	}
	lists.Keep()
	f.entries = append(f.entries, entry)
	f.broken = false
	return nil
}

// commit makes the batch exist. If that fails, none of its experiments is in the store;
// those that another program has committed meanwhile are skipped.
func (f *filling) commit(results []Result) error {
	if f.broken {
		f.lost(results, errBroken)
		return nil
	}
	if len(f.entries) == 0 {
		return nil
	}
	name := f.name()
	c := storedir.Commit{Ingested: time.Now().UTC().Truncate(time.Second), Program: f.Program, Experiments: f.entries}
	if f.Committing != nil {
		f.Committing(f.batch.Expected(name, c))
	}
	began := time.Now()
	err := f.batch.Commit(name, c)
	each := time.Since(began) / time.Duration(max(1, len(f.numbers)))
	for _, i := range f.numbers {
		results[i].add(writeStage, each)
		results[i].Batch = name
	}
	if err == nil {
		return nil
	}
	exists := errors.Is(err, storedir.ErrExists)
	if !exists {
		err = storeFault(err)
		if f.faults.add(err) {
			f.stop(err)
		}
	}
	for _, i := range f.numbers {
		if r := &results[i]; exists {
			r.skip()
		} else {
			r.gone(Aborted, err)
		}
	}
	return nil
}

// name returns the batch's.
func (f *filling) name() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.store.Name(f.entries)
}

// abort gives up a batch, unless it was committed.
func (f *filling) abort() {
	if f.batch != nil {
		f.batch.Abort()
	}
}

// held are the rows of an experiment that wait until all of it was read: a batch that is
// shared has whole experiments only.
type held struct {
	mu     sync.Mutex
	tables map[*schema.Table][]arrow.RecordBatch
	n      int64 // rows
}

func newHeld() *held { return &held{tables: map[*schema.Table][]arrow.RecordBatch{}} }

// write keeps rows.
func (h *held) write(t *schema.Table, rows arrow.RecordBatch) error {
	rows.Retain()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tables[t] = append(h.tables[t], rows)
	h.n += rows.NumRows()
	return nil
}

// written counts the rows.
func (h *held) written() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.n
}

// pass passes the rows on, table by table.
func (h *held) pass(to func(*schema.Table, arrow.RecordBatch) error) error {
	for _, t := range schema.Tables {
		for _, rows := range h.tables[t] {
			if err := to(t, rows); err != nil {
				return fmt.Errorf("table %s: %w", t.Name, err)
			}
		}
	}
	return nil
}

// close gives the rows up.
func (h *held) close() error {
	for _, list := range h.tables {
		for _, rows := range list {
			rows.Release()
		}
	}
	clear(h.tables)
	return nil
}
