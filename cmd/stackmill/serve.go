//go:build cgo

package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stackmill/internal/exit"
	"stackmill/internal/terminal"
	"stackmill/queries/flight"
	"stackmill/queries/mcp"
	"stackmill/queries/serve"
	"stackmill/schema/storedir"
)

// server is one call of the verb serve.
type server struct {
	*app
	serve.Options
	listen, unix, flight, tokenFile, memory, open string
	noToken, madeToken, answer                    bool
}

// The defaults of a server.
const (
	defaultServerMemory = "1G"
	defaultMaxBytes     = 64 << 20
	defaultConcurrent   = 4
	stopGrace           = 5 * time.Second // for answers under way when the server ends
)

func newServeCommand(a *app) *cobra.Command {
	s := &server{app: a}
	c := &cobra.Command{
		Use:   "serve",
		Short: "Show the store in the browser, and answer over HTTP",
		Long: `Shows the store in a browser, and answers requests for views, comparisons, flame graphs
and SQL as JSON, CSV and Arrow, until it is stopped. It only reads the store; new
experiments appear without a restart. docs/serve.md and GET /openapi.json describe the
requests. With --flight, it also answers drivers of ADBC, JDBC and ODBC.

The server generates a token for each run and prints an address with it: open that
address, and your browser is logged in. Programs send "Authorization: Bearer TOKEN". For
a token that stays the same, use --token-file. With --unix, only you can reach the server,
and no token is needed. Requests are answered only under the server's own addresses and
the names that --host gives.`,
		Example: `  stackmill serve --store /data/store --open
  stackmill serve --listen 0.0.0.0:7788 --host profiles.example.com --token-file /etc/stackmill/token
  curl -H "Authorization: Bearer $(cat token)" 'http://127.0.0.1:7788/api/v1/views/functions?limit=20'
  stackmill serve --unix ~/stackmill.socket
  curl --unix-socket ~/stackmill.socket 'http://localhost/api/v1/views/functions?limit=20'`,
		Args: optionsOnly,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, pair := range [][2]string{{"unix", "listen"}, {"unix", "open"}, {"no-token", "token-file"}} {
				if cmd.Flags().Changed(pair[0]) && cmd.Flags().Changed(pair[1]) {
					return exit.Usagef("serve: --%s and --%s exclude each other (leave one out)", pair[0], pair[1])
				}
			}
			if s.unix != "" && len(s.Hosts) > 0 && s.tokenFile == "" && !s.noToken {
				return exit.Usagef("serve: --unix and --host: all clients of a proxy could read the store without a token (give --token-file, or --no-token if the proxy checks its clients)")
			}
			if err := s.prepare(); err != nil {
				return err
			}
			a.endsItself.Store(!s.answer)
			run := s.run
			if s.answer {
				run = func(ctx context.Context) error { return serve.Answer(ctx, s.Options, a.stdin, a.Stdout) }
			}
			if err := run(cmd.Context()); err != nil {
				return fmt.Errorf("serve: %w", err)
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&s.listen, "listen", "127.0.0.1:7788", "address to listen on; port 0 chooses a free port")
	outputVar(f, &s.unix, "unix", "", "", "listen on a Unix socket at this path, which only you can open")
	f.StringVar(&s.flight, "flight", "", "also answer Arrow Flight SQL at this address; port 0 chooses a free port")
	f.StringVar(&s.open, "open", "", "open the page in the browser, or a place in it, such as '?view=flame&experiment=test.1.er'")
	f.Lookup("open").NoOptDefVal = "/"
	f.StringVar(&s.tokenFile, "token-file", "", "require the token in this file, not one generated for this run")
	f.BoolVar(&s.noToken, "no-token", false, "require no token: all users of this machine can read the store")
	f.StringSliceVar(&s.Hosts, "host", nil, "host names of the server that clients use, in addition to its addresses")
	f.StringVar(&s.memory, "memory", defaultServerMemory, "memory of the SQL engine, and of each process that runs SQL of requests")
	f.DurationVar(&s.Timeout, "timeout", 30*time.Second, "maximum time for an answer")
	f.IntVar(&s.Concurrent, "concurrent", defaultConcurrent, "maximum number of requests at once")
	f.IntVar(&s.Waiting, "waiting", 64, "maximum number of waiting requests")
	f.IntVar(&s.Largest, "max-bytes", defaultMaxBytes, "maximum length of an answer, in bytes")
	f.StringSliceVar(&s.By, "metrics-by", []string{"host", "target"}, "labels, or columns of \"experiments\", that group experiments in /metrics, which has the values of each group's newest experiment")
	f.IntVar(&s.Functions, "metrics-functions", 0, "also export this many functions of each of these experiments in /metrics")
	f.BoolVar(&s.answer, "answer", false, "answer one request from the standard input")
	_ = f.MarkHidden("answer") // the server calls itself so
	return c
}

// prepare looks at what can be judged without a store.
func (s *server) prepare() (err error) {
	if err := s.chooseToken(); err != nil {
		return err
	}
	for flag, address := range map[string]string{"--listen": s.listen, "--flight": s.flight} {
		if address == "" {
			continue
		}
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return exit.Usagef("serve: %s: %w", flag, err)
		}
		if s.noToken && !isLoopback(host) {
			return exit.Usagef("serve: --no-token: others can reach %s (leave --no-token out, or listen on 127.0.0.1)", address)
		}
	}
	if s.open != "" {
		if _, err := placeOf("", "", s.open); err != nil {
			return exit.Usagef("serve: --open: %w", err)
		}
	}
	switch {
	case s.Timeout <= 0:
		return exit.Usagef("serve: --timeout: %v is not positive", s.Timeout)
	case s.Concurrent < 1 || s.Waiting < 0:
		return exit.Usagef("serve: --concurrent must be 1 or more, --waiting 0 or more")
	case s.Functions < 0:
		return exit.Usagef("serve: --metrics-functions must be 0 or more")
	case s.Largest < mcp.MinBytes:
		return exit.Usagef("serve: --max-bytes: %d is less than %d", s.Largest, mcp.MinBytes)
	}
	if s.Memory, err = parseSize(s.memory); err != nil {
		return exit.Usagef("serve: --memory: %w", err)
	}
	if err := serve.CheckLatest(s.By); err != nil {
		return exit.Usagef("serve: --metrics-by: %w", err)
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	s.Store, s.Version = s.store, programVersion()
	s.Program = []string{program, "serve", "--answer", "--store", s.store, "--memory", s.memory, "--timeout", s.Timeout.String(), "--max-bytes", fmt.Sprint(s.Largest)}
	s.Log = slog.New(slog.NewTextHandler(s.Stderr, nil))
	return nil
}

// chooseToken finds the token that requests need: the one of the file, or one for this run if
// anybody but the user could reach the server.
func (s *server) chooseToken() (err error) {
	switch {
	case s.answer: // it has no listener
	case s.tokenFile != "":
		s.Token, err = readToken(s.tokenFile, &s.Output)
		s.TokenOnSocket = true
	case s.unix != "" && s.flight == "": // a socket is the user's alone
	case s.noToken:
		s.Warnf("serve: --no-token: all users of this machine can read the store (--unix PATH needs no token and is yours alone)")
	default:
		s.Token, s.madeToken = rand.Text(), true
	}
	return err
}

// leastToken is the least length of a token, so that nobody guesses it.
const leastToken = 16

// readToken reads a token from a file.
func readToken(file string, warn *terminal.Output) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("serve: --token-file: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < leastToken || strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return "", exit.Usagef("serve: --token-file: %s must have one word of at least %d letters, digits and signs (openssl rand -hex 24 > FILE writes one)", file, leastToken)
	}
	if about, err := os.Stat(file); err == nil && about.Mode().IsRegular() && about.Mode()&0o004 != 0 {
		warn.Warnf("serve: --token-file: all users of this machine can read %s (chmod o-r keeps it from them)", file)
	}
	return token, nil
}

