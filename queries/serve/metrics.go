package serve

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

// metrics are what Prometheus is told of a server.
type metrics struct {
	mu sync.Mutex
	of map[string]*measured // by path of the endpoint
}

// measured is what became of an endpoint's requests that were not answered from memory.
type measured struct {
	answered, failed int64
	took             time.Duration
}

func (m *metrics) answered(path string, took time.Duration, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil {
		m.of = map[string]*measured{}
	}
	x := m.of[path]
	if x == nil {
		x = &measured{}
		m.of[path] = x
	}
	x.took += took
	if err != nil {
		x.failed++
	} else {
		x.answered++
	}
}

// head writes what precedes the series of a name.
func head(w io.Writer, name, help, kind string) {
	fmt.Fprintf(w, "# HELP %[1]s %[2]s\n# TYPE %[1]s %[3]s\n", name, help, kind)
}

// gauge writes a series without labels.
func gauge(w io.Writer, name, help string, value any) {
	head(w, name, help, "gauge")
	fmt.Fprintf(w, "%s %v\n", name, value)
}

// measure answers in the text format of Prometheus.
func (s *Server) measure(w http.ResponseWriter, r *http.Request) {
	experiments, leftOut, unreadable := 0, 0, 0
	if store, err := s.shelf.pin(r.Context(), false); err == nil {
		db := store.whole.db
		experiments, unreadable, leftOut = db.Count, len(db.Unreadable), len(db.Again)
		for _, u := range db.Unreadable {
			leftOut += len(u.Experiments)
		}
		setWarnings(w, store.leftOut())
		store.release()
	}
	values, err := s.values(r.Context())
	failed := 0
	if err != nil && r.Context().Err() == nil {
		failed = 1
		s.Log.Error("request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	gauge(w, "stackmill_store_experiments", "Experiments in the store.", experiments)
	gauge(w, "stackmill_store_commits_unreadable", "Commit files that cannot be read: their experiments are left out of all answers.", unreadable)
	gauge(w, "stackmill_store_experiments_left_out", "Experiments that are known to be left out of all answers, for that or because they were damaged.", leftOut)
	gauge(w, "stackmill_values_failed", "Whether the values of experiments cannot be read now, which are missing then.", failed)
	_, _ = w.Write(values) // the client may have gone
	gauge(w, "stackmill_requests_running", "Requests that are being answered.", len(s.turns.free))
	gauge(w, "stackmill_requests_waiting", "Requests that wait for their turn.", s.turns.waiting.Load())
	s.metrics.mu.Lock()
	defer s.metrics.mu.Unlock()
	paths := slices.Sorted(maps.Keys(s.metrics.of))
	counter := func(name, help string, value func(*measured) any) {
		head(w, name, help, "counter")
		for _, p := range paths {
			fmt.Fprintf(w, "%s{path=%q} %v\n", name, p, value(s.metrics.of[p]))
		}
	}
	counter("stackmill_requests_answered_total", "Requests that were worked on and answered.", func(x *measured) any { return x.answered })
	counter("stackmill_requests_failed_total", "Requests that were worked on and failed.", func(x *measured) any { return x.failed })
	counter("stackmill_request_seconds_total", "How long the work on requests took.", func(x *measured) any { return x.took.Seconds() })
}
