//go:build cgo

// Package daemon runs the server of a store: its listeners, its token, and the browser that shows
// its page.
package daemon

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"stackmill/internal/exit"
	"stackmill/internal/tempdir"
	"stackmill/internal/terminal"
	"stackmill/internal/unixsocket"
	"stackmill/queries/console"
	"stackmill/queries/flight"
	"stackmill/queries/serve"
)

// Server serves a store over HTTP and, if Flight is set, over Arrow Flight SQL.
type Server struct {
	serve.Options
	Out                  *terminal.Output
	Listen, Unix, Flight string // addresses to listen on; a Unix socket replaces Listen
	TokenFile            string
	NoToken              bool
	Page                 string // what to open in a browser: "/", or the query of the page's URL from ? on; "": nothing

	madeToken bool // the token was made for this run, so it must be printed
}

// stopGrace is how long requests in progress may take when the server ends.
const stopGrace = 5 * time.Second

// Run serves until the context ends.
func (s *Server) Run(ctx context.Context) (err error) {
	listener, address, err := s.listenHTTP(ctx)
	if err != nil {
		return err
	}
	defer listener.Close()
	srv, err := serve.New(ctx, s.Options)
	if err != nil {
		return console.NoStore(s.Store, err)
	}
	defer func() { err = errors.Join(err, srv.Close()) }()
	handler, err := srv.Handler()
	if err != nil {
		return err
	}
	ended := make(chan error, 2)
	web := &http.Server{
		Handler: handler, ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelWarn), MaxHeaderBytes: 64 << 10, ConnState: new(serve.Connections).Note,
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: s.Timeout + 2*time.Minute, IdleTimeout: 2 * time.Minute,
	}
	go func() { ended <- web.Serve(listener) }()
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
		defer cancel()
		if web.Shutdown(last) != nil { // some requests take longer: cut them off
			_ = web.Close()
		}
	}()
	greeting := s.Out.Page()
	page := ""
	if s.madeToken && s.Unix == "" {
		page = "/?token=" + s.Token // for the first request: the page removes it from the browser's address bar
	}
	greeting.Printf("listening on %s\n", address+page)
	if s.Flight != "" {
		listener, address, err := listen(ctx, s.Flight)
		if err != nil {
			return err
		}
		drivers := flight.New(srv)
		go func() { ended <- drivers.Serve(listener) }()
		defer drivers.Stop(stopGrace)
		greeting.Printf("Flight SQL on grpc://%s\n", address)
		if s.madeToken && s.Unix != "" {
			greeting.Printf("token: %s\n", s.Token)
		}
		if s.Token != "" {
			greeting.Printf("drivers send the token as the password of any user, or as Authorization: Bearer TOKEN\n")
		}
	}
	if err := greeting.Flush(); err != nil {
		return err
	}
	if s.Page != "" {
		at, err := PageAddress(address, s.Token, s.Page)
		if err != nil {
			return err
		}
		done, err := openBrowser(s.Out, at, s.Token != "")
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

// listenHTTP listens on the Unix socket or the TCP address, and returns the URL to print.
func (s *Server) listenHTTP(ctx context.Context) (net.Listener, string, error) {
	if s.Unix != "" {
		l, path, err := unixsocket.Listen(ctx, s.Unix)
		if err != nil {
			return nil, "", fmt.Errorf("--unix: %w", err)
		}
		s.Socket, s.Hosts = path, append(s.Hosts, "localhost") // the Host header of clients that use a socket
		return l, "unix:" + path, nil
	}
	l, address, err := listen(ctx, s.Listen)
	if err != nil {
		return nil, "", err
	}
	s.Port = l.Addr().(*net.TCPAddr).Port
	if host, _, _ := net.SplitHostPort(address); net.ParseIP(host) == nil {
		s.Hosts = append(s.Hosts, host)
	}
	return l, "http://" + address, nil
}

// listen listens on a TCP address, and returns the address under which clients reach it.
func listen(ctx context.Context, on string) (net.Listener, string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", on)
	if err != nil {
		return nil, "", err
	}
	at := l.Addr().(*net.TCPAddr)
	if at.IP.IsUnspecified() { // it listens on all addresses of the machine: clients can use its name
		if name, err := os.Hostname(); err == nil {
			return l, net.JoinHostPort(name, fmt.Sprint(at.Port)), nil
		}
	}
	return l, at.String(), nil
}

// ChooseToken sets the token that requests must present: the one in the file, or a new one. There
// is none if only the user can reach the server, or with --no-token.
func (s *Server) ChooseToken() (err error) {
	switch {
	case s.TokenFile != "":
		s.Token, err = readToken(s.TokenFile, s.Out)
		s.TokenOnSocket = true
	case s.Unix != "" && s.Flight == "": // only the user can open the socket: no token
	case s.NoToken:
		s.Out.Warnf("serve: --no-token: all users of this machine can read the store (--unix PATH needs no token and is yours alone)")
	default:
		s.Token, s.madeToken = rand.Text(), true
	}
	return err
}

// minToken is the minimum length of a token, so that it cannot be guessed.
const minToken = 16

func readToken(file string, warn *terminal.Output) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("serve: --token-file: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < minToken || strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return "", exit.Usagef("serve: --token-file: %s must contain one token of at least %d printable ASCII characters, without blanks (openssl rand -hex 24 > FILE writes one)", file, minToken)
	}
	if about, err := os.Stat(file); err == nil && about.Mode().IsRegular() && about.Mode()&0o004 != 0 {
		warn.Warnf("serve: --token-file: all users of this machine can read %s (chmod o-r keeps it from them)", file)
	}
	return token, nil
}

