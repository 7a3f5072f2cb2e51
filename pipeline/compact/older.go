package compact

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/schema"
	"stackmill/schema/storedir"
	"stackmill/stages/write"
)

// Older reads batches of schema.OlderVersions, with the current columns.
type Older interface {
	// Rows emits the rows of a table that belong to experiments of a batch. They come in the order
	// of the batch's file or, if that lacks some of the columns, sorted by the columns of order.
	Rows(ctx context.Context, t *schema.Table, b *storedir.Batch, ids, order []string, emit func(arrow.RecordBatch) error) error
	Close() error
}

// rewrite writes each batch of an older format again. It commits each rewritten batch at once, so
// that after an error the next call continues with the batch that failed.
func (r *run) rewrite(ctx context.Context) error {
	var older []*storedir.Batch
	for i := range r.contents.Batches {
		if b := &r.contents.Batches[i]; schema.IsOlder(b.StoreVersion) {
			older = append(older, b)
		}
	}
	if len(older) == 0 {
		return nil
	}
	for _, b := range older { // the views read all batches' files
		if err := storedir.Fetch(r.Store, b.Files); err != nil {
			return err
		}
	}
	from, err := r.Older(ctx, older)
	if err != nil {
		return err
	}
	defer from.Close()
	r.total += bytesOf(older)
	for _, b := range older {
		err := r.verify(ctx, []*storedir.Batch{b})
		if errors.Is(err, errSkipped) {
			return fmt.Errorf("batch %s of store format %s is damaged: it cannot be rewritten (run `stackmill check` of the release that wrote it)", b.Batch, b.StoreVersion)
		}
		if err == nil {
			err = r.rewriteBatch(ctx, from, b)
		}
		if err != nil && !errors.Is(err, storedir.ErrExists) { // another program has rewritten it
			return fmt.Errorf("batch %s of store format %s: %w", b.Batch, b.StoreVersion, err)
		}
		r.summary.Rewritten++
		r.progress(bytesOf([]*storedir.Batch{b}))
	}
	return r.contents.Refresh()
}

// rewriteBatch writes a batch again, as a merge of this batch only.
func (r *run) rewriteBatch(ctx context.Context, from Older, b *storedir.Batch) error {
	m := newMerge(r.Options, []*storedir.Batch{b})
	ids := make([]string, len(m.entries))
	for i := range m.entries {
		ids[i] = m.entries[i].ExperimentID
	}
	c := storedir.Commit{Ingested: time.Now().UTC().Truncate(time.Second), Program: r.Program, Experiments: m.entries, Replaces: []string{b.Batch}}
	name := r.contents.MergedName(c.Replaces, m.entries)
	to, err := write.BeginMerged(r.Store, name)
	if err != nil {
		return err
	}
	defer to.Abort()
	for _, t := range schema.Tables {
		order := t.Key
		switch t {
		case schema.FunctionSums: // which the new batch computes itself
			continue
		case schema.FunctionRollup:
			order = rollupOrder
		}
		err := from.Rows(ctx, t, b, ids, order, func(rows arrow.RecordBatch) error { return to.Write(t, rows) })
		if err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
	}
	return to.Commit(name, c)
}
