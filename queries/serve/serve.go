// Package serve answers questions about a store over HTTP: the standard views, comparisons,
// flame graphs and SQL, for pages, dashboards and programs.
//
// A request passes, in this order: access checks (guard.go), the parameters of its endpoint (endpoint.go), the
// cache of answers (cache.go), the limit of concurrent requests (limiter.go). Then it is answered from the open
// store (storecache.go) or, if it contains SQL, by another process (sandboxed.go), which can be killed: SQL may take
// any time and memory, and may not stop when it is interrupted. Large answers are kept in files until their clients
// have read them (backlog.go).
//
// Start reading with Server.Handler, and endpoints (endpoints.go), which lists the requests.
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

// Options configure a server and set its limits.
type Options struct {
	Store   string
	Version string // of stackmill: cached answers of another version are not valid

	Hosts  []string // allowed Host headers, besides this machine's addresses with Port
	Port   int
	Socket string // path of the Unix socket; "" if it listens on Port instead
	Token  string // required of requests; "": none is required

	TokenOnSocket bool // the token is also required of requests over Socket

	Memory     int64 // bytes for the SQL engine; each process that runs SQL may use as much again
	Timeout    time.Duration
	Concurrent int           // maximum of requests answered at the same time
	Waiting    int           // maximum of further requests that wait
	Largest    int           // maximum of bytes in an answer
	Patience   time.Duration // how long a client may take to read a part of an answer; 0: DefaultPatience

	By        []string // what groups experiments in GET /metrics: labels of experiments, or columns of `experiments`
	Functions int      // functions with a series in GET /metrics, per experiment and metric

	Queries string // folder with saved queries, *.sql; "" if there is none

	// Program is the command line of a process that calls Answer with the same options.
	Program []string
	Log     *slog.Logger
}

// Server answers requests about one store. Its methods may be called concurrently.
type Server struct {
	Options
	page    *page
	store   *storeCache
	cache   *answerCache
	limiter *limiter
	guesses guessLimiter
	metrics serverMetrics
	latest  *latestValues
	backlog backlog
}

// New opens the store. The error is storedir.ErrNoStore if there is none.
func New(ctx context.Context, o Options) (*Server, error) {
	o.Patience = cmp.Or(o.Patience, DefaultPatience)
	page, err := loadPage()
	if err != nil {
		return nil, err
	}
	latest, err := newLatestValues(o.By, o.Functions)
	if err != nil {
		return nil, err
	}
	s := &Server{Options: o, page: page, store: newStoreCache(&o), cache: newAnswerCache(), limiter: newLimiter(o.Concurrent, o.Waiting), latest: latest, backlog: backlog{max: maxUnread * int64(o.Largest)}}
	store, err := s.store.pin(ctx, false)
	if err != nil {
		return nil, err
	}
	store.release()
	return s, nil
}

// Close closes the store. Requests after it fail.
func (s *Server) Close() error { return s.store.close() }

// Handler returns the handler of all requests.
func (s *Server) Handler() (http.Handler, error) {
	mux := http.NewServeMux()
	for i := range endpoints {
		e := &endpoints[i]
		mux.HandleFunc(e.method+" "+e.path, func(w http.ResponseWriter, r *http.Request) { s.serveEndpoint(w, r, e) })
	}
	mux.HandleFunc("GET /{$}", s.serveIndex)
	mux.HandleFunc("GET /page/", s.servePageFile)
	mux.HandleFunc("GET "+speedscopePath, s.serveSpeedscope)
	mux.HandleFunc("GET "+pprofPath, s.servePprof)
	mux.HandleFunc("POST "+loginPath, s.serveLogin)
	mux.HandleFunc("GET "+loginPath, func(w http.ResponseWriter, _ *http.Request) { redirect(w, "/") }) // a reload of the answer to the form
	mux.HandleFunc("POST "+logoutPath, s.serveLogout)
	mux.HandleFunc("GET /openapi.json", s.serveOpenAPI)
	mux.HandleFunc("GET /healthz", s.serveHealth)
	mux.HandleFunc("GET /metrics", s.serveMetrics)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			other := *r
			if other.Method = method; method != r.Method {
				if _, pattern := mux.Handler(&other); pattern != "/" && pattern != "" {
					w.Header().Set("Allow", method)
					s.fail(w, r, &failure{http.StatusMethodNotAllowed, fmt.Errorf("%s %s: use %s", r.Method, r.URL.Path, method)})
					return
				}
			}
		}
		s.fail(w, r, &failure{http.StatusNotFound, fmt.Errorf("%s %s: no such page or endpoint (GET /openapi.json lists the endpoints)", r.Method, r.URL.Path)})
	})
	compressed, err := gzhttp.NewWrapper(gzhttp.MinSize(1 << 10))
	if err != nil {
		return nil, err
	}
	return s.guard(compressed(mux)), nil
}

