// Package record runs perf or gprofng to record a program, with the options whose recordings
// stackmill reads best.
//
// Start reading with Choose.
package record

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"stackmill/internal/exit"
	"stackmill/internal/lazyregexp"
	"stackmill/internal/tempdir"
	"stackmill/internal/terminal"
)

// The profilers.
const (
	Perf    = "perf"
	Gprofng = "gprofng"
)

// Options say what to record, and how.
type Options struct {
	With      string // Perf or Gprofng; "" for perf if it works, else gprofng
	Output    string // file (perf) or folder (gprofng) to write; "" for a new one in this folder
	CallGraph string // as perf's option --call-graph: fp, dwarf or dwarf,SIZE
	Frequency int    // samples of the clock in a second of CPU time
	Waits     bool   // also record when threads wait
	System    bool   // record all processes of the machine
	PID       string // record these running processes, separated by commas
	Program   []string
}

// Command is the command line of a profiler.
type Command struct {
	Args   []string
	Output string // what it writes
	Waits  bool   // whether it records waits
	Lacks  string // what was asked for and will not be in the recording, and why; "" for nothing
}

// String returns the command line, quoted for a shell.
func (c *Command) String() string {
	words := slices.Clone(c.Args)
	for i, w := range words {
		words[i] = terminal.ShellQuote(w)
	}
	return strings.Join(words, " ")
}

// Choose returns the command that records most of what the options ask for on this machine, with the
// permissions of this user.
func Choose(ctx context.Context, o *Options) (*Command, error) {
	if len(o.Program) > 0 {
		if _, err := exec.LookPath(o.Program[0]); err != nil {
			return nil, exit.With(notFound, err)
		}
	}
	var refused error
	if o.With != Gprofng {
		c, err := choosePerf(ctx, o)
		if err == nil {
			return c, nil
		}
		refused = err
	}
	if o.With == Perf {
		return nil, refused
	}
	c, err := chooseGprofng(o)
	if err != nil {
		return nil, errors.Join(refused, err)
	}
	if refused != nil {
		c.Lacks = strings.Join(slices.DeleteFunc([]string{c.Lacks, "what perf records: " + refused.Error()}, func(s string) bool { return s == "" }), "; ")
	}
	return c, nil
}

// notFound is the exit status of shells if there is no such program.
const notFound = 127

// perfWays are options of perf record, from those that record most to those that nearly every
// machine permits.
var perfWays = []struct {
	events, allEvents []string // options to record a program, and to record the whole machine
	lacks             string
	waits             bool
}{
	{
		[]string{"-e", "sched:sched_switch", "-e", "sched:sched_waking", "--switch-events"},
		[]string{"-e", "sched:sched_switch", "-e", "sched:sched_waking", "-e", "sched:sched_wakeup_new", "--switch-events"},
		"", true,
	},
	{[]string{"--switch-events"}, []string{"--switch-events"}, "where threads waited, and who woke them", true},
	{nil, nil, "waits", false},
}

// choosePerf returns the first way to use perf that works. It tries each on a program that does
// nothing: whether perf may record depends on more than one could ask the kernel for.
func choosePerf(ctx context.Context, o *Options) (*Command, error) {
	if _, err := exec.LookPath(Perf); err != nil {
		return nil, errors.New("perf is not installed (its package is called linux-perf, linux-tools or perf)")
	}
	ways := perfWays
	if !o.Waits {
		ways = ways[len(ways)-1:]
	}
	dir, err := tempdir.Make("record")
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Remove() }() // it is removed at the end otherwise
	var first string
	for _, way := range ways {
		for _, buffer := range [][]string{{"-m", "4M"}, nil} { // the more memory, the fewer records are lost; users may have too little
			target, events := o.target(), way.events
			if o.System {
				events = way.allEvents
			}
			options := slices.Concat(target, []string{"-k", "CLOCK_MONOTONIC", "-e", fmt.Sprintf("cpu-clock/freq=%d,name=cpu-clock/", o.Frequency)}, events,
				[]string{"--call-graph", o.CallGraph, "--sample-cpu", "-N"}, buffer)
			refused, err := tryPerf(ctx, filepath.Join(dir.Path, "try.data"), options)
			switch {
			case err != nil:
				return nil, err
			case refused == "":
				return o.perfCommand(options, way.waits, way.lacks, first), nil
			case first == "":
				first = refused
			}
		}
	}
	return nil, errors.New("perf cannot record this" + o.permission(first))
}

