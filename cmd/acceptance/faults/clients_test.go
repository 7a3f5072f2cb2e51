package faults

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"stackmill/queries"
)

// The numbers of clients in the long run, and in the short one. Two thirds of the stalling clients
// leave answers unread.
const (
	manyClients, manyStalled = 100, 20
	fewClients, fewStalled   = 20, 12
)

// largeAnswer is SQL whose answer has some 50 MB.
const largeAnswer = `{"sql": "SELECT repeat(chr(65 + (range % 26)::INTEGER), 1000) AS text FROM range(50000)", "format": "csv"}`

// slowQuery is SQL that takes longer than the server allows.
const slowQuery = `{"sql": "SELECT sum(a.range * b.range) AS n FROM range(10000000) a, range(1000000) b"}`

// A real server answers many clients. Some ask for large answers and do not read them, ask for
// too much, or go away. The others get the right answers, the server's memory stays bounded, and
// in the end no process and no temporary file is left. STACKMILL_LOAD is how long this lasts.
func TestClients(t *testing.T) {
	b := newBench(t)
	store, err := reference()
	if err != nil {
		t.Fatal(err)
	}
	clients, stalled, lasting := fewClients, fewStalled, time.Second
	if *long {
		clients, stalled, lasting = manyClients, manyStalled, time.Minute
	}
	if text := os.Getenv("STACKMILL_LOAD"); text != "" {
		if lasting, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	s := serveStore(t, b.binary, store)
	questions := s.questions()
	want := make([]string, len(questions))
	for i, q := range questions {
		if want[i], err = q(); err != nil {
			t.Fatalf("question %d: %v", i, err)
		}
	}

	var asked, busy, gone, late, unread atomic.Int64
	until := time.Now().Add(lasting)
	var all sync.WaitGroup
	for n := range clients - stalled {
		all.Go(func() {
			for i := n; time.Now().Before(until); i++ {
				k := i % len(questions)
				text, err := questions[k]()
				asked.Add(1)
				switch {
				case err == errServerBusy || err == errTooLong:
					busy.Add(1)
				case err != nil:
					t.Errorf("question %d: %v", k, err)
				case text != want[k]:
					t.Errorf("question %d: got\n%.500s\nwant\n%.500s", k, text, want[k])
				}
			}
		})
	}
	for n := range stalled {
		all.Go(func() {
			for i := n; i == n || time.Now().Before(until); i++ {
				switch i % 6 {
				case 0: // asks for a large answer, and goes away at once
					s.send(t, largeAnswer).Close()
					gone.Add(1)
				case 1: // asks for something that takes too long
					status, err := s.post(slowQuery)
					if err != nil || status != http.StatusUnprocessableEntity && status != http.StatusServiceUnavailable {
						t.Errorf("a slow query: status %d, %v", status, err)
					}
					late.Add(1)
				default: // reads the beginning of the answer, and no more
					c := s.begin(t, largeAnswer)
					unread.Add(1)
					time.Sleep(unreadFor)
					c.Close()
				}
			}
		})
	}
	var peak int64
	samples := time.NewTicker(100 * time.Millisecond)
	defer samples.Stop()
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-samples.C:
			peak = max(peak, queries.ResidentMemory(s.process.Pid))
		}
	}
	// The server gives up answers that nobody reads.
	last := queries.ResidentMemory(s.process.Pid)
	for end := time.Now().Add(time.Minute); (s.running() > 0 || last > residentLimit) && time.Now().Before(end); last = queries.ResidentMemory(s.process.Pid) {
		time.Sleep(100 * time.Millisecond)
	}
	for i, q := range questions {
		if text, err := q(); err != nil || text != want[i] {
			t.Errorf("afterwards, question %d: %v\n%.500s", i, err, text)
		}
	}
	t.Logf("%d clients, %d of them stalled, for %v: %d questions, %d told to ask again or late, %d answers unread, %d clients gone, %d slow queries; resident memory at most %d MiB, %d MiB at the end",
		clients, stalled, lasting, asked.Load(), busy.Load(), unread.Load(), gone.Load(), late.Load(), peak>>20, last>>20)
	if n := s.running(); n > 0 {
		t.Errorf("%d processes of the server are left", n)
	}
	if peak > peakLimit {
		t.Errorf("the server took %d MiB", peak>>20)
	}
	if last > residentLimit {
		t.Errorf("the server keeps %d MiB", last>>20)
	}
	s.end(t)
}

// unreadFor is how long an answer stays unread: less than the time after which the server gives up.
const unreadFor = 15 * time.Second

// The memory of the server in these tests. It takes some 150 MiB, and a dozen unread answers
// 600 MB more if they are in memory.
const (
	peakLimit     = 300 << 20
	residentLimit = 250 << 20
)

// realServer is a process that serves a store.
type realServer struct {
	process *os.Process
	command *exec.Cmd
	base    *url.URL
	token   string
	temp    string // its folder for temporary files
	client  *http.Client
	said    *bytes.Buffer
}

