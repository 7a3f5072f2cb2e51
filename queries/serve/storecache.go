package serve

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"stackmill/internal/cachekey"
	"stackmill/queries"
	"stackmill/schema/storedir"
)

// selection is a part of the store and a filter of its samples.
type selection struct {
	selectors []string // of experiments; empty: all
	filter    queries.Filter
	reads     []string // the views that will be read
}

// sessionSource opens sessions. Calling done, at most once, ends a session.
type sessionSource interface {
	session(ctx context.Context, of selection) (db *queries.DB, done func(), err error)
}

const (
	pollInterval = 250 * time.Millisecond // between checks for new commits
	maxSessions  = 12                     // kept open, including idle ones
)

// storeCache keeps the store's current state open, with sessions for the next requests.
type storeCache struct {
	*Options
	mu sync.Mutex // guards sessions and their uses

	opening sync.Mutex // guards the rest
	watch   *storedir.Watcher
	polled  time.Time
	state   string    // of the commits at that time
	current *snapshot // nil before the first use
}

func newStoreCache(o *Options) *storeCache {
	return &storeCache{Options: o, watch: storedir.NewWatcher(o.Store)}
}

// snapshot is the store in one state of its commits, with sessions by their selection.
type snapshot struct {
	sessions map[string]*session
	whole    *session
	stale    bool // replaced by a newer one
}

// lease keeps a snapshot open during a request, so that all of an answer is from one state. It must be released
// once.
type lease struct {
	*storeCache
	*snapshot
}

// state returns a hash of the snapshot's commits.
func (p *lease) state() string { return p.whole.db.State }

// leftOut returns warnings about experiments that all answers lack.
func (p *lease) leftOut() []string { return p.whole.db.LeftOut() }

func (p *lease) release() { p.update(p.snapshot, func() { p.whole.release() }) }

// session is an open part of the store. It uses its parent.
type session struct {
	ready  chan struct{} // closed when db or err is set
	db     *queries.DB
	err    error
	parent *session // nil for the whole store
	uses   int      // the whole store has one more: the cache's own, until it is stale
	last   time.Time
}

// commitState returns the state of the commits; unless now is set, it may be pollInterval old.
func (s *storeCache) commitState(now bool) (string, error) {
	if now {
		s.watch = storedir.NewWatcher(s.Store)
	} else if s.state != "" && time.Since(s.polled) < pollInterval {
		return s.state, nil
	}
	state, err := s.watch.State()
	if err != nil {
		return "", err
	}
	s.state, s.polled = state, time.Now()
	return state, nil
}

// session implements sessionSource.
func (p *lease) session(ctx context.Context, of selection) (db *queries.DB, done func(), err error) {
	o, used := p.snapshot, p.whole
	p.update(o, func() { used.uses++ })
	if len(of.selectors) > 0 {
		used, err = p.acquire(ctx, o, cachekey.Of(of.selectors), p.whole, func(ctx context.Context) (*queries.DB, error) {
			return p.whole.db.Subset(ctx, of.selectors...)
		})
	}
	if err == nil && !of.filter.IsEmpty() {
		part := used
		used, err = p.acquire(ctx, o, cachekey.Of(of.selectors, of.reads, of.filter), part, func(ctx context.Context) (*queries.DB, error) {
			return part.db.Filter(ctx, of.filter, of.reads...)
		})
	}
	if err != nil {
		return nil, nil, err
	}
	return used.db, sync.OnceFunc(func() { p.update(o, func() { used.release() }) }), nil
}

