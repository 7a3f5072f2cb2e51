package acceptance

import (
	"strings"
	"testing"
)

// The modes differ only where a rule says so, and sums are right in each. Among the recordings,
// they differ only for OpenMP programs (S11, S17); package synthetic tests Java's modes (S14), and
// these recordings have no kernel frames (S25).
func TestModesDiffer(t *testing.T) {
	type differences struct{ user, machine int }
	stacks := map[string]differences{}
	query(t, shared.DB, func(r row) error {
		var name string
		var d differences
		err := r.Scan(&name, &d.user, &d.machine)
		stacks[name] = d
		return err
	}, `SELECT experiment, count(*) FILTER (user_stack_id <> expert_stack_id), count(*) FILTER (expert_stack_id <> machine_stack_id)
		FROM raw_stacks JOIN experiments USING (experiment_id) GROUP BY ALL`)
	totals := map[string]bool{}
	query(t, shared.DB, func(r row) error {
		var name, mode string
		err := r.Scan(&name, &mode)
		totals[name+" "+mode] = true
		return err
	}, "SELECT DISTINCT experiment, mode FROM function_metrics WHERE function = ? AND inclusive > 0", totalFunction)
	for _, c := range cases(t) {
		d, known := stacks[experiment(c)]
		if differ, openMP := d.user > 0, strings.HasPrefix(c, "omp_"); differ != openMP || !known {
			t.Errorf("%s: user and expert mode differ: %t, want %t", c, differ, openMP)
		}
		if d.machine > 0 {
			t.Errorf("%s: %d stacks differ in expert and machine mode", c, d.machine)
		}
		for _, mode := range strings.Fields(everyMode) {
			if !totals[experiment(c)+" "+mode] {
				t.Errorf("%s: %s mode has no %s", c, mode, totalFunction)
			}
		}
	}
	query(t, shared.DB, func(r row) error {
		var experiment, mode, metric, what string
		var expected, found int64
		err := r.Scan(&experiment, &mode, &metric, &what, &expected, &found)
		t.Errorf("%s, %s mode: %s of %s: %d, want %d", experiment, mode, metric, what, found, expected)
		return err
	}, "SELECT experiment, mode, metric, what, expected, found FROM conservation")
}