// target returns the options of perf record that say which processes to record.
func (o *Options) target() []string {
	switch {
	case o.System:
		return []string{"-a"}
	case o.PID != "":
		return []string{"-p", o.PID}
	}
	return nil
}

// perfCommand returns the command with these options; refused is what perf said about better ones.
func (o *Options) perfCommand(options []string, waits bool, lacks, refused string) *Command {
	c := &Command{Output: o.output("data"), Waits: waits}
	c.Args = append([]string{Perf, "record", "-o", c.Output}, options...)
	if len(o.Program) > 0 {
		c.Args = append(append(c.Args, "--"), o.Program...)
	}
	var missing []string
	if o.Waits && lacks != "" {
		missing = append(missing, lacks)
	}
	if level, err := strconv.Atoi(paranoid()); err == nil && level > 1 && os.Geteuid() != 0 {
		missing = append(missing, "what happened in the kernel")
	}
	if missing != nil {
		c.Lacks = strings.Join(missing, "; ") + o.permission(refused)
	}
	return c
}

// tryPerf runs perf record with these options for a moment. It returns what perf says if it fails.
func tryPerf(ctx context.Context, file string, options []string) (refused string, err error) {
	c := exec.CommandContext(ctx, Perf, slices.Concat([]string{"record", "-o", file, "--synth=no", "-B"}, options, []string{"--", "true"})...)
	out, err := c.CombinedOutput()
	var status *exec.ExitError
	if err == nil || !errors.As(err, &status) {
		return "", err
	}
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), `\___ `))
		if line != "" && line != "Error:" && !strings.HasPrefix(line, "event syntax error") {
			return strings.TrimSuffix(line, "."), nil
		}
	}
	return status.Error(), nil
}

// paranoid returns the setting of the kernel that says who may record what.
func paranoid() string {
	level, _ := os.ReadFile("/proc/sys/kernel/perf_event_paranoid") // a kernel without perf has none
	return strings.TrimSpace(string(level))
}

// permission returns what perf said, if anything, and how to permit more, in brackets.
func (o *Options) permission(refused string) string {
	var parts []string
	if refused != "" {
		parts = append(parts, "perf says: "+refused)
	}
	if os.Geteuid() != 0 {
		advice := "run this as root, or have root run `sysctl kernel.perf_event_paranoid=-1`"
		if o.Waits {
			advice += fmt.Sprintf(" and `mount -o remount,mode=750,gid=%d /sys/kernel/tracing`", os.Getgid())
		}
		parts = append(parts, "kernel.perf_event_paranoid is "+paranoid(), advice)
	}
	return " (" + strings.Join(parts, "; ") + ")"
}

// chooseGprofng returns the command of gprofng.
func chooseGprofng(o *Options) (*Command, error) {
	switch _, err := exec.LookPath(Gprofng); {
	case err != nil:
		return nil, errors.New("gprofng is not installed (it is part of the package binutils, or called gprofng)")
	case o.System || o.PID != "":
		return nil, errors.New("gprofng records only programs that it starts")
	}
	program, err := exec.LookPath(o.Program[0])
	if err != nil {
		return nil, err
	}
	if program, err = filepath.Abs(program); err != nil { // gprofng does not search for it
		return nil, err
	}
	c := &Command{Output: o.output("er"), Waits: o.Waits}
	interval := strconv.FormatFloat(1000/float64(o.Frequency), 'f', 3, 64)
	c.Args = []string{Gprofng, "collect", "app", "-o", c.Output, "-p", interval}
	if o.Waits {
		c.Args = append(c.Args, "-s", "on") // not -i: it slows programs down, and I/O is no wait
	}
	c.Args = append(append(c.Args, program), o.Program[1:]...)
	return c, nil
}

var unusual = lazyregexp.New(`[^\w.+-]+`)

// output returns the path of the recording: the given one, or a new one named after the program.
func (o *Options) output(suffix string) string {
	if o.Output != "" {
		return o.Output
	}
	name := "system"
	switch {
	case o.PID != "":
		name = "pid-" + unusual().ReplaceAllString(o.PID, "-")
	case !o.System:
		name = unusual().ReplaceAllString(filepath.Base(o.Program[0]), "_")
	}
	for n := 1; ; n++ {
		path := fmt.Sprintf("%s.%d.%s", name, n, suffix)
		if _, err := os.Lstat(path); err != nil {
			return path
		}
	}
}
