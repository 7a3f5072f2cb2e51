package faults

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// largeEach is which of the small recordings are made so large that each has a batch of its
// own: a task that is killed has some batches in and others not.
const largeEach = 3

// mixed returns the folder of the recordings of a life, some of which are large.
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
	old := time.Now().Add(-time.Hour) // what has just changed is not noted
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(path, old, old))
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// cluster runs the tasks of a plan as processes, and kills some.
type cluster struct {
	*life
	chunks int
	random *rand.Rand

	mu      sync.Mutex
	queue   []int
	kills   int // that are left to do
	done    map[int]bool
	killed  map[syscall.Signal]int // tasks that a signal ended before they were done
	retried int
}

// Workers that are killed at any moment, run again and run twice at once put each recording
// in once, whole.
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
			var workers sync.WaitGroup
			for range 3 {
				workers.Go(func() {
					for c.task() {
					}
				})
			}
			workers.Wait()
			if c.killed[syscall.SIGKILL] == 0 || len(c.done) != c.chunks {
				t.Errorf("killed %v, done %v of %d", c.killed, c.done, c.chunks)
			}
			injected.Add(int64(c.killed[syscall.SIGKILL] + c.killed[syscall.SIGTERM]))
			t.Logf("%d tasks run again, killed %v", c.retried, c.killed)
			c.right()
		})
	}
}

func newCluster(t *testing.T, l *life, seed uint64) *cluster {
	c := &cluster{life: &life{bench: &bench{T: t, binary: l.binary, cache: l.cache}, dir: l.dir, plan: filepath.Join(t.TempDir(), "a.plan"), store: filepath.Join(t.TempDir(), "store")},
		chunks: 7, random: rand.New(rand.NewPCG(seed, 1)), kills: 14, done: map[int]bool{}, killed: map[syscall.Signal]int{}}
	c.does(c.verb("plan", "--recursive", "--chunks", strconv.Itoa(c.chunks), "-o", "PLAN", "DIR"))
	for n := range c.chunks {
		c.queue = append(c.queue, n)
		if c.random.IntN(3) == 0 {
			c.queue = append(c.queue, n) // at the same time
		}
	}
	return c
}

// task runs the next task; false if there is none.
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
	c.mu.Unlock()
	code, out := c.one(chunk, signal, after)
	c.mu.Lock()
	switch {
	case code == 0:
		c.done[chunk] = true
	case signal != 0 && (code == 75 || code == -1):
		c.killed[signal]++
		c.retried++
		c.queue = append(c.queue, chunk)
	default:
		c.Errorf("chunk %d, signal %v: exit status %d\n%s", chunk, signal, code, out)
	}
	return true
}

// one runs a task. A signal is sent when the names in the store have changed so many times.
func (c *cluster) one(chunk int, signal syscall.Signal, after int) (code int, out string) {
	binary, err := worker()
	if err != nil {
		return -2, err.Error()
	}
	command := exec.Command(binary, c.verb("ingest", "--plan", "PLAN")[1:]...)
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
			if now := c.names(); now != names {
				names = now
				changes++
			}
			if signal != 0 && changes > after {
				_ = command.Process.Signal(signal) // it may have ended
				<-ended
			}
		}
	}
	return command.ProcessState.ExitCode(), text.String()
}

// names are those of the files in a store that is being written.
func (c *cluster) names() string {
	var all []string
	for _, pattern := range []string{"staging/*", "staging/*/*", "commits/*", "tables/samples/*", "plans/*/*"} {
		found, _ := filepath.Glob(filepath.Join(c.store, pattern)) // the pattern is right
		all = append(all, found...)
	}
	return strings.Join(all, "\n")
}

// right looks at a store whose plan is done: it is that of an undisturbed ingest, and the
// next one finds nothing to do and leaves nothing behind.
func (c *cluster) right() {
	c.Helper()
	code, out := c.run(c.verb("plan", "status", "PLAN")...)
	if want := fmt.Sprintf("%d in, of which 0 have lost data; 0 missing, 0 failed, 0 forgotten\n", nights*nightJobs); code != 0 || !strings.Contains(out, want) {
		c.Errorf("status %d:\n%s", code, out)
	}
	c.expect("tasks killed", is(truth(plain, plain, plain)))
	next := filepath.Join(c.TempDir(), "next.plan")
	if code, out := c.run(c.verb("plan", "--recursive", "-o", next, "DIR")...); code != 0 || !strings.HasPrefix(out, "0 recordings ") {
		c.Errorf("the next plan: status %d:\n%s", code, out)
	}
	c.does(c.verb("ingest", "DIR"))
	c.does(c.verb("compact", "--keep", "0", "--purge"))
	c.expect("merged", is(truth(plain, plain, plain)))
	left := slices.DeleteFunc(leftovers(c.T, c.store), func(name string) bool { return unsigned(filepath.Join(c.store, name)) })
	reports, err := filepath.Glob(filepath.Join(c.store, "plans", "*", "*"))
	if err != nil || len(left) > 0 || len(reports) != c.chunks {
		c.Errorf("left %v; %d reports of %d chunks, %v", left, len(reports), c.chunks, err)
	}
}
