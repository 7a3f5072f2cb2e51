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

// selection selects experiments and their samples.
type selection struct {
	selectors []string // select experiments; empty: all
	filter    queries.Filter
	reads     []string // the views that the caller will read; nil: any
}

// sessionSource opens a session with what a selection selects. done ends the session; it may be called once.
type sessionSource interface {
	session(ctx context.Context, of selection) (db *queries.DB, done func(), err error)

	// layout returns the layout with a key, which identifies everything that it depends on but the state of the
	// store. If none is kept, it calls work to make it.
	layout(ctx context.Context, key string, work func(context.Context) (layout, error)) (layout, error)
}

const (
	pollInterval = 250 * time.Millisecond // between checks for new commits
	maxSessions  = 12                     // per snapshot, in use or idle
	maxOlder     = 2                      // older snapshots that are kept for clients that name them
	olderTime    = time.Hour              // how long an older snapshot is kept after a client named it
)

// storeCache keeps the store open in its current state, and recently used sessions for the next requests.
type storeCache struct {
	*Options
	mu sync.Mutex // guards the sessions of snapshots, and their uses

	opening sync.Mutex // guards the fields below
	watch   *storedir.Watcher
	polled  time.Time
	state   string      // state of the commits at the time polled
	current *snapshot   // nil before the first use
	older   []*snapshot // earlier ones that clients still name, the most recently named last
}

func newStoreCache(o *Options) *storeCache {
	return &storeCache{Options: o, watch: storedir.NewWatcher(o.Store)}
}

// snapshot is the store in one state of its commits. Its sessions are open parts of it, keyed by their selection.
type snapshot struct {
	sessions map[string]*session
	whole    *session
	layouts  layoutCache
	stale    bool      // it closes when its last lease is released
	named    time.Time // when a client last named its state; guarded by storeCache.opening
}

// lease keeps a snapshot open during a request, so that the whole answer is from one state of the store. It must be
// released once.
type lease struct {
	*storeCache
	*snapshot
}

// state returns a hash of the snapshot's commits.
func (p *lease) state() string { return p.whole.db.State }

// isCurrent reports whether the snapshot is the newest that the cache has opened.
func (p *lease) isCurrent() bool {
	p.opening.Lock()
	defer p.opening.Unlock()
	return p.snapshot == p.storeCache.current
}

// leftOut returns warnings about experiments that are missing from all answers.
func (p *lease) leftOut() []string { return p.whole.db.LeftOut() }

func (p *lease) release() { p.update(p.snapshot, func() { p.whole.release() }) }

// session is an open part of the store. While it is open, it counts as a use of its parent.
type session struct {
	ready  chan struct{} // closed when db or err is set
	db     *queries.DB
	err    error
	parent *session // the session that it is a part of; nil for the whole store
	uses   int      // number of users; for the whole store, one of them is the cache, until the snapshot is stale
	last   time.Time
}

// commitState returns a hash of the store's commits. It is at most pollInterval old, and new if now is set.
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

// session implements sessionSource. The session is shared with other requests for the same selection.
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

// pin returns a lease of the current snapshot. If there are new commits, it first opens the store anew; the older
// snapshot closes when its last lease is released, unless a client has named its state. now makes it look for
// commits even if it just did.
func (s *storeCache) pin(ctx context.Context, now bool) (*lease, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	if err := s.refresh(ctx, now); err != nil {
		return nil, err
	}
	return s.lease(s.current), nil
}

// pinState returns a lease of the snapshot in the state that a client names, so that all answers of a page are from one
// state of the store while the store grows. If that snapshot is no longer kept, or was never there, it returns a lease
// of the current one, which the client will name next. "" is named by clients that do not care.
func (s *storeCache) pinState(ctx context.Context, state string) (*lease, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	if err := s.refresh(ctx, false); err != nil {
		return nil, err
	}
	if state == "" {
		return s.lease(s.current), nil
	}
	if i := slices.IndexFunc(s.older, func(o *snapshot) bool { return o.whole.db.State == state }); i >= 0 {
		o := s.older[i]
		s.older = append(slices.Delete(s.older, i, i+1), o)
		o.named = time.Now()
		return s.lease(o), nil
	}
	s.current.named = time.Now()
	return s.lease(s.current), nil
}

