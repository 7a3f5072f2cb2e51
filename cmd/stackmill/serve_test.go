package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	grpcstatus "google.golang.org/grpc/status"

	"stackmill/queries/daemon"
	"stackmill/queries/storetest"
)

// serving starts the verb with options, and returns it with the lines that it prints until it is
// ready, and its standard error.
func serving(t *testing.T, lines int, args ...string) (c *exec.Cmd, printed []string, errors *bytes.Buffer) {
	t.Helper()
	c = program(t, append([]string{"serve"}, args...)...)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errors = &bytes.Buffer{}
	c.Stderr = errors
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() }) // it has ended if the test passed
	for r := bufio.NewReader(out); len(printed) < lines; {
		line, err := r.ReadString('\n')
		if err != nil {
			_ = c.Wait()
			t.Fatalf("after %q: %v %s", printed, err, errors)
		}
		printed = append(printed, strings.TrimSpace(line))
	}
	return c, printed, errors
}

// end stops a server.
func end(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// statusOf returns the status of an answer, and its body.
func statusOf(t *testing.T, client *http.Client, method, url, body, token string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// The server prints an address with a token, answers requests itself and through other processes,
// and ends on a signal. The token is in no command line, environment or log, where others could
// read it.
func TestServe(t *testing.T) {
	c, printed, errors := serving(t, 3, "--store", storetest.New(t, storetest.Two), "--listen", "127.0.0.1:0", "--flight", "127.0.0.1:0")
	page, ok := strings.CutPrefix(printed[0], "listening on ")
	url, token, found := strings.Cut(page, "/?token=")
	if !ok || !found || len(token) < 16 {
		t.Fatalf("it says %q", printed[0])
	}
	get := func(path string) string {
		t.Helper()
		status, text := statusOf(t, http.DefaultClient, "GET", url+path, "", token)
		if status != http.StatusOK {
			t.Errorf("%s: %d: %s", path, status, text)
		}
		return text
	}
	if text := get("/api/v1/views/functions?experiment=monday/test.1.er&limit=2&format=csv"); !strings.Contains(text, "totalcpu") {
		t.Error(text)
	}
	if _, text := statusOf(t, http.DefaultClient, "POST", url+"/api/v1/query", `{"sql": "SELECT count(*) AS n FROM experiments"}`, token); text != "[\n{\"n\":2}\n]\n" {
		t.Error(text)
	}
	if text := get(""); !strings.Contains(text, "/app.js") {
		t.Error(text)
	}
	if text := get("/metrics"); strings.Contains(text, token) {
		t.Error("the token is in /metrics")
	}
	for path, want := range map[string]int{"/api/v1/views": 401, "/metrics": 401, "/openapi.json": 401, "/": 401, "/?token=wrong": 401, "/healthz": 200} {
		if status, text := statusOf(t, http.DefaultClient, "GET", url+path, "", ""); status != want {
			t.Errorf("%s without a token: %d: %s", path, status, text)
		}
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	if status, text := statusOf(t, &http.Client{Jar: jar}, "GET", page, "", ""); status != 200 || !strings.Contains(text, "/app.js") {
		t.Errorf("the printed address: %d: %s", status, text)
	}
	drivers, ok := strings.CutPrefix(printed[1], "Flight SQL on grpc://")
	if !ok {
		t.Fatalf("it says %q", printed[1])
	}
	client, err := flightsql.NewClient(drivers, nil, nil, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Execute(t.Context(), "SELECT 1"); grpcstatus.Code(err) != codes.Unauthenticated {
		t.Errorf("Flight SQL without a token: %v", err)
	}
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token)
	info, err := client.Execute(ctx, "SELECT count(*) AS n FROM experiments")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := client.DoGet(ctx, info.Endpoint[0].Ticket)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Release()
	if !rows.Next() || rows.RecordBatch().Column(0).ValueStr(0) != "2" {
		t.Error(rows.RecordBatch(), rows.Err())
	}
	for _, file := range []string{"cmdline", "environ"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", c.Process.Pid, file))
		if err == nil && bytes.Contains(text, []byte(token)) {
			t.Errorf("the token is in the server's %s", file)
		}
	}
	end(t, c)
	if strings.Contains(errors.String(), token) {
		t.Errorf("the token is in %s", errors)
	}
}

// A token from --token-file is not printed; with --no-token, the server says who can read the
// store.
func TestServeTokens(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("a-token-of-my-own\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c, printed, errors := serving(t, 1, "--store", store, "--listen", "127.0.0.1:0", "--token-file", file)
	url := strings.TrimPrefix(printed[0], "listening on ")
	if status, text := statusOf(t, http.DefaultClient, "GET", url+"/api/v1/views", "", "a-token-of-my-own"); status != 200 || strings.Contains(printed[0], "token") {
		t.Errorf("%q: %d: %s", printed[0], status, text)
	}
	if status, _ := statusOf(t, http.DefaultClient, "GET", url+"/api/v1/views", "", ""); status != 401 {
		t.Errorf("without the token: %d", status)
	}
	end(t, c)
	if !strings.Contains(errors.String(), "all users of this machine can read "+file) {
		t.Errorf("it says %q", errors)
	}
	c, printed, errors = serving(t, 1, "--store", store, "--listen", "127.0.0.1:0", "--no-token")
	if status, text := statusOf(t, http.DefaultClient, "GET", strings.TrimPrefix(printed[0], "listening on ")+"/api/v1/views", "", ""); status != 200 {
		t.Errorf("%q: %d: %s", printed[0], status, text)
	}
	end(t, c)
	if !strings.Contains(errors.String(), "all users of this machine can read the store") {
		t.Errorf("it says %q", errors)
	}
}

// Only the user can open a Unix socket. It replaces the socket of a killed server, but nothing
// else, and is removed at the end.
func TestServeUnix(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	dir, err := os.MkdirTemp("", "s") // paths of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "socket")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}}
	refused := func(want string, args ...string) {
		t.Helper()
		out, err := program(t, append([]string{"serve", "--store", store}, args...)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%q: %v %s, want %q", args, err, out, want)
		}
	}
	c, printed, _ := serving(t, 1, "--store", store, "--unix", path)
	if printed[0] != "listening on unix:"+path {
		t.Errorf("it says %q", printed[0])
	}
	about, err := os.Stat(path)
	if err != nil || about.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", about.Mode(), err)
	}
	for url, want := range map[string]int{"http://localhost/api/v1/views": 200, "http://localhost/": 200, "http://evil.example/": 421} {
		if status, text := statusOf(t, client, "GET", url, "", ""); status != want {
			t.Errorf("%s: %d: %s", url, status, text)
		}
	}
	refused("a server listens on "+path, "--unix", path)
	refused("give --token-file", "--unix", path, "--host", "profiles.example.com") // a proxy's clients need a token
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	if _, err := os.Lstat(path); err != nil {
		t.Fatal(err)
	}

	token := filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte("a-token-of-my-own"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, _ = serving(t, 1, "--store", store, "--unix", path, "--token-file", token)
	for token, want := range map[string]int{"": 401, "a-token-of-my-own": 200} {
		if status, text := statusOf(t, client, "GET", "http://localhost/api/v1/views", "", token); status != want {
			t.Errorf("with the token %q: %d: %s", token, status, text)
		}
	}
	end(t, c)
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the socket is left: %v", err)
	}

	// Flight SQL requires a token; the socket does not.
	c, printed, _ = serving(t, 4, "--store", store, "--unix", path, "--flight", "127.0.0.1:0")
	if status, text := statusOf(t, client, "GET", "http://localhost/api/v1/views", "", ""); status != 200 || !strings.HasPrefix(printed[2], "token: ") {
		t.Errorf("%q: %d: %s", printed, status, text)
	}
	end(t, c)

	refused(token+" exists and is not a socket", "--unix", token)
	refused(dir+" exists and is not a socket", "--unix", dir)
	if err := os.Symlink(token, path); err != nil {
		t.Fatal(err)
	}
	refused(path+" exists and is not a socket", "--unix", path)
	open := filepath.Join(dir, "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	refused("anybody can replace a socket in "+open, "--unix", filepath.Join(open, "socket"))
	if text, err := os.ReadFile(token); err != nil || string(text) != "a-token-of-my-own" {
		t.Errorf("%s %v", text, err)
	}
}

// --open opens a browser at the given place. Its command line, which others can read, does not have
// the token.
func TestServeOpens(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	dir := t.TempDir()
	browser, said := filepath.Join(dir, "browser"), filepath.Join(dir, "said")
	if err := syscall.Mkfifo(said, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(browser, []byte("#!/bin/sh\nprintf '%s\\n' \"$1\" > "+said+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BROWSER", browser)
	for _, test := range []struct{ option, want string }{{"--open", ""}, {"--open=?view=flame&experiment=a%20b", "&amp;view=flame&amp;experiment=a%20b"}} {
		c, printed, _ := serving(t, 1, "--store", store, "--listen", "127.0.0.1:0", test.option)
		page := strings.TrimPrefix(printed[0], "listening on ")
		opened, err := os.ReadFile(said) // it waits until the browser writes
		if err != nil {
			t.Fatal(err)
		}
		file, ok := strings.CutPrefix(strings.TrimSpace(string(opened)), "file://")
		about, err := os.Stat(file)
		if !ok || err != nil || about.Mode().Perm() != 0o600 {
			t.Fatalf("%s opens %q: %v", test.option, opened, err)
		}
		text, err := os.ReadFile(file)
		if want := `content="0; url=` + page + test.want + `"`; err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s leads to %s, not to %s (%v)", test.option, text, want, err)
		}
		end(t, c)
		if _, err := os.Stat(file); !os.IsNotExist(err) {
			t.Errorf("%s is left", file)
		}
	}
	c, printed, _ := serving(t, 1, "--store", store, "--listen", "127.0.0.1:0", "--open=?view=flame", "--no-token")
	opened, err := os.ReadFile(said)
	if want := strings.TrimPrefix(printed[0], "listening on ") + "/?view=flame"; err != nil || strings.TrimSpace(string(opened)) != want {
		t.Errorf("without a token, %q is opened, not %q (%v)", opened, want, err)
	}
	end(t, c)
	for _, place := range []string{"http://example.com", "//example.com", "?a b", "-x", "?\x1b"} {
		if _, err := daemon.PageAddress("http://127.0.0.1:1", "", place); err == nil {
			t.Errorf("%q is a place", place)
		}
	}
}
