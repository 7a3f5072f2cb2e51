package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackmill/internal/exit"
	"stackmill/internal/terminal"
)

// fakePerf puts a perf into the PATH that refuses options, as a shell pattern for `case`.
func fakePerf(t *testing.T, refused string) {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\ncase \"$*\" in " + refused + ") printf 'Error:\\nNo permission to do this.\\n' >&2; exit 255;; esac\n"
	if err := os.WriteFile(filepath.Join(dir, Perf), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	t.Chdir(t.TempDir())
}

// The first way of perf that works is taken, and what it lacks is told.
func TestChoose(t *testing.T) {
	for _, tt := range []struct{ name, refused, args, lacks string }{
		{"all", "nothing", "perf record -o sh.1.data -k CLOCK_MONOTONIC -e cpu-clock/freq=99,name=cpu-clock/ -e sched:sched_switch -e sched:sched_waking --switch-events --call-graph fp --sample-cpu -N -m 4M -- sh -c 'a b'", ""},
		{"little memory", "*-m*", "perf record -o sh.1.data -k CLOCK_MONOTONIC -e cpu-clock/freq=99,name=cpu-clock/ -e sched:sched_switch -e sched:sched_waking --switch-events --call-graph fp --sample-cpu -N -- sh -c 'a b'", ""},
		{"no tracepoints", "*sched:*", "perf record -o sh.1.data -k CLOCK_MONOTONIC -e cpu-clock/freq=99,name=cpu-clock/ --switch-events --call-graph fp --sample-cpu -N -m 4M -- sh -c 'a b'",
			"where threads waited, and who woke them"},
		{"no switches", "*sched:*|*--switch-events*", "perf record -o sh.1.data -k CLOCK_MONOTONIC -e cpu-clock/freq=99,name=cpu-clock/ --call-graph fp --sample-cpu -N -m 4M -- sh -c 'a b'", "waits"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fakePerf(t, tt.refused)
			c, err := Choose(t.Context(), &Options{CallGraph: "fp", Frequency: 99, Waits: true, Program: []string{"sh", "-c", "a b"}})
			if err != nil {
				t.Fatal(err)
			}
			lacks, _, _ := strings.Cut(c.Lacks, " (perf says: No permission to do this")
			if os.Geteuid() != 0 {
				lacks, _, _ = strings.Cut(lacks, "; what happened in the kernel")
			}
			if c.String() != tt.args || lacks != tt.lacks || c.Waits != (tt.name != "no switches") {
				t.Errorf("%s, lacks %q", c, c.Lacks)
			}
		})
	}
}

// A recording gets a name that no other has, after what is recorded.
func TestOutput(t *testing.T) {
	fakePerf(t, "nothing")
	if err := os.WriteFile("true.1.data", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]*Options{
		"true.2.data":      {Program: []string{"/usr/bin/true"}},
		"system.1.data":    {System: true, Program: []string{"true"}},
		"pid-12-34.1.data": {PID: "12,34"},
		"mine":             {Output: "mine", Program: []string{"true"}},
	} {
		c, err := Choose(t.Context(), o)
		if err != nil || c.Output != want || c.Args[3] != want {
			t.Errorf("%v: %v %v", o, c, err)
		}
	}
}

// Without perf and gprofng, and for programs that do not exist, the error says what is missing.
func TestChooseErrors(t *testing.T) {
	fakePerf(t, "*")
	sh := []string{"/bin/sh"}
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{With: Perf, Program: sh}, "perf cannot record this (perf says: No permission to do this"},
		{Options{With: Gprofng, PID: "1"}, "gprofng"},
		{Options{System: true}, "perf cannot record this"},
	} {
		if _, err := Choose(t.Context(), &tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt.o, err)
		}
	}
	_, err := Choose(t.Context(), &Options{Program: []string{"nosuch-program"}})
	if exit.Status(err) != notFound || terminal.Wording(err) != "nosuch-program: no such program in $PATH" {
		t.Error(err)
	}
	t.Setenv("PATH", "")
	if _, err := Choose(t.Context(), &Options{Program: sh}); err == nil || !strings.Contains(err.Error(), "perf is not installed") || !strings.Contains(err.Error(), "gprofng is not installed") {
		t.Error(err)
	}
}
