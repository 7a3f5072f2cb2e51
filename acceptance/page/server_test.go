package page

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"os"
	"testing"
	"time"

	"stackmill/queries/serve"
)

// answering makes the test's program one that answers a request about a store, as the
// server's processes do.
const answering = "STACKMILL_TEST_ANSWER"

// answer answers a request and ends the program, if it is there for that.
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

// serving serves a store with options that change may change, nil for none. It returns the
// server's address, and what ends it.
func serving(dir string, change func(*serve.Options)) (address string, end func() error, err error) {
	o := serve.Options{
		Store: dir, Version: "test", Memory: 512 << 20, Timeout: time.Minute, Concurrent: 4, Waiting: 200, Largest: 64 << 20,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	if change != nil {
		change(&o)
	}
	options, err := json.Marshal(map[string]any{"Store": o.Store, "Version": o.Version, "Memory": o.Memory, "Timeout": o.Timeout, "Largest": o.Largest})
	if err != nil {
		return "", nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	o.Program = []string{"/usr/bin/env", answering + "=" + string(options), program}
	s, err := serve.New(context.Background(), o)
	if err != nil {
		return "", nil, err
	}
	handler, err := s.Handler()
	if err != nil {
		return "", nil, err
	}
	web := httptest.NewServer(handler)
	at, err := url.Parse(web.URL)
	if err == nil {
		_, err = fmt.Sscan(at.Port(), &s.Port)
	}
	return web.URL, func() error { web.Close(); return s.Close() }, err
}

// served is serving until a test ends.
func served(t *testing.T, dir string, change func(*serve.Options)) string {
	t.Helper()
	address, end, err := serving(dir, change)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	})
	return address
}
