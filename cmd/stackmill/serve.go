//go:build cgo

package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stackmill/internal/exit"
	"stackmill/queries/daemon"
	"stackmill/queries/mcp"
	"stackmill/queries/serve"
)

// server runs `stackmill serve`.
type server struct {
	*app
	daemon.Server
	answer bool // answer one request, read from standard input, and exit
}

// The defaults of a server.
const (
	defaultServerMemory = "1G"
	defaultMaxBytes     = 64 << 20
	defaultConcurrent   = 4
)

func newServeCommand(a *app) *cobra.Command {
	s := &server{app: a, Server: daemon.Server{Out: &a.Output}}
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
			if s.Unix != "" && len(s.Hosts) > 0 && s.TokenFile == "" && !s.NoToken {
				return exit.Usagef("serve: --unix and --host: all clients of a proxy could read the store without a token (give --token-file, or --no-token if the proxy checks its clients)")
			}
			if err := s.prepare(); err != nil {
				return err
			}
			a.endsItself.Store(!s.answer)
			run := s.Run
			if s.answer {
				run = func(ctx context.Context) error { return serve.Answer(ctx, s.Options, a.stdin, a.Stdout) }
			}
			return named("serve", run(cmd.Context()))
		},
	}
	f := c.Flags()
	f.StringVar(&s.Listen, "listen", "127.0.0.1:7788", "address to listen on; port 0 chooses a free port")
	outputVar(f, &s.Unix, "unix", "", "", "listen on a Unix socket at this path, which only you can open")
	f.StringVar(&s.Flight, "flight", "", "also answer Arrow Flight SQL at this address; port 0 chooses a free port")
	f.StringVar(&s.Page, "open", "", "open the page in the browser, or a place in it, such as '?view=flame&experiment=test.1.er'")
	f.Lookup("open").NoOptDefVal = "/"
	f.StringVar(&s.TokenFile, "token-file", "", "require the token in this file, not one generated for this run")
	f.BoolVar(&s.NoToken, "no-token", false, "require no token: all users of this machine can read the store")
	f.StringSliceVar(&s.Hosts, "host", nil, "host names of the server that clients use, in addition to its addresses")
	sizeVar(f, &s.Memory, "memory", defaultServerMemory, "memory of the SQL engine, and of each process that runs SQL of requests")
	f.DurationVar(&s.Timeout, "timeout", 30*time.Second, "maximum time for an answer")
	f.IntVar(&s.Concurrent, "concurrent", defaultConcurrent, "maximum number of requests at once")
	f.IntVar(&s.Waiting, "waiting", 64, "maximum number of waiting requests")
	f.IntVar(&s.Largest, "max-bytes", defaultMaxBytes, "maximum length of an answer, in bytes")
	f.StringSliceVar(&s.By, "metrics-by", []string{"host", "target"}, "labels, or columns of \"experiments\", that group experiments in /metrics, which has the values of each group's newest experiment")
	f.IntVar(&s.Functions, "metrics-functions", 0, "also export this many functions of each of these experiments in /metrics")
	f.StringVar(&s.Queries, "queries", "", "folder with queries (*.sql) that the page offers")
	positive(f, "timeout", &s.Timeout)
	addressFlag(f, "listen", &s.Listen)
	addressFlag(f, "flight", &s.Flight)
	atLeast(f, "concurrent", &s.Concurrent, 1)
	atLeast(f, "waiting", &s.Waiting, 0)
	atLeast(f, "max-bytes", &s.Largest, mcp.MinBytes)
	atLeast(f, "metrics-functions", &s.Functions, 0)
	f.BoolVar(&s.answer, "answer", false, "answer one request from the standard input")
	_ = f.MarkHidden("answer") // for internal use: the server runs itself with it
	return c
}

// addressFlag makes a flag refuse texts that are not an address with a port.
func addressFlag(f *pflag.FlagSet, name string, address *string) {
	checkValue(f, name, func() error {
		_, port, err := net.SplitHostPort(*address)
		if _, perr := strconv.ParseUint(port, 10, 16); err != nil || perr != nil {
			return fmt.Errorf("%q is not an address (write 127.0.0.1:7788)", *address)
		}
		return nil
	})
}

// prepare checks the flags and sets the options.
func (s *server) prepare() error {
	if s.Queries != "" {
		if _, err := os.ReadDir(s.Queries); err != nil {
			return exit.Usagef("serve: --queries: %v", err)
		}
	}
	if !s.answer { // a process that answers one request does not listen
		if err := s.ChooseToken(); err != nil {
			return err
		}
	}
	for _, address := range []string{s.Listen, s.Flight} {
		if address == "" {
			continue
		}
		host, _, _ := net.SplitHostPort(address) // addressFlag has checked it
		if s.NoToken && !daemon.IsLoopback(host) {
			return exit.Usagef("serve: --no-token: others can reach %s (leave --no-token out, or listen on 127.0.0.1)", address)
		}
	}
	if s.Page != "" {
		if _, err := daemon.PageAddress("", "", s.Page); err != nil {
			return exit.Usagef("serve: --open: %w", err)
		}
	}
	if err := serve.CheckLatest(s.By); err != nil {
		return exit.Usagef("serve: --metrics-by: %w", err)
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	s.Store, s.Version = s.store, programVersion()
	s.Program = []string{program, "serve", "--answer", "--store", s.store, "--memory", fmt.Sprint(s.Memory), "--timeout", s.Timeout.String(), "--max-bytes", fmt.Sprint(s.Largest)}
	s.Log = slog.New(slog.NewTextHandler(s.Out.Stderr, nil))
	return nil
}
