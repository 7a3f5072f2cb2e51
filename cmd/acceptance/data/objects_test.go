package data

import (
	"database/sql"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackmill/internal/testfiles"
)

// access is a sample in the code of the recorded program, with its data object.
type access struct {
	sample                                       int64
	address                                      uint64
	offset                                       int64 // of the recorded PC, in the load object
	function, descriptor, kind, scopeKind, scope string
	method, agreement                            string
	unaddressed                                  bool // the recording lacks the address
}

// recordings returns the names of the recordings in a folder.
func recordings(t *testing.T, in string) (names []string) {
	t.Helper()
	for _, f := range testfiles.Glob(t, filepath.Join(folder, in, "*.data")) {
		names = append(names, strings.TrimSuffix(filepath.Base(f), ".data"))
	}
	return names
}

// accesses returns a recording's samples with a PC in the program.
func accesses(t *testing.T, recording, program string) (list []access) {
	t.Helper()
	query(t, func(r *sql.Rows) error {
		var a access
		var address int64
		err := r.Scan(&a.sample, &address, &a.offset, &a.function, &a.descriptor, &a.kind, &a.scopeKind, &a.scope, &a.method, &a.agreement)
		a.address = uint64(address)
		list = append(list, a)
		return err
	}, `WITH one AS MATERIALIZED (SELECT s.experiment_id, s.sample, s.raw_stack_id FROM samples_wide s JOIN experiments e USING (experiment_id) WHERE e.experiment = ?),
		stacked AS MATERIALIZED (SELECT one.experiment_id, one.sample, r.machine_stack_id AS stack_id FROM one JOIN raw_stacks r USING (experiment_id, raw_stack_id)),
		leaves AS MATERIALIZED (SELECT k.experiment_id, k.sample, s.leaf_location_id AS location_id FROM stacked k JOIN stacks s USING (experiment_id, stack_id)),
		located AS MATERIALIZED (SELECT v.experiment_id, v.sample, l.function_id, l.load_object_id, l."offset" FROM leaves v JOIN locations_wide l USING (experiment_id, location_id)),
		own AS MATERIALIZED (SELECT l.* FROM located l JOIN load_objects o USING (experiment_id, load_object_id) WHERE o.name = ?),
		named AS MATERIALIZED (SELECT own.*, f.name AS "function" FROM own JOIN functions f USING (experiment_id, function_id)),
		sampled AS MATERIALIZED (SELECT n.*, coalesce(p.data_address, 0) AS data_address FROM named n JOIN perf_samples p USING (experiment_id, sample)),
		data AS MATERIALIZED (SELECT p.*, d.data_object_id, d.method, d.agreement FROM sampled p JOIN data_samples d USING (experiment_id, sample))
		SELECT d.sample, d.data_address, d."offset", d."function", o.descriptor, o.kind, o.scope_kind, o.scope, d.method, d.agreement
		FROM data d JOIN data_objects o USING (experiment_id, data_object_id) ORDER BY d.sample`, recording, program)
	return list
}

// tally counts verdicts: on each sample, and the worst one on each distinct instruction.
type tally struct {
	samples, instructions [verdicts]int
	methods               map[string]*[verdicts]int
}

func (s *tally) add(o *tally) {
	for v := range verdicts {
		s.samples[v] += o.samples[v]
		s.instructions[v] += o.instructions[v]
	}
	for m, o := range o.methods {
		n := s.method(m)
		for v := range verdicts {
			n[v] += o[v]
		}
	}
}

func (s *tally) method(m string) *[verdicts]int {
	if s.methods == nil {
		s.methods = map[string]*[verdicts]int{}
	}
	if s.methods[m] == nil {
		s.methods[m] = new([verdicts]int)
	}
	return s.methods[m]
}

// rate returns the share of verdicts that are right.
func rate(n [verdicts]int) float64 {
	all := 0
	for _, n := range n {
		all += n
	}
	return float64(n[right]) / float64(max(all, 1))
}

