package acceptance

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Inlined functions are as in the sources: in_inner into in_outer into host, both into host2, the
// allocator into the vector (S10).
func TestInlineChains(t *testing.T) {
	const value = `SELECT coalesce(sum(exclusive), 0) FROM inline_function_metrics
		WHERE experiment = 'clones.er' AND mode = 'user' AND metric = 'totalcpu' AND function = ?`
	const whole = `SELECT coalesce(sum(exclusive), 0) FROM function_metrics
		WHERE experiment = 'clones.er' AND mode = 'user' AND metric = 'totalcpu' AND function = ?`
	inner, outer, host := number(t, shared.DB, value, "in_inner"), number(t, shared.DB, value, "in_outer"), number(t, shared.DB, value, "host")
	if all := number(t, shared.DB, whole, "host"); inner == 0 || outer == 0 || inner+outer+host != all {
		t.Errorf("in_inner %d, in_outer %d and host %d are not host's %d", inner, outer, host, all)
	}
	both, host2 := number(t, shared.DB, value, "both"), number(t, shared.DB, value, "host2")
	copied, kept := number(t, shared.DB, whole, "host2"), number(t, shared.DB, whole, "both")
	if copied == 0 || kept == 0 || both+host2 != copied+kept || both <= kept {
		t.Errorf("both %d and host2 %d with inlined code, %d and %d without", both, host2, kept, copied)
	}
	if n := number(t, shared.DB, `SELECT count(*) FROM inline_frames_wide i JOIN locations_wide l USING (experiment_id, location_id)
		JOIN functions f ON f.experiment_id = l.experiment_id AND f.function_id = l.function_id
		JOIN experiments e ON e.experiment_id = l.experiment_id
		WHERE e.experiment = 'cxx.er' AND i.depth = 2 AND f.name LIKE '%_M_realloc_insert%'
			AND i.function = 'std::__new_allocator<int>::allocate(unsigned long, void const*)' AND i.file LIKE '%/new_allocator.h'`); n == 0 {
		t.Error("the vector's allocator is not two levels below the allocation")
	}
}

// With inlined functions as separate frames, host's time passes through both functions inlined
// there, and the callers of a split function call the half that was inlined into them.
func TestInlinePaths(t *testing.T) {
	var got []string
	query(t, shared.DB, func(r row) error {
		var path string
		err := r.Scan(&path)
		got = append(got, path)
		return err
	}, `WITH RECURSIVE nodes AS MATERIALIZED (
			SELECT * FROM inline_call_tree WHERE experiment = 'clones.er' AND mode = 'user' AND metric = 'totalcpu'
		), paths AS (
			SELECT node_id, "function" AS path FROM nodes WHERE "function" = 'main'
			UNION ALL
			SELECT n.node_id, p.path || ' ' || n."function" FROM nodes n JOIN paths p ON n.parent_id = p.node_id
		)
		SELECT path FROM paths WHERE path SIMILAR TO 'main (host|use_part).*' ORDER BY path`)
	want := []string{
		"main host", "main host in_outer", "main host in_outer in_inner", "main host2", "main host2 both",
		"main use_part1", "main use_part1 partial", "main use_part1 partial partial [clone .part.0]",
		"main use_part2", "main use_part2 partial", "main use_part2 partial partial [clone .part.0]",
		"main use_part3", "main use_part3 partial", "main use_part3 partial partial [clone .part.0]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths (-want +got)\n%s", diff)
	}
}
