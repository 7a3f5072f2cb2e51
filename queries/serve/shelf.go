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

// scope is what a question is about: a part of the store, and which of its samples.
type scope struct {
	selectors []string // of experiments; empty: all
	filter    queries.Filter
	reads     []string // the views that it reads
}

// sources open sessions. Each is ended by its done, which may be called once.
type sources interface {
	session(ctx context.Context, of scope) (db *queries.DB, done func(), err error)
}

const (
	looking      = 250 * time.Millisecond // between looks for new commits
	mostSessions = 12                     // that are kept though nobody uses them
)

// shelf keeps a store open, as its commits are, and sessions of it for those who ask next.
type shelf struct {
	*Options
	mu sync.Mutex // of sessions and their users

	opening sync.Mutex // of the rest
	watch   *storedir.Watcher
	looked  time.Time
	seen    string  // the state of the commits then
	now     *opened // nil before it is used
}

func newShelf(o *Options) *shelf { return &shelf{Options: o, watch: storedir.NewWatcher(o.Store)} }

// opened is the store in one state of its commits, with sessions by what they are about.
type opened struct {
	sessions map[string]*session
	whole    *session
	stale    bool // another has taken its place
}

// lease keeps the store open in the state that it has when a request comes: all of an answer is
// from that state. Each is released once.
type lease struct {
	*shelf
	*opened
}

// state is a hash of the commits that the answers are made of.
func (p *lease) state() string { return p.whole.db.State }

// leftOut are the remarks about what all answers lack.
func (p *lease) leftOut() []string { return p.whole.db.LeftOut() }

// retain lets the store be used until one more release.
func (p *lease) retain() *lease {
	p.update(p.opened, func() { p.whole.users++ })
	return p
}

func (p *lease) release() { p.update(p.opened, func() { p.whole.unuse() }) }

// session is a part of the store, and what it is a part of, which it uses.
type session struct {
	ready chan struct{} // closed when db or err is there
	db    *queries.DB
	err   error
	of    *session // nil for the whole store
	users int      // of the whole store, the shelf is one as long as it is not stale
	last  time.Time
}

// look returns the state of the commits, as it was a moment ago if now is false.
func (s *shelf) look(now bool) (string, error) {
	if now {
		s.watch = storedir.NewWatcher(s.Store)
	} else if s.seen != "" && time.Since(s.looked) < looking {
		return s.seen, nil
	}
	state, err := s.watch.State()
	if err != nil {
		return "", err
	}
	s.seen, s.looked = state, time.Now()
	return state, nil
}

// session implements sources.
func (p *lease) session(ctx context.Context, of scope) (db *queries.DB, done func(), err error) {
	o, used := p.opened, p.whole
	p.update(o, func() { used.users++ })
	if len(of.selectors) > 0 {
		used, err = p.take(ctx, o, cachekey.Of(of.selectors), p.whole, func(ctx context.Context) (*queries.DB, error) {
			return p.whole.db.Subset(ctx, of.selectors...)
		})
	}
	if err == nil && !of.filter.IsEmpty() {
		part := used
		used, err = p.take(ctx, o, cachekey.Of(of.selectors, of.reads, of.filter), part, func(ctx context.Context) (*queries.DB, error) {
			return part.db.Filter(ctx, of.filter, of.reads...)
		})
	}
	if err != nil {
		return nil, nil, err
	}
	return used.db, sync.OnceFunc(func() { p.update(o, func() { used.unuse() }) }), nil
}