// isLoopback reports whether only this machine reaches an address.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// run serves until the context ends.
func (s *server) run(ctx context.Context) (err error) {
	listener, address, err := s.listenHTTP(ctx)
	if err != nil {
		return err
	}
	defer listener.Close()
	srv, err := serve.New(ctx, s.Options)
	if errors.Is(err, storedir.ErrNoStore) {
		err = fmt.Errorf("no store at %s (run `stackmill ingest --store %s PATH` first)", storedir.DisplayName(s.store), storedir.DisplayName(s.store))
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, srv.Close()) }()
	handler, err := srv.Handler()
	if err != nil {
		return err
	}
	ended := make(chan error, 2)
	web := &http.Server{
		Handler: handler, ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelWarn), MaxHeaderBytes: 64 << 10,
		ConnState: new(serve.Connections).Note, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: s.Timeout + 2*time.Minute, IdleTimeout: 2 * time.Minute,
	}
	go func() { ended <- web.Serve(listener) }()
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
		defer cancel()
		if web.Shutdown(last) != nil { // answers that take longer
			_ = web.Close()
		}
	}()
	page := ""
	if s.madeToken && s.unix == "" {
		page = "/?token=" + s.Token // this once: the page takes it out of the browser's address bar
	}
	ways := []string{"listening on " + address + page}
	if s.flight != "" {
		listener, address, err := s.listening(ctx, s.flight)
		if err != nil {
			return err
		}
		drivers := flight.New(srv)
		go func() { ended <- drivers.Serve(listener) }()
		defer drivers.Stop(stopGrace)
		ways = append(ways, "Flight SQL on grpc://"+address)
		switch {
		case s.madeToken && s.unix != "":
			ways = append(ways, "token: "+s.Token)
			fallthrough
		case s.Token != "":
			ways = append(ways, "drivers send the token as the password of any user, or as Authorization: Bearer TOKEN")
		}
	}
	for _, way := range ways {
		if err := s.Printf("%s\n", way); err != nil {
			return err
		}
	}
	if s.open != "" {
		place, err := placeOf(address, s.Token, s.open)
		if err != nil {
			return err
		}
		done, err := s.openBrowser(place, s.Token != "")
		if err != nil {
			return err
		}
		defer done()
	}
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return nil
	}
}

// listenHTTP listens as the options say, and returns the address to show.
func (s *server) listenHTTP(ctx context.Context) (net.Listener, string, error) {
	if s.unix != "" {
		l, path, err := listenUnix(ctx, s.unix)
		s.Socket, s.Hosts = path, append(s.Hosts, "localhost") // what clients of sockets send
		return l, "unix:" + path, err
	}
	l, address, err := s.listening(ctx, s.listen)
	if err != nil {
		return nil, "", err
	}
	s.Port = l.Addr().(*net.TCPAddr).Port
	if host, _, _ := net.SplitHostPort(address); net.ParseIP(host) == nil {
		s.Hosts = append(s.Hosts, host)
	}
	return l, "http://" + address, nil
}

// listening listens, and returns the address by which this machine knows it.
func (s *server) listening(ctx context.Context, on string) (net.Listener, string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", on)
	if err != nil {
		return nil, "", err
	}
	at := l.Addr().(*net.TCPAddr)
	if at.IP.IsUnspecified() { // by any of its addresses
		if name, err := os.Hostname(); err == nil {
			return l, net.JoinHostPort(name, fmt.Sprint(at.Port)), nil
		}
	}
	return l, at.String(), nil
}
