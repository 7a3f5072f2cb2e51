// Package verify checks the invariants of a store's views without SQL, from the files of a batch.
// Keys, lists, structure and sums of samples are checked by its own code. For values it uses
// stages/attribute, which computes them from the stored stacks, as at ingest. It reads one
// experiment after the other, so it needs less time and memory than SQL needs for all together.
//
// It is stricter than the invariants: it expects rows in the order in which they are written. What
// it verifies is correct. What it cannot verify may be correct, too: the invariants decide.
//
// Start reading with Batch.
package verify

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"stackmill/schema"
	"stackmill/schema/parquetfile/rowreader"
	"stackmill/schema/storedir"
	"stackmill/stages/structure"
)

// Doubt says why an experiment could not be verified.
type Doubt struct {
	ExperimentID string
	Err          error
}

// ErrData is the reason if everything in an experiment is verified except its data objects.
var ErrData = errors.New("it has data objects")

// ErrTraced is the reason if everything in an experiment is verified except its waits, states of
// threads, fields of tracepoints and counts.
var ErrTraced = errors.New("it has waits, fields of tracepoints or counts")

// Batch verifies the visible experiments of a batch. An experiment that needs more than `memory`
// bytes is not verified. Batch calls progress after each.
func Batch(ctx context.Context, store string, b *storedir.Batch, memory int64, progress func()) (doubts []Doubt, err error) {
	defer func() {
		if r := recover(); r != nil { // damaged files can make the readers panic
			doubts, err = All(b, fmt.Errorf("%v", r)), nil
		}
	}()
	p := &batch{memory: memory, cursors: map[string]*cursor{}, one: newExperiment()}
	defer p.close()
	if err := p.open(store, b); err != nil {
		return nil, err
	}
	files, closeAll := structure.OpenBatch(store, b)
	defer closeAll()
	entries, visible := map[int64]*storedir.Entry{}, map[int64]bool{}
	for i := range b.Experiments {
		entries[hash(b.Experiments[i].ExperimentID)] = &b.Experiments[i]
	}
	for e := range b.Visible {
		visible[hash(e.ExperimentID)] = true
	}
	if p.rollupDigest, err = p.rollup(); err != nil {
		return nil, err
	}
	if p.lists, err = p.shared(); err != nil {
		return nil, err
	}
	ids, err := p.order()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		e := entries[id]
		if e == nil {
			return All(b, errors.New("there are rows of an experiment that the commit does not name")), nil
		}
		err := p.experiment(id, e, visible[id], files)
		var read *readError
		switch {
		case errors.As(err, &read):
			return nil, read.error
		case err != nil && visible[id]:
			doubts = append(doubts, Doubt{e.ExperimentID, err})
		}
		delete(visible, id)
		progress()
	}
	if left, err := p.left(); err != nil || left != nil {
		return All(b, left), err
	}
	if len(visible) > 0 {
		return All(b, errors.New("an experiment has no row")), nil
	}
	return doubts, nil
}

// All returns a doubt about each visible experiment of a batch.
func All(b *storedir.Batch, err error) (doubts []Doubt) {
	for e := range b.Visible {
		doubts = append(doubts, Doubt{e.ExperimentID, err})
	}
	return doubts
}

// readError means that a file could not be read.
type readError struct{ error }

type batch struct {
	memory       int64
	cursors      map[string]*cursor
	one          *experiment
	rollupDigest map[int64]digest // of function_rollup, by experiment
	lists        *lists
}

func (p *batch) open(store string, b *storedir.Batch) error {
	for _, f := range b.Files {
		t := schema.ByName(f.Table)
		if t == nil || p.cursors[f.Table] != nil {
			return fmt.Errorf("%s: table %q is unknown or has a second file", f.Path, f.Table)
		}
		if t == schema.FunctionSums { // it has no rows of a single experiment
			continue
		}
		path := filepath.Join(store, filepath.FromSlash(f.Path))
		c, err := open(path, t, columnsOf(t))
		if err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		p.cursors[f.Table] = c
	}
	return nil
}

func (p *batch) close() {
	for _, c := range p.cursors {
		c.close()
	}
}

// order returns the ids of the experiments, in the order of their rows.
func (p *batch) order() (ids []int64, err error) {
	c := p.cursors[schema.Experiments.Name]
	if c == nil {
		return nil, nil
	}
	again, err := open(c.path, c.table, c.columns[:1])
	if err != nil {
		return nil, err
	}
	defer again.close()
	for {
		if done, err := again.done(); done || err != nil {
			return ids, err
		}
		ids = append(ids, again.block.values[0][:again.block.n]...)
		again.at = again.block.n
	}
}

// left returns an error if there are rows that belong to no experiment. err is an error of reading.
func (p *batch) left() (found, err error) {
	for name, c := range p.cursors {
		done, err := c.done()
		if err != nil {
			return nil, err
		}
		if !done {
			return fmt.Errorf("%s: rows are not in the order of experiments", name), nil
		}
	}
	return nil, nil
}

// experiment reads one experiment and verifies it if it is visible.
func (p *batch) experiment(id int64, e *storedir.Entry, visible bool, files *rowreader.Files) error {
	x := p.one
	x.reset(e, p.rollupDigest[id], p.lists)
	var large error
	for _, t := range schema.Tables {
		c := p.cursors[t.Name]
		if c == nil || streamedTables[t] || t == schema.FunctionRollup || t.Links != nil {
			continue
		}
		fits, err := p.load(c, id, x.rows[t])
		if err != nil {
			return &readError{err}
		}
		if !fits {
			large = fmt.Errorf("%s: more rows than fit in memory", t.Name)
		}
	}
	x.tables = files.Tables(e.ExperimentID)
	x.next = func(t *schema.Table, into *rows) error {
		into.clear()
		if c := p.cursors[t.Name]; c != nil {
			if err := c.take(id, into, blockRows); err != nil {
				return &readError{err}
			}
		}
		return nil
	}
	err := large
	switch {
	case !visible || large != nil:
	case e.Status == storedir.Summary: // nothing else is visible
		err = x.checkExperiment()
	default:
		if err = x.checkModes(); err == nil {
			err = x.check()
		}
	}
	if skipped := x.skip(); skipped != nil {
		return skipped
	}
	return err
}

// load reads all rows of an experiment in a table. fits is false if they exceed the memory.
func (p *batch) load(c *cursor, id int64, r *rows) (fits bool, err error) {
	most := max(int(p.memory/int64(8*len(c.columns))/3), blockRows) // not all tables are large
	err = c.take(id, r, most)
	fits = r.n < most
	for err == nil && !fits && r.n > 0 {
		r.clear()
		err = c.take(id, r, blockRows)
	}
	return fits, err
}
