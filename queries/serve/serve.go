// Package serve answers questions about a store over HTTP: the standard views, comparisons,
// flame graphs and SQL, for pages, dashboards and programs.
//
// A request passes, in this order: what it may do at all (guard.go), the parameters of its
// endpoint (endpoint.go), answers that are known (known.go), a turn (turns.go). Then it is
// answered from the open store (shelf.go), or, if it has SQL of its own, by another process
// (process.go), which can be killed: SQL may take any time and memory, and need not stop
// when it is told to. Large answers are in files until their clients have read them (unread.go).
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"stackmill/queries"
	"stackmill/queries/sandbox"
)

// Options say what a server has, and what answers may take.
type Options struct {
	Store   string
	Version string // of the program: answers of another one may differ

	Hosts  []string // what the header Host of a request may be, besides addresses of this machine at Port
	Port   int
	Socket string // the path of the Unix socket on which it listens instead
	Token  string // what a request must present; empty: none

	TokenOnSocket bool // whether requests over Socket must present it, too

	Memory     int64 // bytes for the SQL engine, and as much again for the processes that run SQL
	Timeout    time.Duration
	Concurrent int           // how many requests are answered at once
	Waiting    int           // how many more may wait for their turn
	Largest    int           // bytes of an answer
	Patience   time.Duration // for a client to take a part of an answer; 0: DefaultPatience

	By        []string // what tells the series of GET /metrics apart: labels of experiments, columns of `experiments`
	Functions int      // how many functions have series there, of each experiment and metric; 0: none

	// Program is the command of a process that calls Answer with the same options.
	Program []string
	Log     *slog.Logger
}

// Server is one store's. Its methods may be used concurrently.
type Server struct {
	Options
	page    *page
	shelf   *shelf
	known   *known
	turns   *turns
	mounts  mounts
	guesses guesses
	metrics metrics
	latest  *latest
	unread  unread
}

// New opens the store. The error is storedir.ErrNoStore if there is none.
func New(ctx context.Context, o Options) (*Server, error) {
	o.Patience = cmp.Or(o.Patience, DefaultPatience)
	page, err := thePage()
	if err != nil {
		return nil, err
	}
	latest, err := newLatest(o.By, o.Functions)
	if err != nil {
		return nil, err
	}
	s := &Server{Options: o, page: page, shelf: newShelf(&o), known: newKnown(), turns: newTurns(o.Concurrent, o.Waiting), latest: latest, unread: unread{most: unreadAnswers * int64(o.Largest)}}
	store, err := s.shelf.pin(ctx, false)
	if err != nil {
		return nil, err
	}
	store.release()
	return s, nil
}

// Close closes the store. The server answers nothing any more.
func (s *Server) Close() error { return s.shelf.close() }

// Handler returns what handles all requests.
func (s *Server) Handler() (http.Handler, error) {
	mux := http.NewServeMux()
	for i := range endpoints {
		e := &endpoints[i]
		mux.HandleFunc(e.method+" "+e.path, func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, e) })
	}
	mux.HandleFunc("GET /{$}", s.first)
	mux.HandleFunc("GET /page/", s.file)
	mux.HandleFunc("GET "+speedscopePath, s.speedscope)
	mux.HandleFunc("GET "+pprofPath, s.pprof)
	mux.HandleFunc("POST "+loginPath, s.login)
	mux.HandleFunc("GET "+loginPath, func(w http.ResponseWriter, _ *http.Request) { redirect(w, "/") }) // the form's answer, loaded again
	mux.HandleFunc("POST "+logoutPath, s.logout)
	mux.HandleFunc("GET /openapi.json", s.describe)
	mux.HandleFunc("GET /healthz", s.health)
	mux.HandleFunc("GET /metrics", s.measure)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			other := *r
			if other.Method = method; method != r.Method {
				if _, pattern := mux.Handler(&other); pattern != "/" && pattern != "" {
					w.Header().Set("Allow", method)
					s.fail(w, r, &failure{http.StatusMethodNotAllowed, fmt.Errorf("%s %s: ask with %s", r.Method, r.URL.Path, method)})
					return
				}
			}
		}
		s.fail(w, r, &failure{http.StatusNotFound, fmt.Errorf("%s %s: there is no such thing (GET /openapi.json describes what there is)", r.Method, r.URL.Path)})
	})
	compressed, err := gzhttp.NewWrapper(gzhttp.MinSize(1 << 10))
	if err != nil {
		return nil, err
	}
	return s.guarded(compressed(mux)), nil
}

