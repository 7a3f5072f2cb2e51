package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stackmill/queries/serve"
	"stackmill/storedir"
)

// server is one call of the verb serve.
type server struct {
	*app
	serve.Options
	listen, tokenFile, memory string
	answer                    bool
}

// The sizes of a server without a wish.
const (
	usualServerMemory = "1G"
	usualLargest      = 64 << 20
	usualConcurrent   = 4
	stopGrace         = 5 * time.Second // for answers under way when the server ends
)

func newServeCommand(a *app) *cobra.Command {
	s := &server{app: a}
	c := &cobra.Command{
		Use:   "serve",
		Short: "Show the store in a browser, and answer over HTTP",
		Long: `Shows the store in a browser, and answers requests for views, comparisons, flame graphs and
SQL as JSON, CSV and Arrow, until it is stopped. It only reads the store; what is ingested
meanwhile is there without a restart. docs/serve.md and GET /openapi.json say what can be
asked.

On addresses that others can reach it wants a token with each request, which is the
content of --token-file. Requests are only answered under the server's own addresses,
and names that --host gives.`,
		Example: `  stackmill serve --store /data/store
  curl 'http://127.0.0.1:7788/api/v1/views/functions?experiment=test.1.er&limit=20'
  stackmill serve --listen 0.0.0.0:7788 --host profiles.example.com --token-file /etc/stackmill/token`,
		Args: optionsOnly,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.prepare(); err != nil {
				return err
			}
			a.endsItself.Store(!s.answer)
			run := s.run
			if s.answer {
				run = func(ctx context.Context) error { return serve.Answer(ctx, s.Options, a.stdin, a.stdout) }
			}
			if err := run(cmd.Context()); err != nil {
				return fmt.Errorf("serve: %w", err)
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&s.listen, "listen", "127.0.0.1:7788", "the address; port 0 takes a free one")
	f.StringVar(&s.tokenFile, "token-file", "", "want the token in this file with each request")
	f.StringSliceVar(&s.Hosts, "host", nil, "names by which clients know the server, besides its addresses")
	f.StringVar(&s.memory, "memory", usualServerMemory, "memory of the SQL engine, and of each process that runs SQL of requests")
	f.DurationVar(&s.Timeout, "timeout", 30*time.Second, "how long one answer may take")
	f.IntVar(&s.Concurrent, "concurrent", usualConcurrent, "how many requests are answered at once")
	f.IntVar(&s.Waiting, "waiting", 64, "how many more may wait for their turn")
	f.IntVar(&s.Largest, "max-bytes", usualLargest, "how long an answer may be")
	f.BoolVar(&s.answer, "answer", false, "answer one request from the standard input")
	_ = f.MarkHidden("answer") // the server calls itself so
	return c
}

// prepare looks at what can be judged without a store.
func (s *server) prepare() (err error) {
	host, _, err := net.SplitHostPort(s.listen)
	if err != nil {
		return usageErrorf("serve: --listen: %w", err)
	}
	if s.tokenFile != "" {
		text, err := os.ReadFile(s.tokenFile)
		if err != nil {
			return fmt.Errorf("serve: --token-file: %w", err)
		}
		if s.Token = strings.TrimSpace(string(text)); s.Token == "" {
			return usageErrorf("serve: --token-file: %s is empty", s.tokenFile)
		}
	}
	switch {
	case s.Token == "" && !isLoopback(host):
		return usageErrorf("serve: --listen: others can reach %s (give --token-file, or listen on 127.0.0.1)", s.listen)
	case s.Timeout <= 0:
		return usageErrorf("serve: --timeout: %v is not longer than 0", s.Timeout)
	case s.Concurrent < 1 || s.Waiting < 0:
		return usageErrorf("serve: --concurrent must be 1 or more, --waiting 0 or more")
	case s.Largest < leastAnswer:
		return usageErrorf("serve: --max-bytes: %d is less than %d", s.Largest, leastAnswer)
	}
	if s.Memory, err = parseSize(s.memory); err != nil {
		return usageErrorf("serve: --memory: %w", err)
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	s.Store, s.Cache, s.Version = s.store, defaultCache(), programVersion()
	s.Program = []string{program, "serve", "--answer", "--store", s.store, "--memory", s.memory, "--timeout", s.Timeout.String(), "--max-bytes", fmt.Sprint(s.Largest)}
	s.Log = slog.New(slog.NewTextHandler(s.stderr, nil))
	return nil
}

// isLoopback reports whether only this machine reaches an address.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// run serves until the context ends.
func (s *server) run(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.listen)
	if err != nil {
		return err
	}
	at := listener.Addr().(*net.TCPAddr)
	address := at.String()
	if s.Port = at.Port; at.IP.IsUnspecified() { // this machine's, by any address
		if name, err := os.Hostname(); err == nil {
			s.Hosts, address = append(s.Hosts, name), net.JoinHostPort(name, fmt.Sprint(at.Port))
		}
	}
	srv, err := serve.New(ctx, s.Options)
	if errors.Is(err, storedir.ErrNoStore) {
		err = fmt.Errorf("no store at %s (run `stackmill ingest --store %s PATH` first)", s.store, s.store)
	}
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	handler, err := srv.Handler()
	if err != nil {
		return errors.Join(err, srv.Close(), listener.Close())
	}
	web := &http.Server{
		Handler: handler, ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelWarn), MaxHeaderBytes: 64 << 10,
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: s.Timeout + 2*time.Minute, IdleTimeout: 2 * time.Minute,
	}
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(listener) }()
	if err := s.printf("listening on http://%s\n", address); err != nil {
		return errors.Join(err, web.Close(), srv.Close())
	}
	select {
	case err := <-ended:
		return errors.Join(err, srv.Close())
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	if err := web.Shutdown(last); err != nil { // answers that take longer
		_ = web.Close()
	}
	return srv.Close()
}
