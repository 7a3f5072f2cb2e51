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

// serverMetrics counts requests, for GET /metrics.
type serverMetrics struct {
	mu     sync.Mutex
	byPath map[string]*requestStats // keys are the paths of endpoints
}

// requestStats counts requests to an endpoint, except those answered from the cache.
type requestStats struct {
	answered, failed int64
	took             time.Duration
}

func (m *serverMetrics) record(path string, took time.Duration, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byPath == nil {
		m.byPath = map[string]*requestStats{}
	}
	x := m.byPath[path]
	if x == nil {
		x = &requestStats{}
		m.byPath[path] = x
	}
	x.took += took
	if err != nil {
		x.failed++
	} else {
		x.answered++
	}
}

// head writes the HELP and TYPE lines of a metric.
func head(w io.Writer, name, help, kind string) {
	fmt.Fprintf(w, "# HELP %[1]s %[2]s\n# TYPE %[1]s %[3]s\n", name, help, kind)
}

// gauge writes a metric with one value and no labels.
func gauge(w io.Writer, name, help string, value any) {
	head(w, name, help, "gauge")
	fmt.Fprintf(w, "%s %v\n", name, value)
}

// serveMetrics answers GET /metrics, in the text format of Prometheus.
func (s *Server) serveMetrics(w http.ResponseWriter, r *http.Request) {
	experiments, leftOut, unreadable := 0, 0, 0
	if store, err := s.store.pin(r.Context(), false); err == nil {
		db := store.whole.db
		experiments, unreadable, leftOut = db.Count, len(db.Unreadable), len(db.Again)
		for _, u := range db.Unreadable {
			leftOut += len(u.Experiments)
		}
		setWarnings(w, store.leftOut())
		store.release()
	}
	values, err := s.experimentValues(r.Context())
	failed := 0
	if err != nil && r.Context().Err() == nil {
		failed = 1
		s.Log.Error("request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	gauge(w, "stackmill_store_experiments", "Experiments in the store.", experiments)
	gauge(w, "stackmill_store_commits_unreadable", "Commit files that cannot be read: their experiments are left out of all answers.", unreadable)
	gauge(w, "stackmill_store_experiments_left_out", "Experiments known to be left out of all answers, because their commit file cannot be read or they were damaged.", leftOut)
	gauge(w, "stackmill_values_failed", "1 if reading the values of experiments failed, so that they are missing.", failed)
	_, _ = w.Write(values) // the client may have gone
	gauge(w, "stackmill_requests_running", "Requests that are being answered.", len(s.limiter.slots))
	gauge(w, "stackmill_requests_waiting", "Requests that wait for a slot.", s.limiter.waiting.Load())
	s.metrics.mu.Lock()
	defer s.metrics.mu.Unlock()
	paths := slices.Sorted(maps.Keys(s.metrics.byPath))
	counter := func(name, help string, value func(*requestStats) any) {
		head(w, name, help, "counter")
		for _, p := range paths {
			fmt.Fprintf(w, "%s{path=%q} %v\n", name, p, value(s.metrics.byPath[p]))
		}
	}
	counter("stackmill_requests_answered_total", "Requests that were executed and answered.", func(x *requestStats) any { return x.answered })
	counter("stackmill_requests_failed_total", "Requests that were executed and failed.", func(x *requestStats) any { return x.failed })
	counter("stackmill_request_seconds_total", "The time spent on executing requests.", func(x *requestStats) any { return x.took.Seconds() })
}