// IsLoopback reports whether only this machine can reach a host.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// openBrowser opens an address in $BROWSER, or in the system's default browser. All users of a
// machine can read command lines, so a secret address is passed in a file that only the user can
// read, and that done removes.
func openBrowser(out *terminal.Output, address string, secret bool) (done func(), err error) {
	done = func() {}
	if secret {
		if address, done, err = writeRedirect(address); err != nil {
			return nil, err
		}
	}
	defaults := map[string]string{"darwin": "open"}
	program := cmp.Or(os.Getenv("BROWSER"), defaults[runtime.GOOS], "xdg-open")
	c := exec.Command(program, address)
	if err := c.Start(); err != nil {
		out.Warnf("no browser could be opened: %v (open the address above)", err)
		return done, nil
	}
	go func() {
		if err := c.Wait(); err != nil {
			out.Warnf("%s failed: %v (open the address above)", program, err)
		}
	}()
	return done, nil
}

var redirectPage = template.Must(template.New("redirect").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={{.}}">
<title>stackmill</title>
</head>
<body><a href="{{.}}">stackmill</a></body>
</html>
`))

// writeRedirect writes an HTML file that redirects to an address, and returns its URL. remove
// deletes it.
func writeRedirect(address string) (file string, remove func(), err error) {
	dir, err := tempdir.Make("open") // only the user can read it
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = dir.Remove() } // if it stays: its token is useless once the server ends
	var text strings.Builder
	err = redirectPage.Execute(&text, address)
	path := filepath.Join(dir.Path, "open.html")
	if err == nil {
		err = os.WriteFile(path, []byte(text.String()), 0o600)
	}
	if err != nil {
		remove()
		return "", nil, err
	}
	return (&url.URL{Scheme: "file", Path: path}).String(), remove, nil
}

// PageAddress returns the URL of a view of the page, with the token if there is one. place is "/",
// or the query of the page's URL from ? on.
func PageAddress(server, token, place string) (string, error) {
	if place != "/" && (!strings.HasPrefix(place, "?") || strings.ContainsFunc(place, func(c rune) bool { return c <= ' ' || c > '~' })) {
		return "", fmt.Errorf("%q is not a part of the page's address (give what follows the host, from ? on)", place)
	}
	query := strings.TrimPrefix(strings.TrimPrefix(place, "/"), "?")
	if token != "" {
		query = strings.TrimSuffix("token="+url.QueryEscape(token)+"&"+query, "&")
	}
	if query == "" {
		return server, nil
	}
	return server + "/?" + query, nil
}
