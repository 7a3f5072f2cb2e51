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

// filling is a batch of the store in the making: the experiments of a group of inputs,
// in the inputs' order. They are read side by side, and what the batch has of others is
// looked at and added to by one at a time, in its turn.
type filling struct {
	*ingest
	group   []int        // the inputs' numbers
	batch   *write.Batch // nil until it has an experiment
	broken  bool         // an experiment's rows may be there in part
	err     error        // why the batch cannot be committed, whatever it has
	lists   *listing.Book
	entries []storedir.Entry
	numbers []int   // the inputs' numbers, by entry
	shelves shelves // of the batches that experiments are read from
}

// place is that of an input in a batch.
type place struct {
	*filling
	number int          // the input's
	turn   ordered.Turn // comes when all inputs before it are in, or will not be
}

// begin begins the batch of a group. It returns the places of its inputs.
func (in *ingest) begin(group []int) []*place {
	f := &filling{ingest: in, group: group, lists: listing.NewBook(), shelves: shelves{store: in.Store}}
	var list []*place
	for i, turn := range ordered.NewTurns(len(group)) {
		list = append(list, &place{f, group[i], turn})
	}
	return list
}

// shared reports whether several inputs share the batch.
func (f *filling) shared() bool { return len(f.group) > 1 }

// fill reads an input for the batch. When the last one is in, it commits the batch and
// returns the inputs that are to be read again alone.
func (p *place) fill(ctx context.Context, inputs []input, results []Result) (crowded []int) {
	err := ordered.Guard(func() error {
		if p.number == p.group[0] {
			if err := p.refresh(); err != nil {
				return err
			}
		}
		results[p.number] = p.each(ctx, inputs[p.number], p)
		return nil
	})
	<-p.turn.Come()
	if err != nil {
		p.err = err
	}
	if last := p.turn.End(); !last {
		return nil
	}
	return p.end(inputs, results)
}

// end commits what was read of the group. It returns the inputs that are to be read again
// alone.
func (f *filling) end(inputs []input, results []Result) (crowded []int) {
	err := f.err
	if err == nil {
		err = ordered.Guard(func() error { return f.commit(results) })
	}
	f.abort()
	f.shelves.close()
	if err != nil {
		f.lost(results, err)
	}
	for _, i := range f.group {
		r := &results[i]
		switch {
		case err != nil && r.Path == "":
			*r = Result{Path: inputs[i].path, Status: Aborted, Err: err}
		case errors.Is(r.Err, errCrowded):
			crowded = append(crowded, i)
			continue
		}
		if err := ordered.Guard(func() error { f.finished(r); return nil }); err != nil {
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
		if f.shared() {
			r.Status, r.Err = Aborted, errBroken
		}
		results[i] = r
	}
}

// beginBatch begins a batch of the store.
func (in *ingest) beginBatch(to **write.Batch) (err error) {
	if *to, err = write.Begin(in.Store); err == nil && in.begun != nil {
		in.begun()
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
// its lists. It is the turn of its input.
func (p *place) add(entry storedir.Entry, batch *write.Batch, rows *held, lists *listing.Draft) (err error) {
	if p.broken {
		return errBroken
	}
	p.broken = true // unless it comes to its end
	if p.batch == nil {
		if p.batch = batch; batch == nil {
			err = p.beginBatch(&p.batch)
		}
	}
	if err == nil && rows != nil {
		err = rows.pass(p.batch.Write)
	}
	if err != nil {
		return storeFault(err)
	}
	lists.Keep()
	p.entries, p.numbers = append(p.entries, entry), append(p.numbers, p.number)
	p.broken = false
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
		c.Batch = name
		f.Committing(c)
	}
	began := time.Now()
	err := f.batch.Commit(name, c)
	each := time.Since(began) / time.Duration(max(1, len(f.numbers)))
	for _, i := range f.numbers {
		results[i].add(writeStage, each)
		results[i].Batch = name
	}
	if err == nil {
		f.committed(name)
		return nil
	}
	if errors.Is(err, storedir.ErrExists) {
		if err = f.learn(name); err == nil || errors.Is(err, fs.ErrNotExist) { // or replaced meanwhile
			for _, i := range f.numbers {
				results[i].skip()
			}
			return nil
		}
	}
	err = storeFault(err)
	if f.faults.add(err) {
		f.stop(err)
	}
	for _, i := range f.numbers {
		results[i].gone(Aborted, err)
	}
	return nil
}

// committed adds a batch that is in to a snapshot of the store, which no refresh does.
func (in *ingest) committed(batch string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.store.IsSnapshot() {
		_ = in.store.Learn(batch) // else it is put in twice, of which one counts
	}
}

// learn reads the commit of a batch.
func (in *ingest) learn(batch string) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.store.Learn(batch)
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
