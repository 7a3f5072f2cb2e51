package acceptance

import (
	"strings"
	"testing"
)

// The modes differ where a rule says so and nowhere else, and in each of them
// every sum holds. Only OpenMP programs were recorded in which they differ (S11,
// S17); Java's modes are in package synthetic (S14), and recordings of this kind
// have no kernel frames (S25).
func TestModesDiffer(t *testing.T) {
	for _, c := range cases(t) {
		t.Run(c, func(t *testing.T) {
			const stacks = "SELECT count(*) FROM raw_stacks JOIN experiments USING (experiment_id) WHERE experiment = ? AND "
			differ := number(t, shared.DB, stacks+"user_stack_id <> expert_stack_id", experiment(c)) > 0
			if openMP := strings.HasPrefix(c, "omp_"); differ != openMP {
				t.Errorf("user and expert mode differ: %t, want %t", differ, openMP)
			}
			if n := number(t, shared.DB, stacks+"expert_stack_id <> machine_stack_id", experiment(c)); n > 0 {
				t.Errorf("%d stacks differ in expert and machine mode", n)
			}
			for _, mode := range strings.Fields(everyMode) {
				totals := number(t, shared.DB, "SELECT count(*) FROM function_metrics WHERE experiment = ? AND mode = ? AND function = ? AND inclusive > 0",
					experiment(c), mode, totalFunction)
				if totals == 0 {
					t.Errorf("%s mode has no %s", mode, totalFunction)
				}
			}
		})
	}
	query(t, shared.DB, func(r row) error {
		var experiment, mode, metric, what string
		var expected, found int64
		err := r.Scan(&experiment, &mode, &metric, &what, &expected, &found)
		t.Errorf("%s, %s mode: %s of %s: %d, want %d", experiment, mode, metric, what, found, expected)
		return err
	}, "SELECT experiment, mode, metric, what, expected, found FROM conservation")
}
