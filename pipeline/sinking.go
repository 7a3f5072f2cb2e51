package pipeline

import (
	"context"
	"time"

	"stackmill/schema"
	"stackmill/stages/attribute"
)

// sinkingAhead bounds how many batches may wait for the sinks.
const sinkingAhead = 1

// sinking passes batches of a kind to sinks, while further ones pass the stages before.
type sinking struct {
	ctx    context.Context
	to     []stage[attribute.Sink]
	alone  bool            // one resolves addresses: nothing may pass the stages before meanwhile
	took   []time.Duration // by sink
	beside *follower[*attribute.Batch]
}

// sinking begins with a kind's batches.
func (p *process) sinking(ctx context.Context) *sinking {
	to := p.sinks()
	return &sinking{ctx: ctx, to: to, alone: p.accesses != nil, took: make([]time.Duration, len(to))}
}

// add takes over a batch. It begins a goroutine for what fills more than half a batch only:
// many processes have few events.
func (s *sinking) add(b *attribute.Batch) error {
	if s.beside == nil {
		if s.alone || b.Len() < schema.BatchRows/2 {
			defer b.Release()
			return s.pass(b)
		}
		s.beside = follow(s.ctx, sinkingAhead, s.pass, (*attribute.Batch).Release)
	}
	return s.beside.add(b)
}

// pass passes a batch to the sinks.
func (s *sinking) pass(b *attribute.Batch) error {
	for i := range s.to {
		began := time.Now()
		err := s.to[i].run.Add(b)
		s.took[i] += time.Since(began)
		if err != nil {
			return err
		}
	}
	return nil
}

// close waits for the sinks, and adds how long they took to a result.
func (s *sinking) close(r *Result) (err error) {
	if s.beside != nil {
		err = s.beside.close()
	}
	for i, took := range s.took {
		if took > 0 {
			r.add(s.to[i].name, took)
		}
	}
	return err
}
