// Package s3 tests stores and recordings on a real S3 server, with faults between the program and
// the server.
package s3

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"stackmill/cmd/acceptance/suite"
	"stackmill/internal/objstore/objstoretest"
	"stackmill/schema"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

// long is whether the tests run many rounds.
var long = os.Getenv("STACKMILL_S3_LONG") != ""

var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "stackmill-s3-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(scratch)
	os.Exit(code)
}

// program builds stackmill.
var program = sync.OnceValues(func() (string, error) {
	binary := filepath.Join(scratch, "stackmill")
	return binary, suite.Build(binary)
})

// server is a running S3 gateway with the proxy in front of it.
type server struct {
	*testing.T
	binary string // path of the program stackmill
	root   string // folder of the server's buckets
	*proxy
}

// serve starts a server with an empty bucket, store.
func serve(t *testing.T) *server {
	t.Helper()
	t.Parallel()
	binary, err := program()
	if err != nil {
		t.Fatal(err)
	}
	s := &server{T: t, binary: binary, root: filepath.Join(t.TempDir(), "buckets")}
	address := objstoretest.Serve(t, s.root)
	s.proxy = newProxy(t, address)
	return s
}

// machine simulates a machine with its own cache.
type machine struct {
	*server
	cache string
	host  string // the name by which it knows the server
	env   []string
}

func (s *server) machine(env ...string) *machine {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.machines++
	return &machine{s, filepath.Join(s.TempDir(), "cache"), fmt.Sprintf("127.0.0.%d:%d", s.machines, s.port), env}
}

// command prepares a verb.
func (m *machine) command(words ...string) *exec.Cmd {
	c := exec.Command(m.binary, words...)
	settings := func(variable string) bool {
		return strings.HasPrefix(variable, "AWS_") || strings.HasPrefix(variable, "STACKMILL_S3_")
	}
	c.Env = append(slices.DeleteFunc(os.Environ(), settings), "HOME="+m.cache, "AWS_ACCESS_KEY_ID="+objstoretest.User, "AWS_SECRET_ACCESS_KEY="+objstoretest.Secret, "AWS_ENDPOINT_URL=http://"+m.host,
		"AWS_EC2_METADATA_DISABLED=true", "XDG_CACHE_HOME="+m.cache, "STACKMILL_S3_TIMEOUT=2s", "STACKMILL_S3_RETRY=30s")
	c.Env = append(c.Env, m.env...)
	return c
}

// run runs a verb.
func (m *machine) run(words ...string) (code int, out string) {
	text, err := m.command(words...).CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, string(text)
	case errors.As(err, &exit):
		return exit.ExitCode(), string(text)
	}
	return -2, err.Error()
}

// does runs a verb that must succeed, and returns its output.
func (m *machine) does(words ...string) string {
	m.Helper()
	code, out := m.run(words...)
	if code != 0 {
		m.Fatalf("%q: exit status %d\n%s", words, code, out)
	}
	return out
}

// stored lists the objects below a key.
func (s *server) stored(key string) (files []string) {
	_ = filepath.Walk(filepath.Join(s.root, key), func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			files = append(files, path)
		}
		return nil
	})
	return files
}

// value returns the sum of the bytes that a recording allocates, different for each.
func value(n int) int { return 2*(1000+n) + 1 }

// record makes a small experiment in a folder.
func record(t *testing.T, dir string, n int) {
	t.Helper()
	path := filepath.Join(dir, fmt.Sprintf("job-%03d.er", n))
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	e := gprofngtest.New(path)
	e.Declare(schema.Heap, "", gprofngtest.Layouts[schema.Heap][0])
	for i, f := range []string{"main", "work"} {
		e.Function(0, uint64(0x10000+i*0x100), 0x100, f)
	}
	work, events := e.Frame(0x10104, 0x10004), e.Events(schema.Heap)
	for i, size := range []int64{int64(1000 + n), int64(1000 + n), 1} {
		events.Put(0, &gprofngtest.Layouts[schema.Heap][0], gprofngtest.Packet{Thread: 7, CPU: 1, Time: int64(i+1) * 1e6, Stack: work, Values: []int64{0, size, int64(0x7000 + 0x1000*i), 0}})
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// sums queries the bytes that each experiment of a store has allocated. An experiment that is there
// twice has twice the sum.
const sums = `SELECT experiment, sum(exclusive)::BIGINT AS bytes FROM function_metrics
	WHERE metric = 'heapallocbytes' AND mode = 'user' AND function = 'work' GROUP BY ALL ORDER BY ALL`

// truth returns the answer to the query sums for a store with the recordings from <= n < end.
func truth(from, end int) string {
	var b strings.Builder
	b.WriteString("experiment,bytes\n")
	for n := from; n < end; n++ {
		fmt.Fprintf(&b, "job-%03d.er,%d\n", n, value(n))
	}
	return b.String()
}

// has compares a store with the truth, and runs check on it. It does so on a new machine; its cache
// is the folder that all tests share.
func (s *server) has(store string, from, end int) {
	s.Helper()
	m := s.machine()
	m.cache = filepath.Join(scratch, "reader")
	if got, want := strings.ReplaceAll(m.does("query", "--store", store, "--format", "csv", sums), "\r", ""), truth(from, end); got != want {
		m.Errorf("%s has\n%swant\n%s", store, got, want)
	}
	if out := m.does("check", "--store", store); !strings.Contains(out, "nothing is wrong") {
		m.Errorf("%s", out)
	}
}
