package serve

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"stackmill/queries"
	"stackmill/queries/storetest"
)

// isolate gives a test its own home folder and its own folder of temporary files. It checks that no file is left
// there at the end.
func isolate(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "TMPDIR", "PPROF_TMPDIR"} {
		t.Setenv(name, filepath.Join(dir, name))
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				t.Errorf("%s is left", path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// The pages of pprof show the requested part of the store, within the server's limits. They read no files and leave
// none.
func TestPprof(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	isolate(t)
	s := start(t, store, nil)
	s.web.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if response, _ := s.ask("GET", "/pprof/mode=user/", ""); response.StatusCode != http.StatusFound || response.Header.Get("Location") != "/pprof/mode=user/flamegraph" {
		t.Errorf("%s %s", response.Status, response.Header.Get("Location"))
	}
	db, err := queries.OpenWith(t.Context(), store, queries.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for selection, condition := range map[string]string{
		"metric=totalcpu": "true",
		"metric=totalcpu&experiment=monday%2Ftest.1.er":             "experiment = 'monday/test.1.er'",
		"metric=totalcpu&where=thread_id+%3D+4712&mode=user":        "",
		"metric=totalcpu&thread=4712&experiment=monday%2Ftest.1.er": "",
	} {
		p, err := profile.ParseData([]byte(s.get("/pprof/" + url.PathEscape(selection) + "/download")))
		if err != nil {
			t.Fatalf("%s: %v", selection, err)
		}
		var got, want int64
		for _, sample := range p.Sample {
			got += sample.Value[0]
		}
		if condition != "" {
			if err := db.QueryRow("SELECT sum(inclusive)::BIGINT FROM function_metrics WHERE function = '<Total>' AND metric = 'totalcpu' AND mode = 'user' AND " + condition).Scan(&want); err != nil {
				t.Fatal(err)
			}
		} else {
			q, err := profile.ParseData([]byte(s.get("/api/v1/export?as=pprof&" + selection)))
			if err != nil {
				t.Fatal(err)
			}
			for _, sample := range q.Sample {
				want += sample.Value[0]
			}
		}
		if got != want || got == 0 {
			t.Errorf("%s: %d, want %d", selection, got, want)
		}
	}
	for path, want := range map[string]int{
		"/pprof/mode=user/top": 200, "/pprof/mode=user/peek?f=main": 200, "/pprof/mode=user/flamegraph?si=totalcpu": 200,
		"/pprof/mode=user/source?f=main": 404, "/pprof/mode=user/disasm?f=main": 404, "/pprof/mode=user/weblist": 404,
		"/pprof/mode=user/saveconfig?config=x": 404, "/pprof/mode=user/deleteconfig?config=x": 404, "/pprof/mode=user/..%2f..%2fetc": 404,
		"/pprof/http%3A%2F%2Fexample.com/top": 400, "/pprof/%2Fetc%2Fpasswd/top": 400, "/pprof/as=folded/top": 200, "/pprof/mode=none/top": 400, "/pprof/experiment=none/top": 404,
		"/pprof/mode=user/top?f=%28": 400, "/pprof/mode=user/top?si=none": 400, "/pprof/where=read_text%28%27%252Fetc%252Fpasswd%27%29+IS+NOT+NULL/top": 400,
	} {
		response, text := s.ask("GET", path, "")
		if path = strings.SplitN(path, "?", 2)[0]; response.StatusCode != want && !(want == 400 && response.StatusCode == 403) {
			t.Errorf("%s: %s: %.200s", path, response.Status, text)
		}
		if want == 200 && !strings.HasPrefix(response.Header.Get("Content-Security-Policy"), "sandbox allow-scripts") {
			t.Errorf("%s may %s", path, response.Header.Get("Content-Security-Policy"))
		}
		if bytes.Contains(text, []byte("root:")) {
			t.Errorf("%s has a file of this machine", path)
		}
	}
	if response, text := s.ask("POST", "/pprof/mode=user/top", "{}"); response.StatusCode != 404 && response.StatusCode != 405 {
		t.Errorf("%s: %s", response.Status, text)
	}
}

// The pages of pprof are made in other processes, which are killed if they take too long.
func TestPprofEnds(t *testing.T) {
	isolate(t)
	s := start(t, storetest.New(t, storetest.Two), nil)
	const path = "/pprof/metric=totalcpu/top"
	ask := func(want int, of string) {
		t.Helper()
		if response, text := s.ask("GET", path, ""); response.StatusCode != want || !strings.HasPrefix(response.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: %s as %s: %.200s", of, response.Status, response.Header.Get("Content-Type"), text)
		}
	}
	ask(http.StatusOK, "as usual")
	usual := s.Options
	s.Timeout = time.Nanosecond
	ask(StatusLate, "without time")
	s.Options = usual
	s.Program = []string{"/bin/false"}
	ask(http.StatusInternalServerError, "by a process that fails")
	s.Options = usual
	ask(http.StatusOK, "as usual again")
	response, text := s.ask("GET", "/pprof/metric=totalcpu/graph", "")
	if _, err := exec.LookPath("dot"); err != nil {
		if response.StatusCode != http.StatusNotImplemented || !strings.Contains(string(text), "needs graphviz") {
			t.Errorf("without graphviz: %s: %.200s", response.Status, text)
		}
	} else if response.StatusCode != http.StatusOK || !strings.Contains(string(text), "<svg") {
		t.Errorf("a graph: %s: %.200s", response.Status, text)
	}
}

// Requests are refused if they are for other paths or other files, or exceed the limits. The next request is answered
// as before.
func TestRefused(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	isolate(t)
	s := start(t, store, func(o *Options) { o.Timeout = 3 * time.Second })
	before := s.get("/api/v1/views/functions")
	for _, path := range []string{
		"/../../etc/passwd", "/page/../../../etc/passwd", "/page/..%2f..%2f..%2fetc%2fpasswd", s.page.path + "%2e%2e/%2e%2e/etc/passwd", s.page.path + "..%5c..%5cserve.go",
		"//etc/passwd", "/%2fetc/passwd", "/tables/", "/commits/", "/stackmill.duckdb", "/speedscope/../etc/passwd", "/api/v1/views/..%2f..%2fetc%2fpasswd", "/api/v1/views/%00",
	} {
		response, text := s.ask("GET", path, "")
		if response.StatusCode != 404 && response.StatusCode != 400 && response.StatusCode != 307 || bytes.Contains(text, []byte("root:")) {
			t.Errorf("%s: %s: %.100s", path, response.Status, text)
		}
	}
	for _, text := range []string{ // SQL that tries to read other files is in TestHostileDoors of cmd/stackmill
		"WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r", "SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE a.range % 7 = b.range % 11",
		"SELECT repeat('x', 2000000000)", "SELECT list(i) FROM range(2000000000) t(i)", "SELECT string_agg(repeat('x', 1000000), '') FROM range(100000)",
		`SELECT "` + strings.Repeat("x", 900_000) + `"`, "SELECT error(repeat('x', 10_000_000))", "SELECT " + strings.Repeat("[", 10_000) + "1" + strings.Repeat("]", 10_000),
	} {
		status, answer := s.sql(text)
		if status == 200 || status >= 500 {
			t.Errorf("%s: %d %.200s", text, status, answer)
		}
	}
	for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors"}, {"Origin", "http://evil.example.com"}, {"Origin", "null"}, {"Host", "rebound.example.com:" + fmt.Sprint(s.Port)}} {
		for _, path := range []string{"/api/v1/export?as=folded", "/pprof/mode=user/download", "/api/v1/query", "/speedscope", "/openapi.json"} {
			if response, text := s.ask("GET", path, "", header...); response.StatusCode != 403 && response.StatusCode != 421 {
				t.Errorf("%s %q: %s: %.100s", path, header, response.Status, text)
			}
		}
	}
	if got := s.get("/api/v1/views/functions"); got != before {
		t.Error("another answer than before")
	}
}

// A hundred clients at once get the same answers as one, and memory does not grow with the number of requests.
// STACKMILL_LOAD is how long this goes on, for example 1m.
func TestLoad(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	s := start(t, store, nil)
	s.limiter.maxWait = time.Hour // even on a slow machine, no request waits too long
	s.web.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = 100
	paths := []string{
		"/api/v1/experiments", "/api/v1/metrics", "/api/v1/views/functions", "/api/v1/views/functions?experiment=monday/test.1.er&format=csv", "/api/v1/views/call-tree?experiment=monday/test.1.er",
		"/api/v1/flamegraph", "/api/v1/flamegraph?thread=4712", "/api/v1/problems", "/api/v1/sql", "/api/v1/export?as=folded&metric=totalcpu", "/api/v1/export?as=speedscope&metric=totalcpu",
		"/pprof/metric=totalcpu/top", "/", s.page.path + "app.js", "/openapi.json", "/api/v1/views/functions?thread=4712",
	}
	want := make([]string, len(paths))
	for i, path := range paths {
		want[i] = s.get(path)
	}
	until := time.Now()
	if text := os.Getenv("STACKMILL_LOAD"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		until = until.Add(d)
	}
	var asked, refused int
	var mu sync.Mutex
	round := func() {
		var clients sync.WaitGroup
		for n := range 100 {
			clients.Go(func() {
				for i := range 2 * len(paths) {
					k := (n + i) % len(paths)
					response, err := s.web.Client().Get(s.web.URL + paths[k])
					if err != nil {
						t.Error(err)
						return
					}
					text, err := io.ReadAll(response.Body)
					response.Body.Close()
					mu.Lock()
					asked++
					switch {
					case response.StatusCode == http.StatusServiceUnavailable: // too many requests at once
						refused++
					case err != nil || response.StatusCode != 200 || string(text) != want[k]:
						t.Errorf("%s: %s %v: %.200s", paths[k], response.Status, err, text)
					}
					mu.Unlock()
				}
			})
		}
		clients.Wait()
	}
	round()
	first := queries.ResidentMemory(os.Getpid())
	rounds := 1
	for range 3 {
		round()
		rounds++
	}
	for time.Now().Before(until) && !t.Failed() {
		round()
		rounds++
	}
	last := queries.ResidentMemory(os.Getpid())
	t.Logf("%d rounds, %d requests, %d refused; %d MiB after the first round, %d MiB after the last", rounds, asked, refused, first>>20, last>>20)
	if last > first+first/2+128<<20 {
		t.Errorf("memory grew from %d to %d bytes in %d rounds", first, last, rounds)
	}
	if refused > 0 {
		t.Errorf("%d of %d requests were refused, though all may wait", refused, asked)
	}
}

// A client that does not read a large answer is disconnected. Meanwhile it does not use the server's memory, or the
// slots of others; then its own slot is free again.
func TestUnread(t *testing.T) {
	isolate(t)
	s := start(t, storetest.New(t, storetest.Two), func(o *Options) { o.Largest, o.Patience = 32<<20, 3*time.Second })
	s.limiter.maxWait = time.Hour // even on a slow machine, no request waits too long
	s.get("/api/v1/views/functions")
	before := queries.ResidentMemory(os.Getpid())
	const body = `{"sql": "SELECT repeat('x', 1000000) AS x FROM range(24)", "format": "csv"}`
	var clients []net.Conn
	for range 8 {
		c, err := net.Dial("tcp", s.web.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
		fmt.Fprintf(c, "POST /api/v1/query HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", s.web.Listener.Addr(), len(body), body)
		clients = append(clients, c)
	}
	for _, c := range clients { // waits until each answer has begun
		if _, err := io.ReadFull(c, make([]byte, len("HTTP/1.1 200 OK"))); err != nil {
			t.Fatal(err)
		}
	}
	if grown := queries.ResidentMemory(os.Getpid()) - before; grown > 80<<20 {
		t.Errorf("%d MiB more for answers that nobody reads", grown>>20)
	}
	if s.backlog.bytes.Load() == 0 {
		t.Error("no answer waits for its client")
	}
	if status, text := s.sql("SELECT 7 AS x"); status != http.StatusOK {
		t.Errorf("another client: %d %s", status, text)
	}
	for range 600 {
		if s.backlog.bytes.Load() == 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if left := s.backlog.bytes.Load(); left != 0 {
		t.Errorf("%d bytes still wait for clients", left)
	}
	s.backlog.max = 1 << 20
	if status, text := s.sql("SELECT repeat('x', 2000000) AS x"); status != http.StatusServiceUnavailable {
		t.Errorf("one answer too many: %d %.100s", status, text)
	}
	if left := s.backlog.bytes.Load(); left != 0 {
		t.Errorf("%d bytes are still counted", left)
	}
}

// If a client goes away, the work on its request ends.
func TestClientGone(t *testing.T) {
	isolate(t)
	s := start(t, storetest.New(t, storetest.Two), nil)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	r, err := http.NewRequestWithContext(ctx, "POST", s.web.URL+"/api/v1/query", strings.NewReader(`{"sql": "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = -1"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", jsonType)
	gone := make(chan error)
	go func() {
		_, err := s.web.Client().Do(r)
		gone <- err
	}()
	waitFor(t, "a process", func() bool { return children(t) > 0 })
	leave()
	if err := <-gone; err == nil {
		t.Error("it was answered")
	}
	waitFor(t, "the process's end", func() bool { return children(t) == 0 })
}

func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 1200 {
		if holds() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("waiting for %s", what)
}

// children returns the number of processes that this one has started and that still run.
func children(t *testing.T) (n int) {
	t.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", os.Getpid()))
	if err != nil || len(lists) == 0 {
		t.Skip("the system does not list a process's children")
	}
	for _, list := range lists {
		text, _ := os.ReadFile(list) // fails if the thread has ended
		n += len(strings.Fields(string(text)))
	}
	return n
}

// If there are too many connections, idle ones are closed.
func TestConnections(t *testing.T) {
	var c Connections
	ends := make([]net.Conn, maxConnections+2)
	for i := range ends {
		ends[i], _ = net.Pipe()
	}
	closed := func(of net.Conn) bool { return of.SetDeadline(time.Time{}) != nil }
	for i, end := range ends[:maxConnections] {
		c.Note(end, http.StateNew)
		c.Note(end, http.StateActive)
		if i == 3 || i == 5 {
			c.Note(end, http.StateIdle)
			time.Sleep(time.Millisecond)
		}
	}
	for i, want := range []net.Conn{ends[3], ends[5]} {
		c.Note(ends[maxConnections+i], http.StateNew)
		c.Note(ends[maxConnections+i], http.StateActive)
		if !closed(want) {
			t.Errorf("%d more: the longest idle one is not closed", i)
		}
		c.Note(want, http.StateClosed)
	}
	last, _ := net.Pipe()
	if c.Note(last, http.StateNew); !closed(last) {
		t.Error("there are too many, and none is idle")
	}
	if c.Note(last, http.StateClosed); c.open != maxConnections {
		t.Errorf("%d are open", c.open)
	}
	for i, end := range ends {
		if closed(end) != (i == 3 || i == 5) {
			t.Errorf("%d: closed: %t", i, closed(end))
		}
	}
}
