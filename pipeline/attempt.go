package pipeline

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	"stackmill/internal/ordered"
	"stackmill/internal/spill"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/listing"
	"stackmill/stages/write"
)

// attempt reads one input. It runs on a goroutine of its own, so that it can be abandoned if it
// ignores the end of its context.
type attempt struct {
	in     *ingest
	src    input
	to     *slot
	ctx    context.Context
	cancel context.CancelCauseFunc
	ended  chan struct{} // closed when nobody waits for the attempt any more
	late   *time.Timer   // cancels the attempt at its deadline; nil if there is none
	by     time.Time     // the deadline
	waited time.Duration // how long it waited for the turn of its input
	space  *spill.Space  // spills what does not fit in memory

	state    atomic.Int32
	batch    atomic.Pointer[write.Batch]   // nil before the batch is begun
	identity atomic.Pointer[inputIdentity] // nil before it is known
}

// inputIdentity is the experiment id and the size of an input.
type inputIdentity struct {
	id    string
	bytes int64
}

// The states of an attempt. An abandoned attempt never commits, and one that commits is never
// abandoned.
const (
	running int32 = iota
	committing
	over
	left
)

// grace is how long an attempt may take to end after its context has ended. Loops that check the
// context end much sooner.
const grace = 300 * time.Millisecond

// try runs a job on an input, within a time limit unless that is 0.
func (in *ingest) try(ctx context.Context, src input, to *slot, limit time.Duration, job func(*attempt, *Result) error) Result {
	if ctx.Err() != nil {
		return Result{Path: src.path, Status: Aborted, Err: context.Cause(ctx)}
	}
	a := &attempt{in: in, src: src, to: to, ended: make(chan struct{})}
	defer close(a.ended)
	a.space = in.space()
	a.ctx, a.cancel = context.WithCancelCause(spill.NewContext(ctx, a.space))
	defer a.cancel(nil)
	if limit > 0 {
		a.by = time.Now().Add(limit)
		a.late = time.AfterFunc(limit, func() {
			a.cancel(&overLimit{reasonTime, fmt.Sprintf("reading it took longer than %v, so it was given up (see --experiment-timeout)", limit)})
		})
		defer a.late.Stop()
	}
	in.attempts.add(a)
	defer in.attempts.remove(a)

	reading := ordered.Start(func() (Result, error) {
		r := a.run(job)
		_ = a.space.Close() // its content is not needed
		if !a.state.CompareAndSwap(running, over) && a.state.Load() == left {
			in.attempts.addAbandoned(-1)
		}
		return r, nil
	})
	if waitAfterEnd(a.ctx, reading.Done()) || !a.leave() { // the attempt is over, or commits
		r, err := reading.Wait()
		if err != nil {
			r = Result{Path: src.path, Status: Failed, Err: err}
		}
		return r
	}
	r := Result{Path: src.path, Status: Aborted, Err: context.Cause(a.ctx)}
	if is := a.identity.Load(); is != nil {
		r.ID, r.Bytes = is.id, is.bytes
	}
	return r
}

// waitAfterEnd waits until done is closed. It reports false if that takes longer than the grace
// period after the end of the context.
func waitAfterEnd(ctx context.Context, done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case <-done:
		return true
	case <-late.C:
		return false
	}
}

// awaitTurn waits for the turn of the input: from then on, only this attempt adds to the batch. The
// wait does not count against the time limit.
func (a *attempt) awaitTurn() error {
	select {
	case <-a.to.turn.Come():
		return nil
	default:
	}
	began := time.Now()
	if a.late != nil && a.late.Stop() {
		defer func() { a.late.Reset(a.by.Sub(began)) }()
	}
	defer func() { a.waited += time.Since(began) }()
	select {
	case <-a.to.turn.Come():
		return nil
	case <-a.ctx.Done():
		return context.Cause(a.ctx)
	}
}

// beginLists waits for the turn of the input and returns a draft of its lists (package listing).
func (a *attempt) beginLists() (*listing.Draft, error) {
	if err := a.awaitTurn(); err != nil {
		return nil, err
	}
	return a.to.builder.lists.Begin(), nil
}

// beginBatch begins the batch of the input; nil if other inputs share the batch.
func (a *attempt) beginBatch() (*write.Batch, error) {
	if a.to.builder.shared() {
		return nil, nil
	}
	b, err := a.in.beginBatch()
	a.batch.Store(b)
	return b, err
}

// startCommit keeps the attempt from being abandoned. It returns false if it is abandoned already.
func (a *attempt) startCommit() bool { return a.state.CompareAndSwap(running, committing) }

// leave abandons the attempt and removes its files. It reports false if the attempt is
// committing, or over.
func (a *attempt) leave() bool {
	a.in.attempts.addAbandoned(1)
	if !a.state.CompareAndSwap(running, left) {
		a.in.attempts.addAbandoned(-1)
		return false
	}
	if b := a.batch.Load(); b != nil {
		b.Leave()
	}
	return true
}

// run runs the job and returns the result of the input.
func (a *attempt) run(job func(*attempt, *Result) error) (r Result) {
	start := time.Now()
	r.Path = a.src.path
	err := ordered.Guard(func() error { return job(a, &r) })
	r.Elapsed = time.Since(start) - a.waited
	if err == nil {
		return r
	}
	r.discard(Aborted, err)
	var store errStore
	switch {
	case a.ctx.Err() != nil:
		r.Err = context.Cause(a.ctx)
	case errors.As(err, new(*InternalError)):
		r.Status = Failed
	case errors.As(err, &store): // all tables may have failed
		r.Err = store
	}
	return r
}

// quarantine commits an experiment that exceeded a limit, as failed: its only problem is the limit.
func (in *ingest) quarantine(ctx context.Context, src input, to *slot, was *Result, over *overLimit) Result {
	if was.ID == "" { // not even its content could be read in time
		return Result{Path: src.path, Status: Failed, Err: over, Elapsed: was.Elapsed}
	}
	failed := &decode.Recording{Format: src.decoder.Name(), Close: func() error { return nil }}
	failed.Locate = func(string) []decode.Candidate { return nil }
	failed.Problems.Addf(diagnostic.Error, filepath.Base(src.path), diagnostic.NoOffset, over.reason, "%s", over.message)
	r := in.try(ctx, src, to, 0, func(a *attempt, r *Result) error {
		r.ID, r.Bytes = was.ID, was.Bytes
		generation, _ := a.in.needsIngest(was.ID)
		return (&experiment{attempt: a, result: r, generation: generation, opening: func() (*decode.Recording, error) { return failed, nil }}).pass()
	})
	r.Elapsed += was.Elapsed
	return r
}
