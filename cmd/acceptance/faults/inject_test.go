package faults

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// strace returns the tracer, or skips the test without one that works.
func strace(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("there is no strace, which injects the faults (apt-get install strace)")
	}
	if out, err := exec.Command(path, "-f", "-qq", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("strace may not trace here: %v %s", err, out)
	}
	return path
}

// injections are the system calls that fail, and how they fail.
var injections = []struct {
	name, calls, fault string
	few                []int // in the short run: which of these calls fail, by number
}{
	{"write", "write,pwrite64,pwritev,writev", "error=ENOSPC", []int{2, 9}},
	{"fsync", "fsync,fdatasync", "error=EIO", []int{1, 4, 20, 50}},
	{"rename", "rename,renameat,renameat2", "error=EIO", []int{1, 3}},
	{"link", "link,linkat", "error=EIO", []int{1}},
	{"mkdir", "mkdir,mkdirat", "error=ENOSPC", []int{3, 6}},
	{"open", "openat", noFiles, []int{100, 160}},
	{"lock", "flock", "error=ENOLCK", []int{1}},
	{"unlink", "unlink,unlinkat", "error=EIO", []int{1}},
	{"killed at write", "write,pwrite64,pwritev,writev", killing, []int{6}},
	{"killed at fsync", "fsync,fdatasync", killing, []int{3, 40}},
	{"killed at rename", "rename,renameat,renameat2", killing, []int{2}},
	{"killed at link", "link,linkat", killing, []int{1}},
	{"killed at mkdir", "mkdir,mkdirat", killing, []int{5}},
	{"killed at unlink", "unlink,unlinkat", killing, []int{1}},
}

// killed is the exit status of the tracer if a signal killed the traced program: then the tracer
// ends by the same signal.
const killed = -1

// mostCalls is the highest n for which the n-th call of a kind is made to fail.
const mostCalls = 2000

// noFiles is the fault of a process that has too many open files.
const noFiles = "error=EMFILE"

// crashed reports whether the program ended with a dump of its stacks. Two are excused:
//   - the engine if it has no more files: it ends the process when it cannot read the
//     limits of its control group while it opens a database. All recordings are in the
//     store by then.
//   - Go's runtime if the write that fails is to the eventfd that wakes its poller,
//     which no disk can fail.
func crashed(out, fault string) bool {
	excused := fault == noFiles && strings.Contains(out, "duckdb_open_ext(") ||
		strings.Contains(out, "fatal error: runtime: netpollBreak write failed")
	return strings.Contains(out, "goroutine ") && !excused
}

// inject runs a command whose n-th calls fail, and reports whether any call failed.
func (b *bench) inject(tracer, calls, fault string, n int, program ...string) (done bool, code int, out string) {
	b.Helper()
	log := filepath.Join(b.TempDir(), "trace")
	command := []string{tracer, "-f", "-qq", "-o", log, "-e", "trace=" + calls, "-e", fmt.Sprintf("inject=%s:%s:when=%d", calls, fault, n)}
	if strings.HasPrefix(fault, "error") { // faster, but only the first call could get a signal
		command = slices.Insert(command, 1, "--seccomp-bpf")
	}
	code, out = b.run(append(command, program...)...)
	trace, err := os.ReadFile(log)
	if err != nil {
		b.Fatal(err)
	}
	return strings.Contains(string(trace), "(INJECTED)") || code == killed, code, out
}

// Whichever call fails, or kills the program, the store is consistent, and the next ingest
// completes it.
func TestEveryCallFails(t *testing.T) {
	tracer := strace(t)
	for _, x := range injections {
		t.Run(x.name, func(t *testing.T) {
			b := newBench(t)
			if *long {
				t.Parallel()
				for n := 1; n <= mostCalls && b.oneFault(tracer, x.calls, x.fault, n); n++ {
				}
				return
			}
			for _, n := range x.few {
				// Calls are counted per thread, and which thread makes a call differs from run to
				// run.
				for n > 0 && !b.oneFault(tracer, x.calls, x.fault, n) {
					n /= 2
				}
				if n == 0 {
					t.Error("no call failed")
				}
			}
		})
	}
}

// oneFault injects one fault in an ingest into a new store; in the long run, the cache is empty.
func (b *bench) oneFault(tracer, calls, fault string, n int) (done bool) {
	b.Helper()
	store := filepath.Join(b.TempDir(), "store")
	what := fmt.Sprintf("%s at call %d of %s", fault, n, calls)
	var more []string
	if *long {
		more = []string{"--cache", b.TempDir()}
	}
	done, code, out := b.inject(tracer, calls, fault, n, append([]string{b.binary}, b.ingest(store, more...)...)...)
	if !done {
		return false
	}
	injected.Add(1)
	if crashed(out, fault) {
		b.Errorf("%s: exit status %d\n%s", what, code, out)
	}
	if code == 0 { // status 0 means that all data is stored, but one recording has lost data
		b.Errorf("%s: exit status 0\n%s", what, out)
	}
	b.right(what, store)
	b.mended(what, store)
	return true
}

// The same holds while a batch is replaced: another version of the program, which makes other
// tables, reads the recording with lost data again.
func TestEveryCallFailsWhileReplacing(t *testing.T) {
	if !*long {
		t.Skip("only in the long run (STACKMILL_SOAK=1)")
	}
	tracer := strace(t)
	for _, x := range injections {
		t.Run(x.name, func(t *testing.T) {
			b := newBench(t)
			t.Parallel()
			for n := 1; n <= mostCalls; n++ {
				store := filepath.Join(t.TempDir(), "store")
				if code, out := b.run(append([]string{b.binary}, b.ingest(store)...)...); code != 3 {
					t.Fatalf("exit status %d\n%s", code, out)
				}
				// With other places for debug files, the recording is ingested again, with the same
				// content.
				done, _, out := b.inject(tracer, x.calls, x.fault, n, append([]string{b.binary}, b.ingest(store, "--no-system-debug", "--debug-dir", b.TempDir())...)...)
				if !done {
					break
				}
				injected.Add(1)
				what := fmt.Sprintf("%s at call %d of %s while replacing", x.fault, n, x.calls)
				if crashed(out, x.fault) {
					t.Errorf("%s:\n%s", what, out)
				}
				b.right(what, store)
				if len(content(t, store)) != len(b.want) {
					t.Errorf("%s: a batch is gone", what)
				}
				b.mended(what, store)
			}
		})
	}
}
