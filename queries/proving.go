package queries

import (
	"cmp"
	"context"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"stackmill/queries/verify"
	"stackmill/schema/storedir"
)

// dataViews are the views about data objects, and those with sums over them.
var dataViews = []string{"data_object_metrics", "data_layout", "data_object_functions", "memory_objects", "conservation"}

func aboutData(view string) bool { return slices.Contains(dataViews, view) }

// proveBatches proves batches on all processors. It returns those experiments, as batches
// in which others are hidden, that are not proved, and those of which all is proved but
// what is about data objects.
func (p *Proof) proveBatches(ctx context.Context, store string, batches []storedir.Batch, o CheckOptions) (open, ofData []storedir.Batch, err error) {
	jobs := max(cmp.Or(o.Limits.Threads, runtime.GOMAXPROCS(0)), 1)
	memory := cmp.Or(o.Limits.Memory, checkMemory) / int64(jobs) / 2
	doubts := make([][]verify.Doubt, len(batches))
	shown := newGauge(func(done, total int) { o.Progress("sums", done, total) }, len(experimentsOf(batches)))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(jobs)
	for i := range batches {
		g.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			found, err := verify.Batch(ctx, store, &batches[i], memory, shown.add)
			if err != nil && (ctx.Err() != nil || undone(err)) {
				return err
			}
			if err != nil {
				found = verify.All(&batches[i], err)
			}
			doubts[i] = found
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, err
	}
	for i := range batches {
		for _, d := range doubts[i] {
			if d.Err != verify.ErrData {
				p.Doubted = append(p.Doubted, Finding{d.ExperimentID, d.Err.Error()})
			}
		}
		open = append(open, only(batches[i], doubts[i], func(err error) bool { return err != verify.ErrData })...)
		ofData = append(ofData, only(batches[i], doubts[i], func(err error) bool { return err == verify.ErrData })...)
	}
	return open, ofData, nil
}

// only returns the batch with those experiments alone that some doubts are about, or none.
func only(b storedir.Batch, doubts []verify.Doubt, about func(error) bool) []storedir.Batch {
	keep := map[string]bool{}
	for _, d := range doubts {
		if about(d.Err) {
			keep[d.ExperimentID] = true
		}
	}
	if len(keep) == 0 {
		return nil
	}
	hidden := slices.Clone(b.Hidden)
	for e := range b.Visible {
		if !keep[e.ExperimentID] {
			hidden = append(hidden, e.ExperimentID)
		}
	}
	slices.Sort(hidden)
	b.Hidden = hidden
	return []storedir.Batch{b}
}
