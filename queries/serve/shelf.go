package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cespare/xxhash/v2"

	"stackmill/queries"
	"stackmill/storedir"
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
	mu     sync.Mutex // of all but now
	looked time.Time
	seen   string // the state then

	opening sync.Mutex // of now
	now     *opened    // nil before it is used
}

func newShelf(o *Options) *shelf { return &shelf{Options: o} }

// opened is the store in one state of its commits, with sessions by what they are about.
type opened struct {
	state    string
	sessions map[string]*session
	whole    *session
	stale    bool // another has taken its place
}

// session is a part of the store, and what it is a part of, which it uses.
type session struct {
	ready chan struct{} // closed when db or err is there
	db    *queries.DB
	err   error
	of    *session // nil for the whole store
	users int      // of the whole store, the shelf is one as long as it is not stale
	last  time.Time
}

// state returns what the commits are: batches are never changed, only made and taken away.
func (s *shelf) state() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen != "" && time.Since(s.looked) < looking {
		return s.seen, nil
	}
	state, err := stateOf(s.Store)
	if err != nil {
		return "", err
	}
	s.seen, s.looked = state, time.Now()
	return state, nil
}

// stateOf is a hash of the names of the batches, and of the directory: another store may
// have taken its place.
func stateOf(store string) (string, error) {
	info, err := os.Stat(filepath.Join(store, storedir.CommitsDir))
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("%s: %w", store, storedir.ErrNoStore)
	}
	if err != nil {
		return "", err
	}
	batches, err := storedir.Batches(store)
	if err != nil {
		return "", err
	}
	h := xxhash.New()
	if of, ok := info.Sys().(*syscall.Stat_t); ok {
		fmt.Fprintln(h, of.Dev, of.Ino)
	}
	fmt.Fprintln(h, strings.Join(batches, "\n"))
	return fmt.Sprintf("%016x", h.Sum64()), nil
}

// session implements sources.
func (s *shelf) session(ctx context.Context, of scope) (db *queries.DB, done func(), err error) {
	o, err := s.newest(ctx)
	if err != nil {
		return nil, nil, err
	}
	used := o.whole
	if len(of.selectors) > 0 {
		whole := used
		used, err = s.take(ctx, o, fmt.Sprintf("%q", of.selectors), whole, func(ctx context.Context) (*queries.DB, error) {
			return whole.db.Part(ctx, of.selectors...)
		})
	}
	if err == nil && !of.filter.IsEmpty() {
		part := used
		used, err = s.take(ctx, o, fmt.Sprintf("%q %q %+v", of.selectors, of.reads, of.filter), part, func(ctx context.Context) (*queries.DB, error) {
			return part.db.Narrow(ctx, of.filter, of.reads...)
		})
	}
	if err != nil {
		return nil, nil, err
	}
	return used.db, sync.OnceFunc(func() { s.update(o, func() { used.unuse() }) }), nil
}

// newest returns the store as its commits are now, and opens it if it has changed. The whole
// of it is used by the caller. What was opened before ends with the last that uses it.
func (s *shelf) newest(ctx context.Context) (*opened, error) {
	state, err := s.state()
	if err != nil {
		return nil, err
	}
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.now == nil || s.now.state != state {
		db, err := queries.OpenWith(ctx, s.Store, queries.Options{Limits: s.engineLimits()})
		if err != nil {
			return nil, err
		}
		for _, d := range db.Damaged {
			s.Log.Warn("a commit cannot be read: its experiments are left out (stackmill check says more)", "file", d.File(), "error", d.Err)
		}
		whole := &session{ready: make(chan struct{}), db: db, users: 1}
		close(whole.ready)
		s.retire()
		s.now = &opened{state: state, sessions: map[string]*session{"": whole}, whole: whole}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.whole.users++
	return s.now, nil
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
	if errors.Is(x.err, context.DeadlineExceeded) {
		x.err = late(s.Timeout)
	}
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
	narrowed, err := db.Narrow(ctx, of.filter, of.reads...)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return narrowed, func() { _ = narrowed.Close(); _ = db.Close() }, nil
}
