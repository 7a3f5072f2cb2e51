package faults

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Every largeEach-th recording is enlarged, so that it has a batch of its own: then a task can be
// killed after it has committed some batches and not others.
const largeEach = 3

// mixed returns a folder of recordings, some of them large.
func mixed(t *testing.T) (dir string) {
	t.Helper()
	small, err := manySmall()
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "mixed")
	if err := os.CopyFS(dir, os.DirFS(small)); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < nights*nightJobs; n += largeEach {
		filler := filepath.Join(dir, job(n), "filler")
		if err := errors.Join(os.WriteFile(filler, nil, 0o666), os.Truncate(filler, 4<<20)); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-time.Hour) // recent changes are not noted in the journal
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(path, old, old))
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Numbers of recordings and tasks of a cluster, and of tasks that are killed or fail.
const (
	manyJobs  = 5000
	manyTasks = 500
	manyHarms = 60
)

// thousands makes the recordings of a cluster, and returns the state of a store of them.
func thousands(t *testing.T) (dir string, want state) {
	t.Helper()
	dir, want = t.TempDir(), state{}
	for n := range manyJobs {
		if err := small(dir, n); err != nil {
			t.Fatal(err)
		}
		want[job(n)] = fmt.Sprintf(plain, n/nightJobs, value(n))
	}
	return dir, want
}

// fullDisk makes a script that runs a command with almost no space in the folder where the store's
// batches are written. It needs root.
func fullDisk(t *testing.T, dir, store string) (script string) {
	t.Helper()
	script = filepath.Join(dir, "full.sh")
	staging := filepath.Join(store, "staging")
	text := fmt.Sprintf("#!/bin/sh\nexec unshare -m --propagation private sh -c 'mount -t tmpfs -o size=64k none %s && exec \"$@\"' sh \"$@\"\n", staging)
	if err := errors.Join(os.MkdirAll(staging, 0o777), os.WriteFile(script, []byte(text), 0o777)); err != nil {
		t.Fatal(err)
	}
	return script
}

// cluster runs the tasks of a plan as processes, and kills some of them.
type cluster struct {
	*life
	chunks int
	want   state
	full   string // script that runs every tenth task on a full disk; "": none
	random *rand.Rand

	mu      sync.Mutex
	queue   []int
	kills   int // number of tasks still to be killed
	done    map[int]bool
	killed  map[syscall.Signal]int // number of tasks that a signal ended before they were done
	failed  int                    // number of tasks on a full disk
	retried int
}

// Workers that are killed at any moment, run again or run twice at once store each recording once
// and completely.
func TestPlanKilled(t *testing.T) {
	l := newLife(t)
	l.dir = mixed(t)
	rounds := 2
	if *long {
		rounds = 40
	}
	for round := range rounds {
		seed := uint64(round)
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			c := newCluster(t, l, seed)
			c.want, c.chunks, c.kills = truth(plain, plain, plain), 7, 14
			c.work()
			c.right()
		})
	}
}

// Hundreds of workers ingest each of thousands of recordings once and completely, though some are
// killed, some run twice at once and some have no disk space.
func TestPlanOfThousands(t *testing.T) {
	if !*long {
		t.Skip("it takes minutes (STACKMILL_SOAK=1)")
	}
	l := newLife(t)
	var want state
	l.dir, want = thousands(t)
	c := newCluster(t, l, 1)
	c.want, c.chunks, c.kills = want, manyTasks, manyHarms
	if os.Getuid() == 0 {
		c.full = fullDisk(t, t.TempDir(), c.store)
	}
	c.work()
	if c.full != "" && c.failed == 0 {
		t.Error("no task's disk was full")
	}
	c.right()
}

// However many commits there were before the plan or are added by other tasks, a task makes the
// same system calls on commits.
func TestPlanOperations(t *testing.T) {
	tracer := strace(t)
	l := newLife(t)
	const tasks = 4
	var first []string
	for _, before := range []int{0, 5} {
		l.begin("")
		old, dir := t.TempDir(), t.TempDir()
		for n := range before {
			if err := small(old, n); err != nil {
				t.Fatal(err)
			}
			l.does(l.verb("ingest", filepath.Join(old, job(n))))
		}
		for n := before; n < before+tasks; n++ {
			if err := small(dir, n); err != nil {
				t.Fatal(err)
			}
		}
		l.plan = filepath.Join(t.TempDir(), "a.plan")
		l.does(l.verb("plan", "--recursive", "--chunks", strconv.Itoa(tasks), "-o", "PLAN", dir))
		for chunk := range tasks {
			log := filepath.Join(t.TempDir(), "trace")
			l.does(append([]string{tracer, "-f", "-qq", "-y", "-e", "trace=%file,read,write,fsync,getdents64", "-o", log}, l.verb("ingest", "--plan", "PLAN", "--chunk", strconv.Itoa(chunk))...))
			calls := onCommits(t, log, l.store)
			t.Logf("%d batches before the plan, task %d: %d calls", before, chunk, len(calls))
			if first == nil && chunk == 1 { // from here on, the store exists
				first = calls
			}
			if first != nil && !slices.Equal(calls, first) {
				t.Errorf("%d batches before the plan, task %d: on commits %q, in an empty store %q", before, chunk, calls, first)
			}
		}
		l.does(l.verb("plan", "status", "PLAN"))
	}
}

// onCommits returns the calls of a traced program about the commits of a store, sorted.
func onCommits(t *testing.T, log, store string) (calls []string) {
	t.Helper()
	trace, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(trace)) {
		if m := regexp.MustCompile(`^\d+ +(\w+)\(`).FindStringSubmatch(line); m != nil && strings.Contains(line, filepath.Join(store, "commits")) {
			calls = append(calls, m[1])
		}
	}
	if len(calls) == 0 {
		t.Fatal("nothing was done")
	}
	slices.Sort(calls)
	return calls
}