// pin returns a lease of the current snapshot and opens a new one if the commits have changed. now forces a check of
// the file system. An older snapshot closes with its last lease.
func (s *storeCache) pin(ctx context.Context, now bool) (*lease, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	state, err := s.commitState(now)
	if err != nil {
		return nil, err
	}
	if s.current == nil || s.current.whole.db.State != state {
		db, err := queries.OpenWith(ctx, s.Store, queries.Options{Limits: s.engineLimits()})
		if err != nil {
			return nil, err
		}
		for _, u := range db.Unreadable {
			s.Log.Warn("a commit cannot be read: its experiments are left out (run stackmill check)", "file", u.File, "error", u.Err)
		}
		whole := &session{ready: make(chan struct{}), db: db, uses: 1}
		close(whole.ready)
		s.retire()
		s.current = &snapshot{sessions: map[string]*session{"": whole}, whole: whole}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current.whole.uses++
	return &lease{s, s.current}, nil
}

// retire marks the current snapshot stale.
func (s *storeCache) retire() {
	if o := s.current; o != nil {
		s.current = nil
		s.update(o, func() {
			o.stale = true
			o.whole.release()
		})
	}
}

// acquire returns the session with a key, which open makes if none exists. It takes over the caller's use of the
// parent.
func (s *storeCache) acquire(ctx context.Context, o *snapshot, key string, of *session, open func(context.Context) (*queries.DB, error)) (*session, error) {
	var x *session
	s.update(o, func() {
		if x = o.sessions[key]; x == nil {
			x = &session{ready: make(chan struct{}), parent: of, uses: 1} // until it is open
			o.sessions[key] = x
			of.uses++
			// Others may wait for it, so that it is opened even if the first request is canceled.
			go s.open(context.WithoutCancel(ctx), o, key, x, open)
		}
		x.uses++
		of.release()
	})
	var err error
	select {
	case <-x.ready:
		err = x.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		s.update(o, func() { x.release() })
		return nil, err
	}
	return x, nil
}

// open opens a session. It removes one that fails, so that the next request tries again.
func (s *storeCache) open(ctx context.Context, o *snapshot, key string, x *session, open func(context.Context) (*queries.DB, error)) {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	x.db, x.err = recoverPanic(func() (*queries.DB, error) { return open(ctx) })
	x.err = timeoutError(ctx, s.Timeout, x.err)
	s.update(o, func() {
		if x.err != nil {
			delete(o.sessions, key)
			x.parent.release()
		}
		x.release()
		close(x.ready)
	})
}

func (x *session) release() {
	x.uses--
	x.last = time.Now()
}

// update changes uses and then closes unused sessions: all of a stale snapshot, and the least recently used ones
// beyond maxSessions.
func (s *storeCache) update(o *snapshot, change func()) {
	s.mu.Lock()
	change()
	var idle []*session
	for o.stale || len(o.sessions) > maxSessions {
		key, x := o.idleLongest()
		if x == nil {
			break
		}
		delete(o.sessions, key)
		idle = append(idle, x)
		if x.parent != nil {
			x.parent.release()
		}
	}
	s.mu.Unlock()
	for _, x := range idle {
		if err := x.db.Close(); err != nil {
			s.Log.Warn("closing a session of the store", "error", err)
		}
	}
}

// idleLongest returns the least recently used idle session, or nil.
func (o *snapshot) idleLongest() (key string, x *session) {
	for k, other := range o.sessions {
		if other.uses == 0 && (x == nil || other.last.Before(x.last)) {
			key, x = k, other
		}
	}
	return key, x
}

// close closes the store after its last use.
func (s *storeCache) close() error {
	s.opening.Lock()
	defer s.opening.Unlock()
	s.retire()
	return nil
}

// directSource opens the store for one call, in a process of its own.
type directSource struct{ *Options }

// session implements sessionSource.
func (s directSource) session(ctx context.Context, of selection) (db *queries.DB, done func(), err error) {
	db, err = queries.OpenWith(ctx, s.Store, queries.Options{Only: slices.Clone(of.selectors), Limits: s.engineLimits()})
	if err != nil || of.filter.IsEmpty() {
		return db, func() { _ = db.Close() }, err // opened for reading only
	}
	narrowed, err := db.Filter(ctx, of.filter, of.reads...)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return narrowed, func() { _ = narrowed.Close(); _ = db.Close() }, nil
}