// lease returns a lease of a snapshot that is open.
func (s *storeCache) lease(o *snapshot) *lease {
	s.update(o, func() { o.whole.uses++ })
	return &lease{s, o}
}

// refresh opens the store anew if it has new commits or is not open yet.
func (s *storeCache) refresh(ctx context.Context, now bool) error {
	state, err := s.commitState(now)
	if err != nil {
		return err
	}
	for len(s.older) > 0 && time.Since(s.older[0].named) > olderTime {
		s.drop(s.older[0])
		s.older = s.older[1:]
	}
	if s.current != nil && s.current.whole.db.State == state {
		return nil
	}
	db, err := queries.OpenWith(ctx, s.Store, queries.Options{Limits: s.engineLimits()})
	if err != nil {
		return err
	}
	for _, u := range db.Unreadable {
		s.Log.Warn("a commit cannot be read: its experiments are left out (run stackmill check)", "file", u.File, "error", u.Err)
	}
	whole := &session{ready: make(chan struct{}), db: db, uses: 1}
	close(whole.ready)
	s.retire()
	s.current = &snapshot{sessions: map[string]*session{"": whole}, whole: whole}
	return nil
}

// retire keeps the current snapshot as an older one if a client has named its state; otherwise it drops it.
func (s *storeCache) retire() {
	o := s.current
	if o == nil {
		return
	}
	s.current = nil
	if o.named.IsZero() {
		s.drop(o)
		return
	}
	o.named = time.Now()
	if s.older = append(s.older, o); len(s.older) > maxOlder {
		s.drop(s.older[0])
		s.older = s.older[1:]
	}
}

// drop marks a snapshot stale, so that it closes when its last lease is released.
func (s *storeCache) drop(o *snapshot) {
	s.update(o, func() {
		o.stale = true
		o.whole.release()
	})
}

// acquire returns the session with a key; if there is none, it calls open to make one with the parent `of`. The
// caller's use of the parent ends: the session has its own.
func (s *storeCache) acquire(ctx context.Context, o *snapshot, key string, of *session, open func(context.Context) (*queries.DB, error)) (*session, error) {
	var x *session
	s.update(o, func() {
		if x = o.sessions[key]; x == nil {
			x = &session{ready: make(chan struct{}), parent: of, uses: 1} // the one use is the opening itself
			o.sessions[key] = x
			of.uses++
			// Other requests may wait for it: open it even if this request is canceled.
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

// open opens a session. If that fails, it removes the session, so that the next request tries again.
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

// update calls change, which may end uses of sessions, and then closes unused sessions: all of a stale snapshot,
// otherwise the least recently used ones beyond maxSessions.
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
	for _, o := range append(s.older, s.current) {
		if o != nil {
			s.drop(o)
		}
	}
	s.older, s.current = nil, nil
	return nil
}

// directSource opens the store for a single call, in a process that answers only that.
type directSource struct {
	*Options
	commits []string // only these commits; nil: all
}

// session implements sessionSource.
func (s directSource) session(ctx context.Context, of selection) (db *queries.DB, done func(), err error) {
	db, err = queries.OpenWith(ctx, s.Store, queries.Options{Only: slices.Clone(of.selectors), Commits: s.commits, Limits: s.engineLimits()})
	if err != nil || of.filter.IsEmpty() {
		return db, func() { _ = db.Close() }, err // opened for reading only
	}
	narrowed, err := db.Filter(ctx, of.filter, of.reads...)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return narrowed, func() { _ = narrowed.Close(); _ = db.Close() }, nil
}