func (s *tally) String() string {
	line := func(n [verdicts]int) string {
		var parts []string
		for v := range verdicts {
			parts = append(parts, fmt.Sprintf("%d %s", n[v], v))
		}
		return fmt.Sprintf("%5.1f %% (%s)", 100*rate(n), strings.Join(parts, ", "))
	}
	out := fmt.Sprintf("samples %s; instructions %s", line(s.samples), line(s.instructions))
	for _, m := range slices.Sorted(maps.Keys(s.methods)) {
		name := m
		if m == "" {
			name = "none"
		}
		out += fmt.Sprintf("\n\t%-12s %s", name, line(*s.methods[m]))
	}
	return out
}

// compare checks a recording's accesses to objects whose addresses its program printed. Samples
// without an address get the address of the same sample in another recording.
func compare(t *testing.T, recording, program string, addresses []access) *tally {
	t.Helper()
	known := map[int64]uint64{}
	for _, a := range addresses {
		known[a.sample] = a.address
	}
	rows := readTruth(t, program)
	result := &tally{}
	worst := map[int64]verdict{}
	mistakes := map[string]int{}
	for _, a := range accesses(t, recording, program) {
		if a.address == 0 {
			a.address, a.unaddressed = known[a.sample], true
		}
		r := find(rows, &a)
		if r == nil {
			continue
		}
		v := judge(rows, r, &a)
		result.samples[v]++
		result.method(a.method)[v]++
		worst[a.offset] = max(worst[a.offset], v)
		if v != right {
			var want []string
			for _, e := range r.expected {
				want = append(want, e.pattern)
			}
			mistakes[fmt.Sprintf("%s at %s %#x: %s %s %s (%s, %s), want %s %s", v, a.function, a.offset, a.descriptor, a.scopeKind, a.scope, a.method, a.agreement,
				strings.Join(want, " | "), r.scope)]++
		}
	}
	for _, v := range worst {
		result.instructions[v]++
	}
	for _, m := range slices.Sorted(maps.Keys(mistakes)) {
		t.Logf("%d %s", mistakes[m], m)
	}
	return result
}

// Nearly all accesses to objects that the programs printed are attributed to that object, and no
// attribution is wrong.
func TestObjects(t *testing.T) {
	sums := map[string]*tally{} // by compiler and optimization
	for _, name := range recordings(t, "data") {
		_, built, _ := strings.Cut(name, "_")
		t.Run(name, func(t *testing.T) {
			got := compare(t, name+".data", name, nil)
			t.Log(got)
			if got.samples == [verdicts]int{} {
				t.Error("no access to what the program told of")
			}
			if got.samples[wrong] > 0 {
				t.Errorf("%d wrong", got.samples[wrong])
			}
			if sums[built] == nil {
				sums[built] = &tally{}
			}
			sums[built].add(got)
		})
	}
	for _, built := range slices.Sorted(maps.Keys(sums)) {
		t.Log(built, sums[built])
		if r := rate(sums[built].samples); r < 0.95 {
			t.Errorf("%s: %.1f %% of the accesses have the right object", built, 100*r)
		}
	}
}

// Cache lines and pages that are defined by expressions have the values of memory_objects.
func TestMemoryOfOnesOwn(t *testing.T) {
	for object, kind := range map[string]string{"process || ' ' || (address & -line_size)": "cache line", "process || ' ' || (address & -page_size)": "page"} {
		var differ, found int64
		query(t, func(r *sql.Rows) error { return r.Scan(&differ, &found) }, `
			SELECT count(*) FILTER (o.value IS DISTINCT FROM m.value OR o.threads <> m.threads), count(o.value)
			FROM memory_metrics(`+object+`) o
			FULL JOIN (SELECT *, process || ' ' || address AS object FROM memory_objects WHERE kind = $1) m USING (experiment_id, mode, metric, object)`, kind)
		if differ > 0 || found == 0 {
			t.Errorf("%s: %d of %d differ", kind, differ, found)
		}
	}
}
