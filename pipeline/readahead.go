package pipeline

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"golang.org/x/sync/errgroup"

	"stackmill/internal/hosterr"
	"stackmill/schema"
	"stackmill/stages/decode"
)

// eventsAhead bounds how many batches of events may wait for the stages.
const eventsAhead = 2

// aheadReader decodes further events while the stages have those before.
type aheadReader struct {
	decode.EventReader
	ctx     context.Context
	cancel  context.CancelFunc     // nil if there is but one batch, as batches
	begun   bool                   // the first batch was read
	batches chan arrow.RecordBatch // the further ones
	group   errgroup.Group
}

// readAhead returns a reader of the same events, which it takes over. It adds no
// goroutine for what fills less than half a batch: many processes have few events.
func readAhead(ctx context.Context, events decode.EventReader) decode.EventReader {
	return &aheadReader{EventReader: events, ctx: ctx}
}

// Next implements decode.EventReader. A panic of the decoder is the error.
func (r *aheadReader) Next() (arrow.RecordBatch, error) {
	if r.batches != nil {
		if b, ok := <-r.batches; ok {
			return b, nil
		}
		return nil, r.group.Wait()
	}
	b, err := r.EventReader.Next()
	if !r.begun && b != nil && b.NumRows() >= schema.BatchRows/2 {
		r.batches = make(chan arrow.RecordBatch, eventsAhead)
		r.ctx, r.cancel = context.WithCancel(r.ctx)
		r.group.Go(r.read)
	}
	r.begun = true
	return b, err
}

// read hands over batches until the end of the events or of the context.
func (r *aheadReader) read() error {
	defer close(r.batches)
	return guarded(func() error {
		for {
			b, err := r.EventReader.Next()
			if b == nil || err != nil {
				return err
			}
			select {
			case r.batches <- b:
			case <-r.ctx.Done():
				b.Release()
				return hosterr.New(context.Cause(r.ctx))
			}
		}
	})
}

// Close implements decode.EventReader. It waits for the decoder.
func (r *aheadReader) Close() {
	if r.batches != nil {
		r.cancel()
		for b := range r.batches {
			b.Release()
		}
		_ = r.group.Wait() // Next has returned the error, or nobody asked
	}
	r.EventReader.Close()
}
