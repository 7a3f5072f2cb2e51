package wall

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/cmd/acceptance/suite"
	"stackmill/internal/corpus"
	"stackmill/queries"
)

// golden returns the text of a file of testdata/wall/golden.
func golden(t *testing.T, name string) string {
	t.Helper()
	root, err := corpus.Root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "testdata", "wall", "golden", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// answer returns the rows of a query, each as a text with blanks between columns, in order.
func answer(t *testing.T, query string) (rows []string) {
	t.Helper()
	suite.Query(t, db.DB, func(r *sql.Rows) error {
		var row string
		err := r.Scan(&row)
		rows = append(rows, row)
		return err
	}, "SELECT concat_ws(' ', *COLUMNS(*)) FROM ("+query+")")
	slices.Sort(rows)
	return rows
}

// equal compares the lines that a pattern finds in a golden, with its groups joined by blanks, with
// the rows of a query.
func equal(t *testing.T, file, pattern, query string) {
	t.Helper()
	var want []string
	for _, m := range regexp.MustCompile(`(?m)^`+pattern+`$`).FindAllStringSubmatch(golden(t, file), -1) {
		want = append(want, strings.Join(m[1:], " "))
	}
	slices.Sort(want)
	if len(want) == 0 {
		t.Errorf("%s: no line is like %s", file, pattern)
	}
	if diff := cmp.Diff(want, answer(t, query)); diff != "" {
		t.Errorf("%s: (-want +got)\n%s", file, diff)
	}
}

// System calls are those of perf trace -s, but for execve, whose entry was before the recording (perf
// says 0 ms), and exit_group, which does not return (perf does not list it).
func TestSystemCalls(t *testing.T) {
	equal(t, "calls_raw.trace-summary.txt", ` +(\w+) +(\d+) +(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) .*%`, `
		SELECT name, calls, errors, printf('%.3f %.3f %.3f %.3f', COALESCE(total_ns, 0) / 1e6, COALESCE(shortest_ns, 0) / 1e6, COALESCE(total_ns / timed, 0) / 1e6, COALESCE(longest_ns, 0) / 1e6)
		FROM syscall_threads WHERE experiment = 'calls_raw.data' AND name <> 'exit_group'`)
	equal(t, "calls_typed.calls.tsv", `([a-z]+)\t(\d+)\t(\d+)\t(\d+)\t(\d+)`,
		"SELECT name, calls, errors, total_ns, longest_ns FROM syscall_threads WHERE experiment = 'calls_typed.data'")
	for _, recording := range []string{"calls_raw", "calls_typed"} {
		want := []string{"bad read EBADF 20", "missing openat ENOENT 60"}
		if recording == "calls_raw" {
			want = append(want, "twice close EBADF 10")
		}
		got := answer(t, "SELECT function, name, error_name, calls FROM syscall_errors WHERE mode = 'user' AND load_object = 'calls' AND experiment = '"+recording+".data'")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", recording, diff)
		}
	}
	got := answer(t, `SELECT DISTINCT experiment, arg0, arg1 IS NULL, arg2, arg3 FROM syscalls s JOIN leaf_functions l USING (experiment_id, stack) JOIN functions f USING (experiment_id, function_id)
		WHERE s.name = 'openat' AND f.name = 'missing' AND mode = 'user'`)
	want := []string{"calls_raw.data -100 false 0 0", "calls_typed.data -100 false 0 0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("arguments: (-want +got)\n%s", diff)
	}
}

