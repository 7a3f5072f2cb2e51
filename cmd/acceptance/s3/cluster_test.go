package s3

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	recordings = 48
	chunks     = 6
	workers    = 3
)

// cluster is a set of workers that ingest the chunks of a plan.
type cluster struct {
	*server
	plan string

	mu     sync.Mutex
	queue  []int
	random *rand.Rand
	kills  int // number of tasks still to be killed
	killed map[string]int
	done   map[int]bool
	again  int
}

// The inputs and the store of these tasks are on S3. The network and the server fail sometimes, and
// tasks are killed, or run twice at once. Nevertheless they store each recording once and
// completely.
func TestCluster(t *testing.T) {
	rounds := 1
	if long {
		rounds = 30
	}
	for seed := range uint64(rounds) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			s := serve(t)
			for n := range recordings {
				record(t, filepath.Join(s.root, "recordings", "night"), n)
			}
			c := &cluster{server: s, plan: filepath.Join(t.TempDir(), "a.plan"), random: rand.New(rand.NewPCG(seed, 1)), kills: 2 * workers,
				killed: map[string]int{}, done: map[int]bool{}}
			s.machine().does("plan", "--store", store, "--chunks", strconv.Itoa(chunks), "-o", c.plan, "s3://recordings/night")
			for n := range chunks {
				c.queue = append(c.queue, n)
				if c.random.IntN(3) == 0 {
					c.queue = append(c.queue, n) // twice, at the same time
				}
			}
			s.disturb(time.Duration(seed%3-1)*7*time.Hour, disturbed(seed, 12))
			c.work()
			s.disturb(0, nil)
			c.right()
		})
	}
}

// work ingests the chunks, each worker on its own machine.
func (c *cluster) work() {
	var all sync.WaitGroup
	for range workers {
		m := c.machine()
		all.Go(func() {
			for {
				c.mu.Lock()
				if len(c.queue) == 0 {
					c.mu.Unlock()
					return
				}
				chunk := c.queue[0]
				c.queue = c.queue[1:]
				var signal syscall.Signal
				after, of := 0, "read"
				if c.kills > 0 {
					c.kills--
					signal, after = syscall.SIGTERM, 1+c.random.IntN(24)
					if c.kills%2 == 0 {
						signal, of = syscall.SIGKILL, "write" // while it writes the tables of a batch
					}
				}
				c.mu.Unlock()
				c.task(m, chunk, signal, of, after)
			}
		})
	}
	all.Wait()
	if len(c.done) != chunks || len(c.killed) == 0 {
		c.Errorf("killed %v, done %v of %d", c.killed, c.done, chunks)
	}
}

