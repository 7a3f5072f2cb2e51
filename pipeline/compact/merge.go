package compact

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"stackmill/internal/ordered"
	"stackmill/schema"
	"stackmill/schema/storedir"
	"stackmill/stages/write"
)

// merge is the merge of some batches into one.
type merge struct {
	*Options
	batches []*storedir.Batch
	entries []storedir.Entry // the visible experiments, sorted by id as their rows will be
	ranks   []ranks          // the ranks of each batch
	lists   lists
	to      *write.Batch
}

// ranks holds the rank of each visible experiment of a batch: its position in the new files.
type ranks struct {
	of        map[string]int32
	summaries map[string]bool // experiments with visible rows in some tables only
}

// in returns the rank of an experiment; -1 if its rows in the table must be dropped.
func (r *ranks) in(t *schema.Table, id string) int32 {
	rank, counts := r.of[id]
	if !counts || r.summaries[id] && !t.Summary {
		return -1
	}
	return rank
}

// newMerge prepares the merge of batches.
func newMerge(o *Options, batches []*storedir.Batch) *merge {
	m := &merge{Options: o, batches: batches}
	for _, b := range batches {
		for e := range b.Visible {
			entry := *e
			entry.Ingested = e.IngestedAt(b.Ingested)
			m.entries = append(m.entries, entry)
		}
	}
	slices.SortFunc(m.entries, func(a, b storedir.Entry) int { return strings.Compare(a.ExperimentID, b.ExperimentID) })
	places := map[string]int32{}
	for i := range m.entries {
		places[m.entries[i].ExperimentID] = int32(i)
	}
	for _, b := range batches {
		own := ranks{map[string]int32{}, map[string]bool{}}
		for e := range b.Visible {
			own.of[e.ExperimentID] = places[e.ExperimentID]
		}
		for _, id := range b.Summaries {
			own.summaries[id] = true
		}
		m.ranks = append(m.ranks, own)
	}
	return m
}

// files returns the files of a table.
func (m *merge) files(t *schema.Table) (list []source) {
	for i, b := range m.batches {
		for _, f := range b.Files {
			if f.Table == t.Name {
				list = append(list, source{f, i, &m.ranks[i]})
			}
		}
	}
	return list
}

// run writes the new batch and commits it.
func (m *merge) run(ctx context.Context, contents *storedir.Contents) (c storedir.Commit, err error) {
	c = storedir.Commit{Ingested: time.Now().UTC().Truncate(time.Second), Program: m.Program, Experiments: m.entries}
	for _, b := range m.batches {
		c.Replaces = append(c.Replaces, b.Batch)
	}
	slices.Sort(c.Replaces)
	name := contents.MergedName(c.Replaces, m.entries)
	if m.to, err = write.BeginMerged(m.Store, name); err != nil {
		return c, err
	}
	defer m.to.Abort()
	if err := m.tables(ctx); err != nil {
		return c, err
	}
	return c, m.to.Commit(name, c)
}

// tables merges the link tables first, one after the other, because they number the shared lists.
// It then merges all other tables, several at a time, the largest first.
func (m *merge) tables(ctx context.Context) error {
	if err := guarded(func() error { return m.findLists(ctx) }); err != nil {
		return err
	}
	for _, t := range schema.Tables {
		if isLink(t) {
			if err := m.table(ctx, t); err != nil {
				return err
			}
		}
	}
	tables := slices.DeleteFunc(m.largestFirst(), func(t *schema.Table) bool {
		return isLink(t) || t == schema.FunctionSums // function sums are computed anew
	})
	return ordered.ForEach(ctx, len(tables), max(1, m.Jobs), func(ctx context.Context, i int) error { return m.table(ctx, tables[i]) })
}

// table merges the rows of a table.
func (m *merge) table(ctx context.Context, t *schema.Table) error {
	return guarded(func() error {
		table := &tableMerge{merge: m, table: t, known: make([]texts, len(t.Columns))}
		if t == schema.FunctionRollup {
			return table.rollup(ctx)
		}
		return table.sorted(ctx)
	})
}

// largestFirst returns the tables that have files.
func (m *merge) largestFirst() (list []*schema.Table) {
	bytes := map[*schema.Table]int64{}
	for _, t := range schema.Tables {
		for _, f := range m.files(t) {
			bytes[t] += f.Bytes
		}
		if bytes[t] > 0 {
			list = append(list, t)
		}
	}
	slices.SortStableFunc(list, func(s, t *schema.Table) int { return cmp.Compare(bytes[t], bytes[s]) })
	return list
}

// guarded runs f, and returns its panic as an error that shows the stack.
func guarded(f func() error) error {
	err := ordered.Guard(f)
	if p, ok := err.(*ordered.Panic); ok {
		return fmt.Errorf("%w\n%s", p, p.Stack)
	}
	return err
}
