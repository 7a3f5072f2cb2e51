package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"stackmill/queries/serve"
)

// answering is the name of an environment variable. If it is set, the test's program answers a
// request about a store, as the server's processes do.
const answering = "STACKMILL_TEST_ANSWER"

// answer answers a request and ends the program, if answering is set.
func answer() {
	text := os.Getenv(answering)
	if text == "" {
		return
	}
	var o serve.Options
	err := json.Unmarshal([]byte(text), &o)
	if err == nil {
		err = serve.Answer(context.Background(), o, os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// token is the token of all servers of the tests.
const token = "the-token-of-the-tests"

// server is a server for a store; it is behind nginx if that is installed.
type server struct {
	*serve.Server
	direct  string // its own address; "" if it listens on a Unix socket
	address string // the address that browsers use
	end     func() error

	mu       sync.Mutex
	answered map[string][]int // the statuses of all answers, by path
}

// statuses returns the statuses of all answers at a path.
func (s *server) statuses(path string) []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.answered[path])
}

// record records the statuses of answers.
func (s *server) record(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := &statusWriter{w, http.StatusOK}
		next.ServeHTTP(a, r)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.answered[r.URL.Path] = append(s.answered[r.URL.Path], a.status)
	})
}

// statusWriter records the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (a *statusWriter) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (a *statusWriter) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// serving serves a store with options that change may change, nil for none.
func serving(dir string, change func(*serve.Options)) (*server, error) {
	o := serve.Options{
		Store: dir, Version: "test", Memory: 512 << 20, Timeout: time.Minute, Concurrent: 4, Waiting: 200, Largest: 64 << 20, Token: token,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	if change != nil {
		change(&o)
	}
	options, err := json.Marshal(map[string]any{"Store": o.Store, "Version": o.Version, "Memory": o.Memory, "Timeout": o.Timeout, "Largest": o.Largest})
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	o.Program = []string{"/usr/bin/env", answering + "=" + string(options), program}
	s := &server{answered: map[string][]int{}}
	if s.Server, err = serve.New(context.Background(), o); err != nil {
		return nil, err
	}
	handler, err := s.Handler()
	if err != nil {
		return nil, err
	}
	network, at := "tcp", fmt.Sprintf("127.0.0.1:%d", o.Port)
	if o.Socket != "" {
		network, at = "unix", o.Socket
	}
	web := httptest.NewUnstartedServer(s.record(handler))
	web.Listener.Close()
	if web.Listener, err = net.Listen(network, at); err != nil {
		return nil, err
	}
	web.Start()
	s.end = func() error { web.Close(); return s.Close() }
	to := "http://unix:" + o.Socket
	if o.Socket == "" {
		s.direct, s.Port, to = web.URL, web.Listener.Addr().(*net.TCPAddr).Port, web.URL
	}
	s.address = s.direct
	if hasNginx() {
		s.address, err = s.behind("", "location / { proxy_pass "+to+"; proxy_set_header Host $http_host; }")
	}
	return s, err
}

// behind starts nginx in front of the server, and returns the address. nginx listens with these
// options and has these directives.
func (s *server) behind(options, directives string) (address string, err error) {
	at, err := choosePort()
	if err != nil {
		return "", err
	}
	stop, err := startNginx(at+options, directives)
	if err != nil {
		return "", err
	}
	s.Hosts = append(s.Hosts, at)
	end := s.end
	s.end = func() error { return errors.Join(stop(), end()) }
	if options == " ssl" {
		return "https://" + at, nil
	}
	return "http://" + at, nil
}

// served is serving, until a test ends.
func served(t *testing.T, dir string, change func(*serve.Options)) *server {
	t.Helper()
	s, err := serving(dir, change)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.end(); err != nil {
			t.Error(err)
		}
	})
	return s
}
