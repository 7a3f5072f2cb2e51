package pipeline

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/internal/hosterr"
	"stackmill/internal/ordered"
	"stackmill/schema"
	"stackmill/stages/decode"
)

// eventsAhead bounds how many batches of events may wait for the stages.
const eventsAhead = 2

// readAhead decodes further events while the stages process the earlier ones.
type readAhead struct {
	decode.EventReader
	ctx   context.Context
	begun bool                                 // the first batch was read
	rest  *ordered.Producer[arrow.RecordBatch] // the further ones; nil if the first one is the only one
}

// newReadAhead returns a reader that decodes ahead, and closes events in Close. It does not decode
// ahead if the first batch is less than half full: many processes have few events.
func newReadAhead(ctx context.Context, events decode.EventReader) decode.EventReader {
	return &readAhead{EventReader: events, ctx: ctx}
}

// Next implements decode.EventReader. A panic of the decoder is the error.
func (r *readAhead) Next() (arrow.RecordBatch, error) {
	if r.rest != nil {
		b, _, err := r.rest.Next()
		if cause := context.Cause(r.ctx); cause != nil && errors.Is(err, cause) {
			err = hosterr.New(err)
		}
		return b, err
	}
	b, err := r.EventReader.Next()
	if !r.begun && b != nil && b.NumRows() >= schema.BatchRows/2 {
		next := func() (arrow.RecordBatch, bool, error) {
			b, err := r.EventReader.Next()
			return b, b != nil, err
		}
		r.rest = ordered.NewProducer(r.ctx, eventsAhead, next, arrow.RecordBatch.Release)
	}
	r.begun = true
	return b, err
}

// Close implements decode.EventReader. It waits for the decoder.
func (r *readAhead) Close() {
	if r.rest != nil {
		r.rest.Close()
	}
	r.EventReader.Close()
}
