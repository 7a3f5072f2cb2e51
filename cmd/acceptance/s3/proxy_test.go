package s3

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// fault is what the proxy does to a request.
type fault int

const (
	none      fault = iota
	failed          // 500, before the server sees it
	slow            // 503 SlowDown, before the server sees it
	cut             // the connection ends before the server sees it
	lost            // the server does it, but the client gets no answer
	late            // the server does it, but the client gets the answer after its timeout
	twice           // the server does it twice; the client gets the second answer
	truncated       // the client gets half of the answer
	faults
)

var faultNames = [faults]string{"none", "500", "503", "cut before", "lost answer", "late answer", "twice", "truncated"}

// proxy is a proxy in front of the server. It calls decide to choose the fault of each request; if
// decide is nil, there are no faults.
type proxy struct {
	port   int // it listens on all addresses of this machine
	server string

	mu       sync.Mutex
	decide   func(r *http.Request) fault
	skew     time.Duration     // added to the times in answers
	requests map[string]int    // number of requests, by kind
	sent     map[[2]string]int // number of requests, by kind and host that they are for
	machines int
	before   func(r *http.Request) // called with each request that is passed on; may be nil
	lie      lie                   // may be nil
	injected [faults]int
}

// lie may answer a request instead of the server. It gets the server's answer, and reports whether
// it has answered.
type lie func(w http.ResponseWriter, r *http.Request, answer *http.Response, content []byte) bool

func newProxy(t *testing.T, server string) *proxy {
	t.Helper()
	p := &proxy{server: server, requests: map[string]int{}, sent: map[[2]string]int{}}
	listener, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	p.port = listener.Addr().(*net.TCPAddr).Port
	s := &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.Serve(listener) }() // until it is closed
	t.Cleanup(func() { _ = s.Close() })
	return p
}

// disturb sets what is added to the times in answers, and which faults there are from now on.
func (p *proxy) disturb(skew time.Duration, decide func(r *http.Request) fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.skew, p.decide = skew, decide
}

// counted returns the numbers of requests by kind, and resets them.
func (p *proxy) counted() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.requests
	p.requests = map[string]int{}
	return n
}

// kind returns the billing category of a request.
func kind(r *http.Request) string {
	switch {
	case r.URL.Query().Has("list-type"):
		return "list"
	case r.Method == http.MethodPut, r.Method == http.MethodPost:
		return "write"
	case r.Method == http.MethodDelete:
		return "remove"
	}
	return "read"
}

// ServeHTTP implements http.Handler.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.requests[kind(r)]++
	p.sent[[2]string{kind(r), r.Host}]++
	what := none
	if p.decide != nil {
		what = p.decide(r)
	}
	p.injected[what]++
	skew, before, lie := p.skew, p.before, p.lie
	p.mu.Unlock()
	if before != nil {
		before(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	switch what {
	case failed:
		w.WriteHeader(http.StatusInternalServerError)
		return
	case slow:
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>`)
		return
	case cut:
		panic(http.ErrAbortHandler)
	case twice:
		if first, err := p.pass(r, body); err == nil {
			first.Body.Close()
		}
	}
	answer, err := p.pass(r, body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil || what == lost {
		panic(http.ErrAbortHandler)
	}
	if what == late {
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	if lie != nil && lie(w, r, answer, content) {
		return
	}
	if skew != 0 {
		w.Header().Set("Date", time.Now().Add(skew).UTC().Format(http.TimeFormat))
	}
	w.WriteHeader(answer.StatusCode)
	if what == truncated {
		_, _ = w.Write(content[:len(content)/2])
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(content) // the client may have gone
}

// direct does not follow redirections, and does not decompress answers.
var direct = &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 32}

// pass forwards a request to the server.
func (p *proxy) pass(r *http.Request, body []byte) (*http.Response, error) {
	to := r.Clone(r.Context())
	to.URL.Scheme, to.URL.Host, to.RequestURI = "http", p.server, ""
	to.Body, to.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return direct.RoundTrip(to)
}

// disturbed returns a decide function that disturbs this percentage of requests, of all kinds.
func disturbed(seed uint64, percent int) func(*http.Request) fault {
	random := rand.New(rand.NewPCG(seed, 3))
	lates := 2 // each takes the client's whole timeout
	return func(r *http.Request) fault {
		if random.IntN(100) >= percent {
			return none
		}
		what := fault(1 + random.IntN(int(faults)-1))
		switch {
		case what == late && lates == 0, what == truncated && r.Method != http.MethodGet, what == twice && r.Method == http.MethodGet:
			return failed
		case what == late:
			lates--
		}
		return what
	}
}

// ofCommits returns a decide function for the first n requests that create a commit.
func ofCommits(what fault, n int) func(*http.Request) fault {
	return func(r *http.Request) fault {
		if n > 0 && r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/commits/") {
			n--
			return what
		}
		return none
	}
}