// The waits for locks of the kernel are those of perf lock contention, by thread; by function, perf 6.1
// skips four frames, whatever they are.
func TestLocks(t *testing.T) {
	// as writes a time as perf does.
	as := func(ns string) string {
		return fmt.Sprintf("IF(%[1]s >= 1000000, printf('%%.2f ms', %[1]s / 1e6), printf('%%.2f us', %[1]s / 1e3))", ns)
	}
	equal(t, "maps_lock.lock-threads.txt", ` +(\d+) +([\d.]+ .s) +([\d.]+ .s) +([\d.]+ .s) +(\d+) .*`,
		"SELECT waits, "+as("wait_ns")+", "+as("longest_ns")+", "+as("mean_ns")+", thread_id FROM lock_threads WHERE experiment = 'maps_lock.data'")
	equal(t, "maps_lock.lock-contention.txt", ` +(\d+) +([\d.]+ .s) .* (rwsem:.|spinlock) .*`,
		"SELECT waits, "+as("wait_ns")+", type FROM lock_callers WHERE mode = 'machine' AND experiment = 'maps_lock.data'")
	got := answer(t, "SELECT mode, type, function FROM lock_callers WHERE mode <> 'expert' AND experiment = 'maps_lock.data' AND load_object <> 'libc.so.6'")
	want := []string{"machine rwsem:R lock_mm_and_find_vma", "machine rwsem:W __vm_munmap", "machine rwsem:W vm_mmap_pgoff", "machine spinlock sched_tick", "user rwsem:R churn", "user spinlock churn"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("functions: (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"3 2 rwsem:W 0xffff88813e2899b8"}, answer(t, "SELECT waits, threads, type, printf('0x%x', lock) FROM locks WHERE waits > 1")); diff != "" {
		t.Errorf("locks: (-want +got)\n%s", diff)
	}
}

// The kernel's allocations are those of perf kmem stat --caller, and what was freed is what it says.
func TestKernelMemory(t *testing.T) {
	equal(t, "pipes_kmem.kmem-caller.txt", ` ([\w.]+\+[0-9a-f]+) +\| +(\d+)/\d+ +\| +(\d+)/\d+ +\| +(\d+) \| +(\d+) \| +([\d.]+)%`, `
		SELECT printf('%s+%x', regexp_replace(caller, ' .clone (.*)\]', '\1'), caller_offset), sum(allocated_bytes), sum(requested_bytes), sum(allocations), sum(moved),
			printf('%.3f', 100 * sum(wasted_bytes) / sum(allocated_bytes))
		FROM kernel_memory WHERE mode = 'user' AND experiment = 'pipes_kmem.data' GROUP BY caller, caller_offset`)
	equal(t, "pipes_kmem.kmem-caller.txt", `Total bytes freed: +(\d+)`, "SELECT sum(allocated_bytes - unfreed_bytes) FROM kernel_memory WHERE mode = 'machine' AND experiment = 'pipes_kmem.data'")
}

// Requests and interrupts are those that another program pairs in the text of perf script.
func TestBlockRequests(t *testing.T) {
	equal(t, "disk_all.block.tsv", `(\d+:\d+)\t(\w+)\t(\d+)\t(\d+)\t(\d+)\t(\d+)\t(\d+)`,
		"SELECT device, operation, requests, bytes, timed, total_ns, longest_ns FROM block_io WHERE mode = 'user' AND experiment = 'disk_all.data'")
	got := answer(t, "SELECT operation, function, requests, bytes, timed FROM block_io WHERE mode = 'user' AND experiment = 'disk_both.data'")
	want := []string{"read fetch 48 3145728 0", "write flush 13 544768 0"} // completions were not recorded
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("disk_both: (-want +got)\n%s", diff)
	}
}

// A filter selects requests by the samples of their issues, and keeps their durations, although others
// were on the CPU when the requests were completed.
func TestFilteredRequests(t *testing.T) {
	const sums = "SELECT operation, count(*), sum(bytes), count(duration_ns), sum(duration_ns) FROM block_requests r "
	want := answer(t, sums+"JOIN samples s USING (experiment_id, sample) WHERE experiment = 'disk_all.data' AND s.cpu = 1 AND r.t0_ns IS NOT NULL GROUP BY ALL")
	filtered, err := db.Filter(t.Context(), queries.Filter{Where: []string{"cpu = 1"}}, "block_requests")
	if err != nil {
		t.Fatal(err)
	}
	defer filtered.Close()
	all := db
	defer func() { db = all }()
	db = filtered
	if diff := cmp.Diff(want, answer(t, sums+"WHERE experiment = 'disk_all.data' AND t0_ns IS NOT NULL GROUP BY ALL")); diff != "" || len(want) == 0 {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestInterrupts(t *testing.T) {
	equal(t, "irq_all.interrupts.tsv", `(\w+)\t(\d+)\t(\S+)\t(\d+)\t(\d+)\t(\d+)`,
		"SELECT kind, number, name, runs, total_ns, longest_ns FROM interrupt_handlers WHERE experiment = 'irq_all.data'")
}

// Across a period in which records were lost, no entry is paired with an exit; before and after it, all are.
func TestLostCalls(t *testing.T) {
	got := answer(t, `SELECT name, s.t0_ns IS NULL, s.duration_ns IS NULL, count(*) FROM syscalls s JOIN recording_gaps g USING (experiment_id)
		WHERE s.experiment = 'lost_small.data' AND (s.duration_ns IS NULL OR s.t0_ns < g.t1_ns AND s.t0_ns + s.duration_ns > g.t0_ns) GROUP BY ALL`)
	want := []string{"execve true true 1", "exit_group false true 1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Events may be missing where records were lost, and in a recording of one CPU of two.
func TestGaps(t *testing.T) {
	want := []string{"lost_small.data 0 559190 1540966 lost", "onecpu.data 0 112306888 cpus"}
	if diff := cmp.Diff(want, answer(t, "SELECT experiment, g.cpu, g.t0_ns, g.t1_ns, g.reason FROM recording_gaps g JOIN experiments USING (experiment_id)")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
