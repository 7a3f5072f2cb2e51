package perf

import (
	"bufio"
	"database/sql"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// maxPrinted is how many frames perf shows of a stack.
const maxPrinted = 127

var scriptAddress = regexp.MustCompile(`^\t\s*([0-9a-f]+) .*\(([^()]*)\)$`)

// offsets reads the offsets that `perf script` prints for each sample's stack,
// without those of inlined functions.
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

// frame is a word of a recorded stack with what it means.
type frame struct {
	offset     uint64
	trampoline bool
}

// unwound reads each sample's stack as it was unwound, and why it is cut.
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
	}, `WITH one AS MATERIALIZED (SELECT s.experiment_id, s.sample, s.raw_stack_id FROM samples s JOIN experiments e USING (experiment_id) WHERE e.experiment = ?),
		frames AS MATERIALIZED (SELECT one.experiment_id, one.sample, f.raw_stack_id, f.position, f.location_id FROM one
			JOIN raw_frames f ON f.experiment_id = one.experiment_id AND f.raw_stack_id = one.raw_stack_id WHERE f.location_id IS NOT NULL),
		located AS MATERIALIZED (SELECT frames.*, l."offset", l.function_id FROM frames
			JOIN locations l ON l.experiment_id = frames.experiment_id AND l.location_id = frames.location_id)
		SELECT located.sample, r.reason, located."offset", coalesce(fn.name, '') FROM located
			JOIN raw_stacks r ON r.experiment_id = located.experiment_id AND r.raw_stack_id = located.raw_stack_id
			JOIN functions fn ON fn.experiment_id = located.experiment_id AND fn.function_id = located.function_id
		ORDER BY located.sample, located.position`, name+".data")
	return list, reasons
}

// lookedUp are the offsets by which frames are looked up: perf's are one less
// than the return address, also for a trampoline, but not for what that
// interrupted (perf-data 15.5).
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

// Stacks unwound from dumps are those that perf unwinds, frame by frame. They
// are whole unless the dump ends, or perf shows no more.
func TestStackDumps(t *testing.T) {
	for _, name := range []string{"p_recur_dwarf", "p_cxx_dwarf", "p_signals_dwarf", "p_deep_dwarf"} {
		t.Run(name, func(t *testing.T) {
			want := offsets(t, name)
			got, reasons := unwound(t, name)
			if len(got) != len(want) || len(got) == 0 {
				t.Fatalf("%d samples, perf has %d", len(got), len(want))
			}
			for i := range want {
				stack := lookedUp(got[i])
				if len(want[i]) == maxPrinted && len(stack) > maxPrinted {
					stack = stack[:maxPrinted]
				}
				if !slices.Equal(stack, want[i]) {
					t.Errorf("sample %d, %q:\n%#x, perf has\n%#x", i, reasons[i], stack, want[i])
				}
			}
		})
	}
}
