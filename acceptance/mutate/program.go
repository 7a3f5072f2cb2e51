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
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// What the program may take.
const (
	memory  = 256 << 20 // --memory
	hang    = 30 * time.Second
	addrMax = 16 << 30 // of address space: it may be reserved, not used
	fileMax = 4 << 30
)

// outcome is what became of one run of the program.
type outcome struct {
	Status         int    // -1: ended by a signal
	Signal         string // which
	Hung           bool
	RSS            int64
	stdout, stderr string
	failures       []string
}

// program runs stackmill. Between it and this process stands a small one, the
// launcher: a process that is made by a large one is as large for a moment, and the
// kernel remembers that as its peak.
type program struct{ path string }

// launcher is the first argument of this program as a launcher.
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

// launch runs a program with limits, and writes the outcome to file 3.
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
	watch := time.AfterFunc(hang, func() {
		_ = cmd.Process.Signal(syscall.SIGQUIT) // it prints where it is; it may have ended
		time.AfterFunc(2*time.Second, func() { _ = cmd.Process.Kill() })
	})
	_ = cmd.Wait() // the state says it all
	s := cmd.ProcessState
	o := outcome{Status: s.ExitCode(), Hung: !watch.Stop(), RSS: s.SysUsage().(*syscall.Rusage).Maxrss << 10}
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

var traces = regexp.MustCompile(`(?m)^(panic:|fatal error:|goroutine \d+ \[|runtime: )|internal error|runtime error|SIGSEGV`)

// judge adds what holds of every run: no crash, no hang, not too much memory, and
// nothing on the terminal that controls it.
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
