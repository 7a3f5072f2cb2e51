package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"stackmill/internal/corpus"
	"stackmill/internal/exit"
	"stackmill/queries/storetest"
)

// hangs is the time after which a test gives up on a program that does not end, far longer than it
// should take.
const hangs = 3 * time.Minute

// program prepares a run of the program.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hangs)
	t.Cleanup(cancel)
	return longProgram(ctx, t, args...)
}

// longProgram prepares a run that may last as long as the context.
func longProgram(ctx context.Context, t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(ctx, self)
	c.Args = append([]string{"stackmill"}, args...)
	return c
}

// isIn matches the last line of an ingest that was stopped.
var isIn = regexp.MustCompile(`^stackmill: ingest: (\d+) of (\d+) recordings? in the store, (\d+) not: interrupted`)

// A signal ends an ingest at any moment: finished recordings are in the store, the last line counts
// them, and the same command continues.
func TestSignal(t *testing.T) {
	recordings := t.TempDir()
	if err := corpus.Perf(recordings); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, name := range []string{"cxx_fp", "deep_fp", "fork", "group", "jit_dump", "multi", "recur_z", "signals_dwarf", "threads_s", "watch"} {
		paths = append(paths, filepath.Join(recordings, "perf", "p_"+name+".data"))
	}
	endless := endless(t)
	for _, after := range []int{1, 4} {
		t.Run(fmt.Sprint("after ", after), func(t *testing.T) {
			store := filepath.Join(t.TempDir(), "store")
			ingest := append([]string{"ingest", "--store", store, "--cache", filepath.Join(t.TempDir(), "cache")}, paths...)
			last, status := signalAfter(t, program(t, append(ingest[:len(ingest):len(ingest)], endless)...), after)
			n := committed(t, store)
			m := isIn.FindStringSubmatch(last)
			if m == nil || status != exit.Lost {
				t.Fatalf("status %d, last line %q", status, last)
			}
			if in, _ := strconv.Atoi(m[1]); in != n || in < after {
				t.Errorf("%d are in after %d, but %q", n, after, last)
			}
			if out, err := program(t, "check", "--store", store).CombinedOutput(); err != nil {
				t.Errorf("check: %v\n%s", err, out)
			}
			if left, err := os.ReadDir(filepath.Join(store, "staging")); err != nil || len(left) > 0 {
				t.Errorf("staging has %v, %v", left, err)
			}
			if out, err := program(t, ingest...).CombinedOutput(); err != nil {
				t.Errorf("again: %v\n%s", err, out)
			}
			if n := committed(t, store); n != len(paths) || m[2] != fmt.Sprint(len(paths)+1) {
				t.Errorf("again: %d of %s are in", n, m[2])
			}
		})
	}
}

// signalAfter interrupts a program after it has logged n inputs, and returns the last line and the
// exit status.
func signalAfter(t *testing.T, c *exec.Cmd, n int) (last string, status int) {
	t.Helper()
	errs, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(errs); lines.Scan(); {
		last = lines.Text()
		if strings.Contains(last, "msg=ingest") {
			if n--; n == 0 {
				_ = c.Process.Signal(syscall.SIGTERM)
			}
		}
	}
	_ = c.Wait() // the status is checked
	return last, c.ProcessState.ExitCode()
}

// endless makes a recording that takes seconds to identify: a hole of nearly the maximum file size.
func endless(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "perf.data")
	if err := os.WriteFile(path, []byte("PERFILE2"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<44-1<<16); err != nil {
		t.Skipf("no file system for a file of 16 TB: %v", err)
	}
	return path
}

// A signal ends long work on one file: identifying it, and a query.
func TestSignalInLongWork(t *testing.T) {
	huge := endless(t)
	store := storetest.New(t, storetest.Two)
	for name, c := range map[string]*exec.Cmd{
		"ingest": program(t, "ingest", "--store", filepath.Join(t.TempDir(), "store"), "--cache", "", huge),
		"query":  program(t, "query", "--store", store, "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range * b.range % 7 = 3"),
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			c.Stdout, c.Stderr = &out, &out
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			busy(t, c)
			if err := c.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			_ = c.Wait() // the status is checked
			if c.ProcessState.ExitCode() != exit.Failed || !strings.Contains(out.String(), "interrupted") {
				t.Errorf("%v\n%s", c.ProcessState, out.String())
			}
		})
	}
}

// busy waits until a process has used some CPU time, so that it has started.
func busy(t *testing.T, c *exec.Cmd) {
	t.Helper()
	for range int(hangs / (10 * time.Millisecond)) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Process.Pid))
		if err != nil {
			t.Skip(err)
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		user, _ := strconv.Atoi(fields[11])
		system, _ := strconv.Atoi(fields[12])
		if user+system >= 50 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the process does nothing")
}
