package perf

import (
	"bufio"
	"database/sql"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// maxPrinted is how many frames of a stack perf prints at most.
const maxPrinted = 127

var scriptAddress = regexp.MustCompile(`^\t\s*([0-9a-f]+) .*\(([^()]*)\)$`)

// offsets reads the offsets that `perf script` prints for each sample's stack,
// without inlined functions.
func offsets(t *testing.T, name string) (list [][]uint64) {
	t.Helper()
	inlined := false // the last line was of an inlined function
	for lines := bufio.NewScanner(open(t, name, "script.txt")); lines.Scan(); {
		m := scriptAddress.FindStringSubmatch(lines.Text())
		switch {
		case m != nil:
			at, err := strconv.ParseUint(m[1], 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			last := &list[len(list)-1]
			if n := len(*last); inlined && n > 0 && (*last)[n-1] == at {
				*last = (*last)[:n-1]
			}
			*last = append(*last, at)
			inlined = m[2] == "inlined"
		case strings.Contains(lines.Text(), ": "):
			list, inlined = append(list, nil), false
		}
	}
	return list
}

// frame is a word of a recorded stack, and its location.
type frame struct {
	offset     uint64
	trampoline bool
}

// unwound reads each sample's unwound stack, and why it is cut.
func unwound(t *testing.T, name string) (list [][]frame, reasons []string) {
	t.Helper()
	last := int64(-1)
	query(t, func(r *sql.Rows) error {
		var sample, offset int64
		var reason, function string
		if err := r.Scan(&sample, &reason, &offset, &function); err != nil {
			return err
		}
		if sample != last {
			list, reasons, last = append(list, nil), append(reasons, reason), sample
		}
		n := len(list) - 1
		list[n] = append(list[n], frame{uint64(offset), function == "__restore_rt"})
		return nil
	}, `WITH one AS MATERIALIZED (SELECT s.experiment_id, s.sample, s.raw_stack_id FROM samples_wide s JOIN experiments e USING (experiment_id) WHERE e.experiment = ?),
		frames AS MATERIALIZED (SELECT one.experiment_id, one.sample, f.raw_stack_id, f.position, f.location_id FROM one
			JOIN raw_frames f ON f.experiment_id = one.experiment_id AND f.raw_stack_id = one.raw_stack_id WHERE f.location_id IS NOT NULL),
		located AS MATERIALIZED (SELECT frames.*, l."offset", l.function_id FROM frames
			JOIN locations_wide l ON l.experiment_id = frames.experiment_id AND l.location_id = frames.location_id)
		SELECT located.sample, r.reason, located."offset", coalesce(fn.name, '') FROM located
			JOIN raw_stacks r ON r.experiment_id = located.experiment_id AND r.raw_stack_id = located.raw_stack_id
			JOIN functions fn ON fn.experiment_id = located.experiment_id AND fn.function_id = located.function_id
		ORDER BY located.sample, located.position`, name+".data")
	return list, reasons
}

// lookedUp returns the offsets by which perf looks up frames: one less than the return address,
// also for a trampoline, but not for the interrupted code (perf-data 15.5).
func lookedUp(stack []frame) []uint64 {
	var out []uint64
	for i, f := range stack {
		if i > 0 && !stack[i-1].trampoline {
			f.offset--
		}
		out = append(out, f.offset)
	}
	return out
}

// Reasons why stacks that perf 6.1 unwinds are worse. They are recognized from the stacks
// themselves.
const (
	// perf reads mappings from before an exec, and so finds no rules in a library that has moved
	// (perf-data 21).
	staleMappings = "mappings from before an exec"
	// perf takes the word after the dump for an address (perf-data 15.6).
	behindDump = "a word behind the dump"
)

// quirk returns why perf's stack differs from the store's; "" if it does not.
func quirk(got, want []uint64, reason string) string {
	n := len(want)
	switch {
	case slices.Equal(got, want) || n == maxPrinted && n < len(got) && slices.Equal(got[:n], want):
		return ""
	case n < len(got) && slices.Equal(got[:n], want) && reason == "":
		return staleMappings
	case n == len(got)+1 && slices.Equal(got, want[:n-1]) && want[n-1] == ^uint64(0) && reason != "":
		return behindDump
	}
	return "unknown"
}

// Stacks unwound from dumps equal perf's, frame by frame, except for perf's quirks, which occur as
// often as expected.
func TestStackDumps(t *testing.T) {
	for name, quirks := range map[string]map[string]int{
		"p_recur_dwarf": {}, "p_cxx_dwarf": {}, "p_signals_dwarf": {}, "p_deep_dwarf": {},
		"p_unwind_dwarf": {staleMappings: 84, behindDump: 44},
	} {
		t.Run(name, func(t *testing.T) {
			want := offsets(t, name)
			got, reasons := unwound(t, name)
			if len(got) != len(want) || len(got) == 0 {
				t.Fatalf("%d samples, perf has %d", len(got), len(want))
			}
			met := map[string]int{}
			for i := range want {
				stack := lookedUp(got[i])
				if q := quirk(stack, want[i], reasons[i]); q == "unknown" {
					t.Errorf("sample %d, %q:\n%#x, perf has\n%#x", i, reasons[i], stack, want[i])
				} else if q != "" {
					met[q]++
				}
			}
			if d := cmp.Diff(quirks, met); d != "" {
				t.Error(d)
			}
		})
	}
}

// Unwound callers are the source's: through variable frames, out of the library, in threads, below
// signals and after an exec (S18, S19, S24).
func TestUnwoundCallers(t *testing.T) {
	const variable = "variable < variable < variable < variable < variable < variable < variable < variable < variable < variable < variable < variable < variable"
	tests := map[string]struct {
		callers string // of the program's own functions, and the root
		whole   bool
	}{
		"exec_work":   {"exec_work < main < _start", true},
		"fork_work":   {"fork_work < main < _start", true},
		"variable":    {variable + " < main < _start", true},
		"compare":     {"compare < sorted < main < _start", true},
		"thread_work": {"thread_work < thread", true},
		"on_usr1":     {"on_usr1 < __restore_rt < self_signal < main < _start", true},
		"on_usr2":     {"on_usr2 < __restore_rt < <Truncated-stack>", false},
	}
	met := map[string]int{}
	query(t, func(r *sql.Rows) error {
		var reason, callers string
		var n int
		if err := r.Scan(&callers, &reason, &n); err != nil {
			return err
		}
		leaf, _, _ := strings.Cut(strings.TrimPrefix(callers, "work < "), " < ")
		want, ok := tests[leaf]
		if !ok {
			return nil
		}
		met[leaf] += n
		if got := strings.TrimPrefix(callers, "work < "); got != want.callers || want.whole != (reason == "") {
			t.Errorf("%d times %s, %q, want %s", n, got, reason, want.callers)
		}
		return nil
	}, `WITH own AS MATERIALIZED (SELECT s.sample, s.raw_stack_id, s.experiment_id FROM samples_wide s JOIN experiments e USING (experiment_id) WHERE e.experiment = 'p_unwind_dwarf.data'),
		raw AS MATERIALIZED (SELECT own.experiment_id, own.sample, r.reason, r.user_stack_id FROM own JOIN raw_stacks r ON r.experiment_id = own.experiment_id AND r.raw_stack_id = own.raw_stack_id),
		framed AS MATERIALIZED (SELECT raw.*, f.position, f.function_id FROM raw JOIN frames f ON f.experiment_id = raw.experiment_id AND f.stack_id = raw.user_stack_id),
		named AS MATERIALIZED (SELECT framed.sample, framed.reason, framed.position, fn.name, fn.load_object_id, fn.experiment_id FROM framed
			JOIN functions fn ON fn.experiment_id = framed.experiment_id AND fn.function_id = framed.function_id),
		stacks AS (SELECT sample, reason, string_agg(named.name, ' < ' ORDER BY position) AS callers FROM named
			JOIN load_objects o ON o.experiment_id = named.experiment_id AND o.load_object_id = named.load_object_id
			WHERE o.name = 'unwind' OR named.name IN ('__restore_rt', '<Truncated-stack>') GROUP BY ALL)
		SELECT callers, reason, count(*) FROM stacks GROUP BY ALL`)
	for leaf := range tests {
		if met[leaf] == 0 {
			t.Errorf("no sample in %s", leaf)
		}
	}
}