// stateName is the header that names a state of the store. An answer has the state that it was made from. A request may
// name the state that earlier answers had, so that it is answered from that one, if the server still keeps it, although
// the store has newer commits.
const stateName = "Stackmill-State"

// serveEndpoint answers a request for data.
func (s *Server) serveEndpoint(w http.ResponseWriter, r *http.Request, e *endpoint) {
	c, err := e.call(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	store, err := s.store.pinState(r.Context(), r.Header.Get(stateName))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer func() { store.release() }()
	a, err := s.reply(w, r, c, store)
	if lost := errors.Is(err, errGone) || queries.FindLostFile(err) != nil; lost && !store.isCurrent() {
		// compact has removed files of the older state: answer from the newest, which the header tells.
		newest, failed := s.store.pin(r.Context(), true)
		if failed != nil {
			s.fail(w, r, failed)
			return
		}
		store.release()
		store = newest
		a, err = s.reply(w, r, c, store)
	}
	setWarnings(w, store.leftOut())
	if err != nil {
		w.Header().Del("ETag")
		s.fail(w, r, err)
		return
	}
	if a == nil {
		w.Header().Set(stateName, store.state())
		w.WriteHeader(http.StatusNotModified)
		return
	}
	defer a.body.Release()
	header := w.Header()
	header.Set(stateName, cmp.Or(a.State, store.state()))
	setWarnings(w, store.leftOut(), a.Warnings)
	header.Set("Content-Type", a.Type)
	s.send(w, a.body)
}

// reply returns the answer to a call, or nil if the client has the current answer already. Answers to calls with SQL
// are neither cached nor tagged, because SQL such as now() may return other rows each time.
func (s *Server) reply(w http.ResponseWriter, r *http.Request, c *call, store *lease) (*reply, error) {
	if c.hasSQL() || c.uncached {
		w.Header().Set("Cache-Control", "no-store")
		return s.run(r.Context(), c, store)
	}
	tag := c.tag(store.state(), s.Version)
	w.Header().Add("Vary", stateName)
	w.Header().Set("Cache-Control", "private, no-cache") // the client revalidates with the tag
	w.Header().Set("ETag", tag)
	if matches(r.Header.Get("If-None-Match"), tag) {
		return nil, nil
	}
	return s.cache.get(r.Context(), tag, func() (*reply, error) { return s.run(r.Context(), c, store) })
}

// run answers a call within the limits on time and concurrent requests.
func (s *Server) run(ctx context.Context, c *call, store *lease) (a *reply, err error) {
	done, err := s.limiter.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	began := time.Now()
	if c.hasSQL() {
		a, err = s.runInState(ctx, c, store)
	} else {
		a, err = recoverPanic(func() (*reply, error) {
			return c.answer(ctx, store, sandbox.NewBounded(int64(s.Largest), nil))
		})
	}
	if err == nil && !s.backlog.add(a.body) {
		a.body.Release()
		err = errBacklog
	}
	s.metrics.record(c.path, time.Since(began), err)
	return a, timeoutError(ctx, s.Timeout, err)
}

// timeoutError returns an error about the time limit if the deadline has passed, otherwise err. After an
// interruption, the engine returns an error of its own.
func timeoutError(ctx context.Context, limit time.Duration, err error) error {
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return timedOut(limit)
	}
	return err
}

func timedOut(limit time.Duration) error {
	return &failure{StatusLate, fmt.Errorf("the request took longer than %v (ask about fewer experiments or a shorter time, or start the server with a longer --timeout)", limit)}
}

// recoverPanic calls f and returns a panic as an error.
func recoverPanic[T any](f func() (T, error)) (a T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error: %v", p)
		}
	}()
	return f()
}

func (o *Options) engineLimits() queries.Limits { return queries.Limits{Memory: o.Memory} }

// serveHealth reports whether the store can be read. It does not name experiments, since requests need no token.
func (s *Server) serveHealth(w http.ResponseWriter, r *http.Request) {
	store, err := s.store.pin(r.Context(), false)
	if err == nil {
		defer store.release()
		err = store.whole.db.PingContext(r.Context())
	}
	if err != nil {
		s.fail(w, r, &failure{http.StatusServiceUnavailable, err})
		return
	}
	w.Header().Set("Content-Type", textType)
	fmt.Fprintf(w, "ok, %s\n", queries.Count(store.whole.db.Count, "experiment"))
	if n := len(store.whole.db.Unreadable); n > 0 {
		fmt.Fprintf(w, "%sthe experiments of %d commit files, which cannot be read (run stackmill check)\n", queries.LeftOutPrefix, n)
	}
	if n := len(store.whole.db.Again); n > 0 {
		fmt.Fprintf(w, "%s%d damaged experiments, which must be ingested again (run stackmill check)\n", queries.LeftOutPrefix, n)
	}
}