// serveStore starts the program's server on a store.
func serveStore(t *testing.T, binary, store string) *realServer {
	t.Helper()
	s := &realServer{temp: t.TempDir(), said: &bytes.Buffer{}}
	s.command = exec.Command(binary, "serve", "--store", store, "--listen", "127.0.0.1:0", "--memory", "256M", "--timeout", "10s")
	s.command.Env = append(os.Environ(), "TMPDIR="+s.temp)
	s.command.Stderr = s.said
	out, err := s.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.command.Start(); err != nil {
		t.Fatal(err)
	}
	s.process = s.command.Process
	t.Cleanup(func() { _ = s.process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%v: %s", err, s.said)
	}
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if s.base, err = url.Parse(address); !ok || err != nil {
		t.Fatalf("the server says %q", line)
	}
	s.token = s.base.Query().Get("token")
	s.base.RawQuery = ""
	s.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: manyClients, DisableCompression: true}}
	return s
}

// The server's errors when it is overloaded, and when it has given up.
var (
	errServerBusy = errors.New("the server asks to come again")
	errTooLong    = errors.New("the answer takes too long")
)

// questions returns queries with one right answer each.
func (s *realServer) questions() (list []func() (string, error)) {
	for _, path := range []string{
		"/api/v1/experiments", "/api/v1/metrics", "/api/v1/problems", "/api/v1/views", "/api/v1/views/functions?format=csv", "/api/v1/views/call-tree", "/api/v1/views/lines?limit=5",
		"/api/v1/flamegraph", "/api/v1/flamegraph?form=columns", "/api/v1/export?as=folded&metric=totalcpu", "/openapi.json", "/api/v1/sql", "/api/v1/views/functions?where=thread_id+%3E+0",
	} {
		list = append(list, func() (string, error) { return s.ask(http.MethodGet, path, "") })
	}
	for _, statement := range []string{"SELECT count(*) AS n FROM samples", "FROM function_metrics ORDER BY ALL LIMIT 20", "SELECT sum(exclusive) AS n FROM function_metrics WHERE mode = 'user'"} {
		body := `{"sql": ` + strconv.Quote(statement) + `}`
		list = append(list, func() (string, error) { return s.ask(http.MethodPost, "/api/v1/query", body) })
	}
	return list
}

func (s *realServer) request(method, path, body string) (*http.Response, error) {
	r, err := http.NewRequest(method, s.base.JoinPath("/").String()+strings.TrimPrefix(path, "/"), strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return s.client.Do(r)
}

func (s *realServer) ask(method, path, body string) (string, error) {
	response, err := s.request(method, path, body)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return "", err
	case response.StatusCode == http.StatusServiceUnavailable:
		return "", errServerBusy
	case response.StatusCode == http.StatusUnprocessableEntity:
		return "", errTooLong
	case response.StatusCode != http.StatusOK:
		return "", fmt.Errorf("%s %s: %s: %.300s", method, path, response.Status, text)
	}
	return string(text), nil
}

// post sends a query and returns the answer's status.
func (s *realServer) post(body string) (int, error) {
	response, err := s.request(http.MethodPost, "/api/v1/query", body)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}

// send sends a query on a new connection, and does not read the answer.
func (s *realServer) send(t *testing.T, body string) net.Conn {
	c, err := net.Dial("tcp", s.base.Host)
	if err != nil {
		t.Error(err)
		return &net.TCPConn{}
	}
	_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
	_, err = fmt.Fprintf(c, "POST /api/v1/query HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", s.base.Host, s.token, len(body), body)
	if err != nil {
		t.Error(err)
	}
	return c
}

// begin sends a query, and retries while the server is overloaded or too slow, until an answer
// begins.
func (s *realServer) begin(t *testing.T, body string) net.Conn {
	for {
		c := s.send(t, body)
		status := make([]byte, len("HTTP/1.1 200"))
		_, err := io.ReadFull(c, status)
		if err == nil && (bytes.HasSuffix(status, []byte(" 503")) || bytes.HasSuffix(status, []byte(" 422"))) {
			c.Close()
			continue
		}
		if err != nil || !bytes.HasSuffix(status, []byte(" 200")) {
			t.Errorf("an answer that nobody reads: %q, %v", status, err)
		}
		return c
	}
}

// running counts the server's children.
func (s *realServer) running() (n int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", s.process.Pid))
	for _, path := range tasks {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the thread has ended
		}
		n += len(strings.Fields(string(text)))
	}
	return n
}

// end stops the server as its user does, and checks that it leaves nothing.
func (s *realServer) end(t *testing.T) {
	t.Helper()
	if err := s.process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.command.Wait(); err != nil {
		t.Errorf("%v: %s", err, s.said)
	}
	left, err := os.ReadDir(s.temp)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		t.Errorf("the server leaves %s", e.Name())
	}
}
