package pipeline

import (
	"time"

	"stackmill/stages/samples"
)

// sinksAhead bounds how many batches may wait for the sinks.
const sinksAhead = 1

// toSinks is a batch on its way to the sinks.
type sinkBatch struct {
	*samples.Batch
	sinks []stage[samples.Sink]
}

// sink passes a batch to its sinks and releases it.
func (e *experiment) sink(b sinkBatch) error {
	defer b.Release()
	for _, s := range b.sinks {
		began := time.Now()
		err := s.run.Add(b.Batch)
		e.sunk = addTime(e.sunk, s.name, time.Since(began))
		if err != nil {
			return err
		}
	}
	return nil
}
