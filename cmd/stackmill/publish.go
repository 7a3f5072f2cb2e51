//go:build cgo

package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"stackmill/pipeline"
	"stackmill/queries"
	"stackmill/storedir"
)

// publisher makes the store's catalog after an ingest. The SQL engine starts as soon as
// something is to be committed, beside reading the recordings.
type publisher struct {
	*app
	store, cache string

	progress *pipeline.Progress

	once, last sync.Once
	ready      chan struct{} // nil before begin
	draft      *queries.Draft
}

// begin prepares the catalog. Further calls do nothing.
func (p *publisher) begin(ctx context.Context) {
	p.once.Do(func() {
		p.ready = make(chan struct{})
		go func() {
			defer close(p.ready)
			_ = orPanic(func() (err error) { // without a draft, publish says what is wrong
				p.draft, err = queries.NewDraft(ctx, p.store, p.cache)
				return err
			})
		}()
	})
}

// foresee gives the catalog what it will probably have, while the recording is read.
func (p *publisher) foresee(ctx context.Context, c storedir.Commit) {
	go func() {
		_ = orPanic(func() error { return p.prepared().Foresee(ctx, c) }) // expect and publish do without
	}()
}

// expect completes the catalog beside the last commit.
func (p *publisher) expect(ctx context.Context, c storedir.Commit) {
	if p.progress.Experiments.Load()-p.progress.Finished.Load() > int64(len(c.Experiments)) {
		return
	}
	p.last.Do(func() {
		go func() {
			_ = orPanic(func() error { return p.prepared().Expect(ctx, c) }) // publish completes what this does not
		}()
	})
}

// publishGrace is how long the catalog of an interrupted ingest may take. If that is
// too short, the next reader makes it.
const publishGrace = 300 * time.Millisecond

// publish brings the store's catalog up to date. If that fails, the recordings are in
// the store nevertheless.
func (p *publisher) publish(ctx context.Context) {
	interrupted := ctx.Err() != nil
	if interrupted {
		var cancel func()
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), publishGrace)
		defer cancel()
	}
	err := queries.Refresh(ctx, p.store, p.cache, p.prepared())
	if err != nil && !interrupted && !errors.Is(err, storedir.ErrNoStore) {
		say(p.stderr, "stackmill: %v (the recordings are in the store; the next report or query makes the catalog)\n", err)
	}
}

// prepared waits for the draft; there is none if nothing was committed.
func (p *publisher) prepared() *queries.Draft {
	p.once.Do(func() {}) // from now on nothing begins
	if p.ready == nil {
		return nil
	}
	<-p.ready
	return p.draft
}

// end removes what is left of the draft.
func (p *publisher) end() { p.prepared().Drop() }
