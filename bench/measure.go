package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// run is what one run of a program took.
type run struct {
	elapsed time.Duration
	cpu     time.Duration // of all threads, user and system
	memory  int64         // the peak of its resident set, bytes
}

// measure runs a program to its end. The peak that the system reports is at least
// this process's own, which must therefore stay small.
func measure(name string, args ...string) (run, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	r := run{elapsed: time.Since(begin)}
	if err != nil {
		return r, fmt.Errorf("%v: %w\n%s", cmd, err, out)
	}
	r.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.memory = u.Maxrss * 1024 // Linux counts in KiB
	}
	return r, nil
}

// median returns the run in the middle by time, with the highest memory of all.
func median(runs []run) run {
	slices.SortFunc(runs, func(a, b run) int { return int(a.elapsed - b.elapsed) })
	m := runs[len(runs)/2]
	for _, r := range runs {
		m.memory = max(m.memory, r.memory)
	}
	return m
}