// task ingests a chunk. It sends the signal after a number of requests of a kind.
func (c *cluster) task(m *machine, chunk int, signal syscall.Signal, of string, after int) {
	command := m.command("ingest", "--plan", c.plan, "--cache", "", "--jobs", "2")
	command.Env = append(command.Env, "JOB_COMPLETION_INDEX="+strconv.Itoa(chunk))
	var out strings.Builder
	command.Stdout, command.Stderr = &out, &out
	before := m.count(of)
	if err := command.Start(); err != nil {
		c.Error(err)
		return
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = command.Wait() // its state says how it ended
	}()
	for running := true; running; {
		select {
		case <-ended:
			running = false
		case <-time.After(time.Millisecond):
			if signal != 0 && m.count(of) > before+after {
				_ = command.Process.Signal(signal) // it may have ended
				<-ended
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch code := command.ProcessState.ExitCode(); {
	case code == 0:
		c.done[chunk] = true
	case signal != 0 && (code == 75 || code == -1):
		c.killed[signal.String()]++
		c.again++
		c.queue = append(c.queue, chunk)
	default:
		c.Errorf("chunk %d, signal %v: exit status %d\n%s", chunk, signal, code, out.String())
	}
}

// count returns the number of requests of a kind that a machine has sent so far.
func (m *machine) count(kind string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sent[[2]string{kind, m.host}]
}

// right checks the store when the plan is done.
func (c *cluster) right() {
	c.Helper()
	m := c.machine("STACKMILL_S3_ORPHANS=1ms")
	if out, want := m.does("plan", "status", c.plan), fmt.Sprintf("%d in the store (0 with lost data), 0 missing, 0 failed, 0 forgotten\n", recordings); !strings.Contains(out, want) {
		c.Errorf("%s", out)
	}
	c.has(store, 0, recordings)
	files := len(c.stored("store/night=7/profiles/tables"))
	orphans := strings.Count(m.does("check", "--store", store), "is in no commit")
	time.Sleep(1100 * time.Millisecond) // server times have whole seconds
	for range 2 {
		// This cluster's machines remove files that no commit names after a millisecond, so another
		// machine, with the usual age limit, merges.
		c.machine().does("compact", "--store", store, "--keep", "0", "--purge")
		m.does("compact", "--store", store, "--keep", "0")
	}
	c.has(store, 0, recordings)
	out := m.does("check", "--store", store, "--format", "json")
	left := c.stored("store/night=7/profiles/tables")
	if orphans == 0 {
		c.Error("no task was killed between its tables and its commit")
	}
	if want := fmt.Sprintf(`"files":%d,`, len(left)); !strings.Contains(out, want) || strings.Contains(out, "is in no commit") {
		c.Errorf("%d files of tables are left:\n%s", len(left), out)
	}
	if out := c.machine().does("plan", "--store", store, "-o", filepath.Join(c.TempDir(), "next.plan"), "s3://recordings/night"); !strings.HasPrefix(out, "0 recordings ") {
		c.Errorf("the next plan: %s", out)
	}
	names := map[string]int{}
	for f, n := range c.injected {
		names[faultNames[f]] = n
	}
	c.Logf("%d tasks run again, killed %v; requests by what happened to them %v; %d files of tables before, of which %d in no commit, %d after", c.again, c.killed, names, files, orphans, len(left))
}

// The number of an ingest's requests does not depend on the store's size, except that it reads the
// commits of others; a task does not read these.
func TestRequests(t *testing.T) {
	for _, tt := range []struct {
		name  string
		reads int // additional reads for each existing batch
		verb  func(m *machine, recordings string) []string
	}{
		{"ingest", 1, func(_ *machine, recordings string) []string { return []string{recordings} }},
		{"task", 0, func(m *machine, recordings string) []string {
			plan := filepath.Join(m.TempDir(), "a.plan")
			m.does("plan", "--store", store, "--chunks", "1", "-o", plan, recordings)
			return []string{"--plan", plan, "--chunk", "0"}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t)
			each := func(batches int) (sent map[string]int) {
				s.Helper()
				const many = 20
				first := batches * many
				for n := first; n < first+many; n++ {
					record(t, filepath.Join(s.root, "recordings", fmt.Sprint(batches)), n)
				}
				words := append([]string{"ingest", "--store", store, "--cache", ""}, tt.verb(s.machine(), fmt.Sprintf("s3://recordings/%d", batches))...)
				m := s.machine()
				s.counted()
				m.does(words...)
				sent = s.counted()
				t.Logf("%d recordings of %d objects, into a store of %d batches: %v", many, len(s.stored(fmt.Sprintf("recordings/%d", batches))), batches, sent)
				sent["read"] -= tt.reads * batches
				return sent
			}
			want := each(0)
			for batches := 1; batches < 4; batches++ {
				got := each(batches)
				if batches == 1 && tt.reads > 0 {
					want["read"] = got["read"] // a new store has no journal
				}
				if !maps.Equal(got, want) {
					t.Errorf("%d batches: %v, without any %v", batches, got, want)
				}
			}
		})
	}
}

// A permanent error ends with its exit status, and a message that names the object, the reason and
// what to do.
func TestGone(t *testing.T) {
	s := serve(t)
	record(t, filepath.Join(s.root, "recordings", "night"), 0)
	plan := filepath.Join(t.TempDir(), "a.plan")
	s.machine().does("plan", "--store", store, "-o", plan, "s3://recordings/night")
	down := func(r *http.Request) fault { return failed }
	writes := func(r *http.Request) fault {
		if r.Method == http.MethodPut {
			return slow
		}
		return none
	}
	for _, c := range []struct {
		name   string
		decide func(*http.Request) fault
		env    string
		code   int
		says   []string
	}{
		{"all fails", down, "", 75, []string{"s3://store/night=7/profiles/plans/", "tries in", "may succeed later"}},
		{"writes are slowed down", writes, "", 75, []string{"s3://store/night=7/profiles/tables/", "reduce your request rate", "tries in"}},
		{"wrong key", nil, "AWS_SECRET_ACCESS_KEY=other", 1, []string{"s3://store/night=7/profiles/plans/", "AWS_SECRET_ACCESS_KEY"}},
		{"unknown key", nil, "AWS_ACCESS_KEY_ID=other", 1, []string{"s3://store/night=7/profiles/plans/", "AWS_ACCESS_KEY_ID"}},
		{"no server", nil, "AWS_ENDPOINT_URL=http://127.0.0.1:1", 75, []string{"s3://store/night=7/profiles/plans/", "connection refused", "tries in"}},
		{"no answer", func(*http.Request) fault { return late }, "STACKMILL_S3_TIMEOUT=300ms", 75, []string{"s3://store/night=7/profiles/plans/", "tries in"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.disturb(0, c.decide)
			m := s.machine("STACKMILL_S3_RETRY=1s")
			if c.env != "" {
				m.env = append(m.env, c.env)
			}
			code, out := m.run("ingest", "--plan", plan, "--chunk", "0", "--cache", "")
			if code != c.code {
				t.Errorf("exit status %d, want %d", code, c.code)
			}
			for _, say := range c.says {
				if !strings.Contains(out, say) {
					t.Errorf("it does not say %q:\n%s", say, out)
				}
			}
		})
	}
	s.disturb(0, nil)
	m := s.machine()
	m.does("ingest", "--plan", plan, "--chunk", "0", "--cache", "")
	s.has(store, 0, 1)
	if code, out := m.run("ingest", "--store", "s3://nowhere/profiles", "--cache", "", s.root); code != 1 || !strings.Contains(out, "s3://nowhere/profiles") || !strings.Contains(out, "make the bucket first") {
		t.Errorf("no bucket: exit status %d\n%s", code, out)
	}
}

// A large object is read in parts, and completely even if some parts end early.
func TestLargeInput(t *testing.T) {
	s := serve(t)
	record(t, filepath.Join(s.root, "recordings"), 0)
	filler, err := os.Create(filepath.Join(s.root, "recordings", "job-000.er", "filler"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(filler, random(7), 70<<20); err != nil {
		t.Fatal(err)
	}
	if err := filler.Close(); err != nil {
		t.Fatal(err)
	}
	cuts := 6
	s.disturb(0, func(r *http.Request) fault {
		if cuts > 0 && strings.HasSuffix(r.URL.Path, "/filler") && r.Method == http.MethodGet {
			cuts--
			return truncated
		}
		return none
	})
	m := s.machine()
	m.does("ingest", "--store", store, "--cache", "", "s3://recordings/job-000.er")
	s.has(store, 0, 1)
	local := filepath.Join(t.TempDir(), "store")
	m.does("ingest", "--store", local, "--cache", "", filepath.Join(s.root, "recordings", "job-000.er"))
	ids := []string{"query", "--format", "csv", "SELECT experiment_id FROM experiments", "--store"}
	if there, here := m.does(append(ids, store)...), m.does(append(ids, local)...); there != here {
		t.Errorf("the experiment is %q, read from a file %q", there, here)
	}
	if cuts != 0 {
		t.Errorf("%d answers were not cut", cuts)
	}
}

// randomFile is an endless file.
type randomFile struct{ *rand.ChaCha8 }

func random(seed byte) io.Reader { return randomFile{rand.NewChaCha8([32]byte{seed})} }