// pin returns the store as its commits are, and opens it if they have changed. now asks the
// file system, however short ago that was done. What was opened before ends with the last that
// uses it.
func (s *shelf) pin(ctx context.Context, now bool) (*lease, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	state, err := s.look(now)
	if err != nil {
		return nil, err
	}
	if s.now == nil || s.now.whole.db.State != state {
		db, err := queries.OpenWith(ctx, s.Store, queries.Options{Limits: s.engineLimits()})
		if err != nil {
			return nil, err
		}
		for _, u := range db.Unreadable {
			s.Log.Warn("a commit cannot be read: its experiments are left out (stackmill check says more)", "file", u.File, "error", u.Err)
		}
		whole := &session{ready: make(chan struct{}), db: db, users: 1}
		close(whole.ready)
		s.retire()
		s.now = &opened{sessions: map[string]*session{"": whole}, whole: whole}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.whole.users++
	return &lease{s, s.now}, nil
}

// retire makes the store stale that is open, if there is one.
func (s *shelf) retire() {
	if o := s.now; o != nil {
		s.now = nil
		s.update(o, func() {
			o.stale = true
			o.whole.unuse()
		})
	}
}

// take returns a session, which open makes if there is none, and uses it; the use of what
// it is a part of ends.
func (s *shelf) take(ctx context.Context, o *opened, key string, of *session, open func(context.Context) (*queries.DB, error)) (*session, error) {
	var x *session
	s.update(o, func() {
		if x = o.sessions[key]; x == nil {
			x = &session{ready: make(chan struct{}), of: of, users: 1} // until it is open
			o.sessions[key] = x
			of.users++
			// It is made for all that ask, also if the first goes away.
			go s.open(context.WithoutCancel(ctx), o, key, x, open)
		}
		x.users++
		of.unuse()
	})
	var err error
	select {
	case <-x.ready:
		err = x.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		s.update(o, func() { x.unuse() })
		return nil, err
	}
	return x, nil
}

// open opens a session. One that fails is forgotten, and made again for who asks next.
func (s *shelf) open(ctx context.Context, o *opened, key string, x *session, open func(context.Context) (*queries.DB, error)) {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	x.db, x.err = orPanic(func() (*queries.DB, error) { return open(ctx) })
	x.err = inTime(ctx, s.Timeout, x.err)
	s.update(o, func() {
		if x.err != nil {
			delete(o.sessions, key)
			x.of.unuse()
		}
		x.unuse()
		close(x.ready)
	})
}

func (x *session) unuse() {
	x.users--
	x.last = time.Now()
}

// update changes who uses what, and closes what nobody uses then: all of a store that is
// stale, and the sessions that were not used for longest if there are many.
func (s *shelf) update(o *opened, change func()) {
	s.mu.Lock()
	change()
	var idle []*session
	for o.stale || len(o.sessions) > mostSessions {
		key, x := o.oldest()
		if x == nil {
			break
		}
		delete(o.sessions, key)
		idle = append(idle, x)
		if x.of != nil {
			x.of.unuse()
		}
	}
	s.mu.Unlock()
	for _, x := range idle {
		if err := x.db.Close(); err != nil {
			s.Log.Warn("closing a session of the store", "error", err)
		}
	}
}

// oldest returns the session that nobody has used for longest, nil if all are used.
func (o *opened) oldest() (key string, x *session) {
	for k, other := range o.sessions {
		if other.users == 0 && (x == nil || other.last.Before(x.last)) {
			key, x = k, other
		}
	}
	return key, x
}

// close closes the store when nobody uses it any more.
func (s *shelf) close() error {
	s.opening.Lock()
	defer s.opening.Unlock()
	s.retire()
	return nil
}

// once opens the store for one question, with the whole process to itself.
type once struct{ *Options }

// session implements sources.
func (s once) session(ctx context.Context, of scope) (db *queries.DB, done func(), err error) {
	db, err = queries.OpenWith(ctx, s.Store, queries.Options{Only: slices.Clone(of.selectors), Limits: s.engineLimits()})
	if err != nil || of.filter.IsEmpty() {
		return db, func() { _ = db.Close() }, err // it was only read
	}
	narrowed, err := db.Filter(ctx, of.filter, of.reads...)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return narrowed, func() { _ = narrowed.Close(); _ = db.Close() }, nil
}
