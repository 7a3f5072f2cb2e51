package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// run is the time and memory of a run of a program.
type run struct {
	Elapsed time.Duration
	CPU     time.Duration // user and system, of all threads
	Memory  int64         // highest resident size in bytes
}

// measured is the first argument of a copy of this program that measures another program.
const measured = "measured"

// measure runs a program to its end and returns its time and memory. It starts the program through
// a new process of this program, because Linux counts a parent's memory toward the peak of its
// child.
func measure(name string, args ...string) (r run, err error) {
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	cmd := exec.Command(self, append([]string{measured, name}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return r, fmt.Errorf("%s %q: %w", name, args, err)
	}
	return r, json.Unmarshal(out, &r)
}

// measureHere runs a program as a child of this process, prints its time and memory as JSON, and
// returns an exit status.
func measureHere(name string, args ...string) int {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	r := run{Elapsed: time.Since(begin)}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%v: %v\n%s", cmd, err, out)
		return 1
	}
	r.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.Memory = u.Maxrss * 1024 // Maxrss is in KiB
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// runs are several runs of the same program, at least one.
type runs []run

// elapsed returns the median elapsed time.
func (rs runs) elapsed() time.Duration {
	return median(each(rs, func(r run) time.Duration { return r.Elapsed }))
}

// cpu returns the median CPU time.
func (rs runs) cpu() time.Duration {
	return median(each(rs, func(r run) time.Duration { return r.CPU }))
}

// memory returns the highest memory of all runs.
func (rs runs) memory() (peak int64) {
	for _, r := range rs {
		peak = max(peak, r.Memory)
	}
	return peak
}

// cores returns the median of CPU time divided by elapsed time: how many processors were busy.
func (rs runs) cores() float64 {
	return median(each(rs, func(r run) float64 { return r.CPU.Seconds() / r.Elapsed.Seconds() }))
}

func each[V any](rs runs, value func(run) V) (values []V) {
	for _, r := range rs {
		values = append(values, value(r))
	}
	return values
}

// median returns the middle value.
func median[V cmp.Ordered](values []V) V {
	return slices.Sorted(slices.Values(values))[len(values)/2]
}