// answer answers a request for data.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, e *endpoint) {
	c, err := e.call(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	store, err := s.shelf.pin(r.Context(), false)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer store.release()
	setWarnings(w, store.leftOut())
	a, err := s.reply(w, r, c, store)
	if err != nil {
		w.Header().Del("ETag")
		s.fail(w, r, err)
		return
	}
	if a == nil {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	defer a.body.Release()
	header := w.Header()
	setWarnings(w, store.leftOut(), a.Warnings)
	header.Set("Content-Type", a.Type)
	s.send(w, a.body)
}

// reply returns the answer to a call, nil if the client has it. What SQL of a request gives
// may differ each time, as now() does: it is neither kept nor has it a tag.
func (s *Server) reply(w http.ResponseWriter, r *http.Request, c *call, store *lease) (*reply, error) {
	if c.foreign() {
		w.Header().Set("Cache-Control", "no-store")
		return s.work(r.Context(), c, store)
	}
	tag := c.tag(store.state(), s.Version)
	w.Header().Set("Cache-Control", "private, no-cache") // to be asked again whether it still is so
	w.Header().Set("ETag", tag)
	if matches(r.Header.Get("If-None-Match"), tag) {
		return nil, nil
	}
	return s.known.get(r.Context(), tag, func() (*reply, error) { return s.work(r.Context(), c, store) })
}

// work answers a call when it is its turn, within the time that it may take.
func (s *Server) work(ctx context.Context, c *call, store *lease) (a *reply, err error) {
	done, err := s.turns.take(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	began := time.Now()
	if c.foreign() {
		a, err = s.inState(ctx, c, store)
	} else {
		a, err = orPanic(func() (*reply, error) {
			return c.answer(ctx, store, sandbox.NewBounded(int64(s.Largest), nil))
		})
	}
	if err == nil && !s.unread.add(a.body) {
		a.body.Release()
		err = errUnread
	}
	s.metrics.answered(c.path, time.Since(began), err)
	return a, inTime(ctx, s.Timeout, err)
}

// inTime returns the error of work that has a deadline. The engine has an error of its own for
// what is interrupted.
func inTime(ctx context.Context, limit time.Duration, err error) error {
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return late(limit)
	}
	return err
}

// late is the failure of what takes too long.
func late(limit time.Duration) error {
	return &failure{StatusLate, fmt.Errorf("it took longer than %v (ask about fewer experiments or a shorter time, or start the server with a longer --timeout)", limit)}
}

// orPanic returns what f does, or what it panicked with as an error.
func orPanic[T any](f func() (T, error)) (a T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error: %v", p)
		}
	}()
	return f()
}

// engineLimits are those of the engine in this process.
func (o *Options) engineLimits() queries.Limits { return queries.Limits{Memory: o.Memory} }

// health says whether the store can be read. It names no experiments: it is answered without a
// token.
func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	store, err := s.shelf.pin(r.Context(), false)
	if err == nil {
		defer store.release()
		err = store.whole.db.PingContext(r.Context())
	}
	if err != nil {
		s.fail(w, r, &failure{http.StatusServiceUnavailable, err})
		return
	}
	w.Header().Set("Content-Type", textType)
	fmt.Fprintf(w, "ok, %d experiments\n", store.whole.db.Count)
	if n := len(store.whole.db.Unreadable); n > 0 {
		fmt.Fprintf(w, "%swhat %d commit files say, which cannot be read (stackmill check says more)\n", queries.LeftOutPrefix, n)
	}
	if n := len(store.whole.db.Again); n > 0 {
		fmt.Fprintf(w, "%s%d damaged experiments, which must be ingested again (stackmill check lists them)\n", queries.LeftOutPrefix, n)
	}
}
