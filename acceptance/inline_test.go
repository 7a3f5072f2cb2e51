package acceptance

import "testing"

// The recordings' sources say what was inlined: in_inner into in_outer into
// host, both into host2, the allocator into the vector (S10).
func TestInlineChains(t *testing.T) {
	const value = `SELECT coalesce(sum(exclusive), 0) FROM inline_metrics
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
	if n := number(t, shared.DB, `SELECT count(*) FROM inline_frames i JOIN locations l USING (experiment_id, location_id)
		JOIN functions f ON f.experiment_id = l.experiment_id AND f.function_id = l.function_id
		JOIN experiments e ON e.experiment_id = l.experiment_id
		WHERE e.experiment = 'cxx.er' AND i.depth = 2 AND f.name LIKE '%_M_realloc_insert%'
			AND i.function = 'std::__new_allocator<int>::allocate(unsigned long, void const*)' AND i.file LIKE '%/new_allocator.h'`); n == 0 {
		t.Error("the vector's allocator is not two levels below the allocation")
	}
}
