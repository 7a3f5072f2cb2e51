package queries

import (
	"cmp"
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"

	"stackmill/queries/verify"
	"stackmill/schema/storedir"
)

// dataViews are the views about data objects, and those with sums over them.
var dataViews = []string{"data_object_metrics", "data_layout", "data_object_functions", "memory_objects", "conservation"}

// verifyBatches verifies batches on all processors. It returns, as batches with all others hidden,
// the experiments that could not be verified, and those with only data objects left to verify.
func (p *CheckReport) verifyBatches(ctx context.Context, store string, batches []storedir.Batch, o CheckOptions) (open, ofData []storedir.Batch, err error) {
	jobs := max(cmp.Or(o.Limits.Threads, runtime.GOMAXPROCS(0)), 1)
	memory := cmp.Or(o.Limits.Memory, checkMemory) / int64(jobs) / 2
	doubts := make([][]verify.Doubt, len(batches))
	shown := &gauge{show: func(done, total int) { o.Progress("sums", done, total) }, total: len(experimentsOf(batches))}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(jobs)
	for i := range batches {
		g.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			found, err := verify.Batch(ctx, store, &batches[i], memory, shown.add)
			if err != nil && (ctx.Err() != nil || isInconclusive(err)) {
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
	for i, b := range batches {
		doubted, data := map[string]bool{}, map[string]bool{}
		for _, d := range doubts[i] {
			if d.Err == verify.ErrData {
				data[d.ExperimentID] = true
				continue
			}
			doubted[d.ExperimentID] = true
			p.Doubted = append(p.Doubted, Finding{d.ExperimentID, d.Err.Error()})
		}
		if part, ok := showOnly(b, doubted); ok {
			open = append(open, part)
		}
		if part, ok := showOnly(b, data); ok {
			ofData = append(ofData, part)
		}
	}
	return open, ofData, nil
}
