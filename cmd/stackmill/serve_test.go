package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"stackmill/queries/storetest"
)

// The server says where it listens, answers by itself and by another process, and ends when
// it is told to.
func TestServe(t *testing.T) {
	c := program(t, "serve", "--store", storetest.New(t, storetest.Two), "--listen", "127.0.0.1:0", "--flight", "127.0.0.1:0")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	second, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !ok {
		t.Fatalf("it says %q", line)
	}
	body := func(response *http.Response, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Errorf("%s %v: %s", response.Status, err, text)
		}
		return string(text)
	}
	if text := body(http.Get(url + "/api/v1/views/functions?experiment=monday/test.1.er&limit=2&format=csv")); !strings.Contains(text, "totalcpu") {
		t.Error(text)
	}
	if text := body(http.Post(url+"/api/v1/query", "application/json", strings.NewReader(`{"sql": "SELECT count(*) AS n FROM experiments"}`))); text != "[\n{\"n\":2}\n]\n" {
		t.Error(text)
	}
	if text := body(http.Get(url)); !strings.Contains(text, "/app.js") {
		t.Error(text)
	}
	drivers, ok := strings.CutPrefix(strings.TrimSpace(second), "Flight SQL on grpc://")
	if !ok {
		t.Fatalf("it says %q", second)
	}
	client, err := flightsql.NewClient(drivers, nil, nil, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	info, err := client.Execute(t.Context(), "SELECT count(*) AS n FROM experiments")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := client.DoGet(t.Context(), info.Endpoint[0].Ticket)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Release()
	if !rows.Next() || rows.RecordBatch().Column(0).ValueStr(0) != "2" {
		t.Error(rows.RecordBatch(), rows.Err())
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// A browser is opened if that is asked for, at the place that is named, and not otherwise.
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
	for _, test := range []struct{ option, want string }{{"--open", ""}, {"--open=?view=flame&experiment=a%20b", "/?view=flame&experiment=a%20b"}} {
		c := program(t, "serve", "--store", store, "--listen", "127.0.0.1:0", test.option)
		c.Env = append(c.Environ(), "BROWSER="+browser)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		opened, err := os.ReadFile(said) // waits for the browser
		if want := strings.TrimPrefix(strings.TrimSpace(line), "listening on ") + test.want; err != nil || strings.TrimSpace(string(opened)) != want {
			t.Errorf("%s opens %q, not %q (%v)", test.option, opened, want, err)
		}
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	for _, place := range []string{"http://example.com", "//example.com", "?a b", "-x", "?\x1b"} {
		if _, err := placeOf("http://127.0.0.1:1", place); err == nil {
			t.Errorf("%q is a place", place)
		}
	}
}
