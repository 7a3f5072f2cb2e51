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
	"stackmill/stages/decode/mmap"
	"stackmill/stages/write"
)

// attempt is one try at an input. It runs in a goroutine of its own, so that it can be
// abandoned if it ignores the end of its context.
type attempt struct {
	*ingest
	src    input
	to     *place
	ctx    context.Context
	cancel context.CancelCauseFunc
	ended  chan struct{} // closed when nobody waits for it any more
	late   *time.Timer   // ends it when it takes too long; nil if it may take any time
	by     time.Time     // when that is
	waited time.Duration // for its turn
	space  *spill.Space  // for what does not fit in memory

	state atomic.Int32
	batch atomic.Pointer[write.Batch] // nil before there is one
	is    atomic.Pointer[identified]  // nil before it is known
}

// identified is an input's identity.
type identified struct {
	id    string
	bytes int64
}

// The states of an attempt. One that was left never commits, and one that commits is
// never left.
const (
	open int32 = iota
	committing
	over
	left
)

// grace is how long an attempt may take to end after its context has. Loops that
// look at the context end much sooner.
const grace = 300 * time.Millisecond

// try does a job on an input, within a limit of time unless that is 0.
func (in *ingest) try(ctx context.Context, src input, to *place, limit time.Duration, job func(*attempt, *Result) error) Result {
	if ctx.Err() != nil {
		return Result{Path: src.path, Status: Aborted, Err: context.Cause(ctx)}
	}
	a := &attempt{ingest: in, src: src, to: to, ended: make(chan struct{})}
	defer close(a.ended)
	a.space = in.space()
	a.ctx, a.cancel = context.WithCancelCause(mmap.WithPool(spill.NewContext(ctx, a.space)))
	defer a.cancel(nil)
	if limit > 0 {
		a.by = time.Now().Add(limit)
		a.late = time.AfterFunc(limit, func() {
			a.cancel(&overLimit{reasonTime, fmt.Sprintf("reading it takes longer than %v (see --experiment-timeout): it is not read", limit)})
		})
		defer a.late.Stop()
	}
	in.underway.add(a)
	defer in.underway.remove(a)

	running := ordered.Start(func() (Result, error) {
		r := a.run(job)
		_ = a.space.Close() // nobody wants what was in it
		if !a.state.CompareAndSwap(open, over) && a.state.Load() == left {
			in.underway.left(-1)
		}
		return r, nil
	})
	if soon(a.ctx, running.Done()) || !a.leave() { // it is over, or being committed
		r, err := running.Wait()
		if err != nil {
			r = Result{Path: src.path, Status: Failed, Err: err}
		}
		return r
	}
	r := Result{Path: src.path, Status: Aborted, Err: context.Cause(a.ctx)}
	if is := a.is.Load(); is != nil {
		r.ID, r.Bytes = is.id, is.bytes
	}
	return r
}

// soon waits for done; false if it is not closed within a grace period after the context's end.
func soon(ctx context.Context, done <-chan struct{}) bool {
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

// await waits for the turn of the input: from then on, nothing is added to the batch but
// what the attempt adds. The time does not count as its own.
func (a *attempt) await() error {
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

// claim reports whether the attempt may commit.
func (a *attempt) claim() bool { return a.state.CompareAndSwap(open, committing) }

// leave abandons the attempt and removes what it has written; false if it is being
// committed, or over.
func (a *attempt) leave() bool {
	a.underway.left(1)
	if !a.state.CompareAndSwap(open, left) {
		a.underway.left(-1)
		return false
	}
	if b := a.batch.Load(); b != nil {
		b.Leave()
	}
	return true
}

// run does the job and reports what became of the input.
func (a *attempt) run(job func(*attempt, *Result) error) (r Result) {
	start := time.Now()
	r.Path = a.src.path
	err := ordered.Guard(func() error { return job(a, &r) })
	r.Elapsed = time.Since(start) - a.waited
	if err == nil {
		return r
	}
	r.gone(Aborted, err)
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

// quarantine commits an experiment that exceeded a limit as failed, for that reason.
func (in *ingest) quarantine(ctx context.Context, src input, to *place, was *Result, over *overLimit) Result {
	if was.ID == "" { // not even its content could be read in time
		return Result{Path: src.path, Status: Failed, Err: over, Elapsed: was.Elapsed}
	}
	rec := &decode.Recording{Format: src.decoder.Name(), Close: func() error { return nil }}
	rec.Locate = func(string) []decode.Candidate { return nil }
	rec.Problems.Addf(diagnostic.Error, filepath.Base(src.path), diagnostic.NoOffset, over.reason, "%s", over.message)
	r := in.try(ctx, src, to, 0, func(a *attempt, r *Result) error {
		r.ID, r.Bytes = was.ID, was.Bytes
		generation, _ := a.due(was.ID)
		return a.ingestOne(r, generation, func() (*decode.Recording, error) { return rec, nil })
	})
	r.Elapsed += was.Elapsed
	return r
}
