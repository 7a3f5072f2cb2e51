package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Limits for stackmill.
const (
	memory  = 256 << 20 // --memory
	hang    = 30 * time.Second
	addrMax = 16 << 30 // address space, much of which is reserved but not used
	fileMax = 4 << 30
)

// outcome is the result of a run of stackmill.
type outcome struct {
	Status         int    // exit status; -1: a signal ended it
	Signal         string // the signal that ended it
	Hung           bool
	RSS            int64
	stdout, stderr string
	failures       []string
}

// program runs stackmill through a small process, the launcher. If this large process started it,
// Linux would count the size of this process toward the child's peak memory.
type program struct{ path string }

// launcher is the first argument of this program when it is the launcher.
const launcher = "launch"

func (p program) run(ctx context.Context, args ...string) (o outcome, err error) {
	self, err := os.Executable()
	if err != nil {
		return o, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return o, err
	}
	defer r.Close()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, self, append([]string{launcher, p.path}, args...)...)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = &stdout, &stderr, []*os.File{w}
	err = cmd.Run()
	w.Close()
	if ctx.Err() != nil {
		return o, ctx.Err()
	}
	if err != nil {
		return o, fmt.Errorf("%s: %w\n%s", launcher, err, stderr.String())
	}
	report, err := io.ReadAll(r)
	if err == nil {
		err = json.Unmarshal(report, &o)
	}
	o.stdout, o.stderr = stdout.String(), stderr.String()
	return o, err
}

// launch runs a program with limits, and writes the outcome to file descriptor 3.
func launch(path string, args ...string) error {
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err
	}
	for resource, limit := range map[int]uint64{unix.RLIMIT_AS: addrMax, unix.RLIMIT_FSIZE: fileMax, unix.RLIMIT_CORE: 0, unix.RLIMIT_CPU: 300} {
		if err := unix.Prlimit(cmd.Process.Pid, resource, &unix.Rlimit{Cur: limit, Max: limit}, nil); err != nil && err != unix.ESRCH {
			return err
		}
	}
	ended, hung := make(chan struct{}), make(chan bool)
	go func() { hung <- watch(cmd.Process, ended) }()
	_ = cmd.Wait() // ProcessState says how it ended
	close(ended)
	s := cmd.ProcessState
	o := outcome{Status: s.ExitCode(), Hung: <-hung, RSS: s.SysUsage().(*syscall.Rusage).Maxrss << 10}
	if o.Status < 0 {
		o.Signal = s.String()
	}
	report, err := json.Marshal(o)
	if err != nil {
		return err
	}
	_, err = os.NewFile(3, "report").Write(report)
	return err
}

// watch ends a process that hangs, and reports whether it did so. A process hangs if it has used
// more CPU time than the time limit, or hardly any during that time. Elapsed time alone does not
// count, because the machine may be busy.
func watch(p *os.Process, ended <-chan struct{}) bool {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	var used []time.Duration // CPU time at each second
	for {
		select {
		case <-ended:
			return false
		case <-second.C:
		}
		used = append(used, processorTime(p.Pid))
		now := len(used) - 1
		before := now - int(hang/time.Second)
		if used[now] > hang || before >= 0 && used[now]-used[before] < 100*time.Millisecond {
			_ = p.Signal(syscall.SIGQUIT) // it prints its stacks and ends
			select {
			case <-ended:
			case <-time.After(5 * time.Second):
				_ = p.Kill()
			}
			return true
		}
	}
}

// processorTime returns the CPU time of a process so far, with a resolution of 10 ms (proc(5)).
func processorTime(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if err != nil || len(fields) < 13 {
		return 0
	}
	user, uerr := strconv.ParseInt(fields[11], 10, 64)
	system, serr := strconv.ParseInt(fields[12], 10, 64)
	if uerr != nil || serr != nil {
		return 0
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}

var traces = regexp.MustCompile(`(?m)^(panic:|fatal error:|goroutine \d+ \[|runtime: )|internal error|runtime error|SIGSEGV`)

// judge adds failures that may occur in any run: a crash, a hang, too much memory, or control
// characters in the output.
func (o *outcome) judge(limit int64) {
	switch {
	case o.Hung:
		o.failures = append(o.failures, "hang: more than "+hang.String())
	case o.Status < 0:
		o.failures = append(o.failures, "crash: "+o.Signal)
	case traces.MatchString(o.stderr):
		o.failures = append(o.failures, "crash: "+traces.FindString(o.stderr)+" on standard error")
	}
	if o.RSS > limit {
		o.failures = append(o.failures, "memory: "+mega(o.RSS))
	}
	if i := strings.IndexFunc(o.stdout+o.stderr, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == 0x202e
	}); i >= 0 {
		o.failures = append(o.failures, "terminal: control characters are printed")
	}
}
