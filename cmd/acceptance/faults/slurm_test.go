package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// slurmCluster is a Slurm of two nodes on this machine.
type slurmCluster struct {
	*life
	dir     string
	program string // path of the program that tasks run
}

// On a Slurm cluster where one node has no disk space, workers are requeued and killed. They and
// the workers of a plan for the rest store each recording once and completely.
func TestSlurm(t *testing.T) {
	if os.Getenv("STACKMILL_SLURM") == "" {
		t.Skip("STACKMILL_SLURM=1 runs it, as root, where Debian's slurm-wlm and munge are installed")
	}
	l := newLife(t)
	program, err := worker()
	if err != nil {
		t.Fatal(err)
	}
	recordings, want := thousands(t)
	s := &slurmCluster{&life{bench: &bench{T: t, binary: l.binary, cache: l.cache}, dir: recordings, store: filepath.Join(t.TempDir(), "store")}, t.TempDir(), program}
	s.start()
	first := filepath.Join(t.TempDir(), "first.plan")
	array := s.submit("plan", "--recursive", "--chunks", strconv.Itoa(manyTasks), "-o", first, "DIR")
	started := time.Now()
	harmed := s.harm(first, array)
	s.until("the queue is empty", func() bool { return s.command("squeue", "-h") == "" })
	t.Logf("%d recordings by %d tasks in %.0f s, %d harmed", manyJobs, manyTasks, time.Since(started).Seconds(), harmed)
	out := s.logs(first)
	for _, happened := range []string{"no space left on device", "n1 CANCELLED", "n1: task 0: Killed", "DUE TO JOB REQUEUE"} {
		if n := strings.Count(out, happened); n == 0 {
			t.Errorf("no task's log has %q:\n%s", happened, out)
		} else {
			t.Logf("%s: %d", happened, n)
		}
	}
	s.command("scontrol", "update", "nodename=n2", "state=drain", "reason=full")
	if code, out := s.run(s.verb("plan", "status", first)...); code != 3 || !strings.Contains(out, "chunks to run again: ") {
		t.Errorf("status %d: %s", code, out)
	}
	last := filepath.Join(t.TempDir(), "second.plan")
	s.submit("plan", "retry", first, "-o", last)
	s.until("the queue is empty", func() bool { return s.command("squeue", "-h") == "" })
	for _, plan := range []string{first, last} {
		if code, out := s.run(s.verb("plan", "status", plan)...); code != 0 {
			t.Errorf("%s: status %d: %s\n%s", plan, code, out, s.logs(plan))
		}
	}
	s.expect("Slurm", is(want))
	s.does(s.verb("compact", "--keep", "0", "--purge"))
	s.expect("merged", is(want))
	if left := leftovers(t, s.store); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// harms are commands that end or requeue a task.
var harms = []func(task string) []string{
	func(task string) []string { return []string{"scontrol", "requeue", task} },
	func(task string) []string { return []string{"scancel", "--signal=KILL", task} },        // the whole job, with its script
	func(task string) []string { return []string{"scancel", "--signal=KILL", task + ".0"} }, // only the program, not its script
}

// harm ends or requeues tasks of an array at random times while they read and write. It returns how
// many tasks it harmed.
func (s *slurmCluster) harm(plan, array string) int {
	s.Helper()
	random, harmed := rand.New(rand.NewPCG(1, 1)), map[string]bool{}
	for len(harmed) < manyHarms {
		s.until("a task reads recordings", func() bool {
			for _, task := range strings.Fields(s.command("squeue", "-h", "-t", "R", "-w", "n1", "-o", "%i")) {
				if harmed[task] || !s.reads(plan, strings.TrimPrefix(task, array+"_")) {
					continue
				}
				time.Sleep(time.Duration(random.IntN(400)) * time.Millisecond)
				words := harms[len(harmed)%len(harms)](task)
				if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err == nil {
					harmed[task] = true
				} else if !strings.Contains(string(out), "nvalid job id") && !strings.Contains(string(out), "lready") && !strings.Contains(string(out), "pending") {
					s.Fatalf("%q: %v\n%s", words, err, out) // for another reason than that the task has just ended or been requeued
				}
				return true
			}
			return s.command("squeue", "-h") == ""
		})
		if s.command("squeue", "-h") == "" {
			break
		}
	}
	return len(harmed)
}

// start starts Slurm's daemons. On node n2, the folder in which the store's batches are prepared
// has little space.
func (s *slurmCluster) start() {
	s.Helper()
	full := fullDisk(s.T, s.dir, s.store)
	slurm := func(verb string, more ...string) error {
		out, err := exec.Command("testdata/slurm.sh", append([]string{verb, s.dir}, more...)...).CombinedOutput()
		if err != nil {
			err = fmt.Errorf("slurm.sh %s: %w\n%s", verb, err, out)
		}
		return err
	}
	if err := slurm("start", "n2="+full); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		if err := slurm("stop"); err != nil {
			s.Error(err)
		}
	})
	s.Setenv("SLURM_CONF", filepath.Join(s.dir, "slurm.conf"))
}

// reads reports whether the ingest of a chunk is running.
func (s *slurmCluster) reads(plan, chunk string) bool {
	return exec.Command("pgrep", "-f", fmt.Sprintf("^%s ingest --plan %s .*--chunk %s$", s.program, plan, chunk)).Run() == nil
}

// command runs a program that must succeed, and returns its output.
func (s *slurmCluster) command(words ...string) string {
	s.Helper()
	out, err := exec.CommandContext(s.Context(), words[0], words[1:]...).CombinedOutput()
	if err != nil {
		s.Fatalf("%q: %v\n%s", words, err, out)
	}
	return strings.TrimSpace(string(out))
}

// submit submits the job of a plan, and returns its number.
func (s *slurmCluster) submit(words ...string) string {
	s.Helper()
	words = append(words, "--submit", "slurm", "--cpus", "1", "--memory", "300M", "--program", s.program)
	for _, option := range []string{"--cache=" + s.cache, "--debug-dir=" + scratch, "--label-from=night-(?P<night>[0-9]+)"} {
		words = append(words, "--ingest-option="+option)
	}
	out := s.command(s.verb(words...)...)
	job := out[strings.LastIndexByte(out, ' ')+1:]
	if _, err := strconv.Atoi(job); err != nil {
		s.Fatalf("%s", out)
	}
	return job
}

// until waits for a condition.
func (s *slurmCluster) until(what string, holds func() bool) {
	s.Helper()
	for range 36000 {
		if holds() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.Fatalf("it is not so that %s:\n%s\n%s", what, s.command("squeue"), s.command("sinfo"))
}

// logs returns the tasks' output, and the first error of each task's log.
func (s *slurmCluster) logs(plan string) (all string) {
	logs, err := filepath.Glob(plan + ".*.log")
	if err != nil {
		s.Fatal(err)
	}
	for _, path := range logs {
		text, err := os.ReadFile(path)
		if err != nil {
			s.Fatal(err)
		}
		failed := false
		for line := range strings.Lines(string(text)) {
			first := !failed && strings.Contains(line, "level=ERROR")
			failed = failed || first
			if first || !strings.Contains(line, "level=") {
				all += filepath.Base(path) + ": " + line
			}
		}
	}
	return all
}