func newCluster(t *testing.T, l *life, seed uint64) *cluster {
	return &cluster{life: &life{bench: &bench{T: t, binary: l.binary, cache: l.cache}, dir: l.dir, plan: filepath.Join(t.TempDir(), "a.plan"), store: filepath.Join(t.TempDir(), "store")},
		random: rand.New(rand.NewPCG(seed, 1)), done: map[int]bool{}, killed: map[syscall.Signal]int{}}
}

// work runs all tasks of a plan, three at once.
func (c *cluster) work() {
	c.Helper()
	c.does(c.verb("plan", "--recursive", "--chunks", strconv.Itoa(c.chunks), "-o", "PLAN", "DIR"))
	for n := range c.chunks {
		c.queue = append(c.queue, n)
		if c.random.IntN(3) == 0 {
			c.queue = append(c.queue, n) // twice, at the same time
		}
	}
	var workers sync.WaitGroup
	for range 3 {
		workers.Go(func() {
			for c.task() {
			}
		})
	}
	workers.Wait()
	if c.killed[syscall.SIGKILL] == 0 || len(c.done) != c.chunks {
		c.Errorf("killed %v, done %v of %d", c.killed, c.done, c.chunks)
	}
	injected.Add(int64(c.killed[syscall.SIGKILL] + c.killed[syscall.SIGTERM] + c.failed))
	c.Logf("%d tasks run again, killed %v, %d without room", c.retried, c.killed, c.failed)
}

// task runs the next task of the queue. It returns false if the queue is empty.
func (c *cluster) task() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		return false
	}
	chunk := c.queue[0]
	c.queue = c.queue[1:]
	var signal syscall.Signal
	after := 0
	if c.kills > 0 {
		c.kills--
		signal = []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM}[c.random.IntN(2)]
		after = c.random.IntN(40)
	}
	full := c.full != "" && signal == 0 && c.random.IntN(10) == 0
	c.mu.Unlock()
	code, out := c.one(chunk, full, signal, after)
	c.mu.Lock()
	switch {
	case code == 0:
		c.done[chunk] = true
	case full && code == 75 && strings.Contains(out, "no space left on device"):
		c.failed++
		c.retried++
		c.queue = append(c.queue, chunk)
	case signal != 0 && (code == 75 || code == -1):
		c.killed[signal]++
		c.retried++
		c.queue = append(c.queue, chunk)
	default:
		c.Errorf("chunk %d, signal %v: exit status %d\n%s", chunk, signal, code, out)
	}
	return true
}

// one runs a task, with a full disk if full is set. It sends the signal after the names in the
// store have changed `after` times.
func (c *cluster) one(chunk int, full bool, signal syscall.Signal, after int) (code int, out string) {
	binary, err := worker()
	if err != nil {
		return -2, err.Error()
	}
	words := append([]string{binary}, c.verb("ingest", "--plan", "PLAN")[1:]...)
	if full {
		words = append([]string{c.full}, words...)
	}
	command := exec.Command(words[0], words[1:]...)
	command.Env = append(os.Environ(), "JOB_COMPLETION_INDEX="+strconv.Itoa(chunk))
	var text strings.Builder
	command.Stdout, command.Stderr = &text, &text
	if err := command.Start(); err != nil {
		return -2, err.Error()
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = command.Wait() // its state says how it ended
	}()
	changes, names := 0, ""
	for running := true; running; {
		select {
		case <-ended:
			running = false
		case <-time.After(time.Millisecond):
			if signal == 0 {
				continue
			}
			if now := c.names(); now != names {
				names = now
				changes++
			}
			if changes > after {
				_ = command.Process.Signal(signal) // it may have ended
				<-ended
			}
		}
	}
	return command.ProcessState.ExitCode(), text.String()
}

// names returns the names of the files in a store that is being written.
func (c *cluster) names() string {
	var all []string
	for _, pattern := range []string{"staging/*", "staging/*/*", "commits/*", "tables/samples/*", "plans/*/*"} {
		found, _ := filepath.Glob(filepath.Join(c.store, pattern)) // the pattern is right
		all = append(all, found...)
	}
	return strings.Join(all, "\n")
}

// right checks the store of a finished plan: it equals an undisturbed ingest's store, and the next
// ingest finds nothing to do and leaves nothing behind.
func (c *cluster) right() {
	c.Helper()
	code, out := c.run(c.verb("plan", "status", "PLAN")...)
	if want := fmt.Sprintf("%d in the store (0 with lost data), 0 missing, 0 failed, 0 forgotten\n", len(c.want)); code != 0 || !strings.Contains(out, want) {
		c.Errorf("status %d:\n%s", code, out)
	}
	c.expect("tasks killed", is(c.want))
	next := filepath.Join(c.TempDir(), "next.plan")
	if code, out := c.run(c.verb("plan", "--recursive", "-o", next, "DIR")...); code != 0 || !strings.HasPrefix(out, "0 recordings ") {
		c.Errorf("the next plan: status %d:\n%s", code, out)
	}
	c.does(c.verb("ingest", "DIR"))
	c.does(c.verb("compact", "--keep", "0", "--purge"))
	c.expect("merged", is(c.want))
	left := slices.DeleteFunc(leftovers(c.T, c.store), func(name string) bool { return unsigned(filepath.Join(c.store, name)) })
	reports, err := filepath.Glob(filepath.Join(c.store, "plans", "*", "*.json"))
	if err != nil || len(left) > 0 || len(reports) != c.chunks {
		c.Errorf("left %v; %d reports of %d chunks, %v", left, len(reports), c.chunks, err)
	}
}
