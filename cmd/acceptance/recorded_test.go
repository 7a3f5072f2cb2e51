package acceptance

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// leaves selects, for each sample of an experiment, its process's lineage, time,
// recorded leaf word, and the function that this is in user mode.
const leaves = `(SELECT p.lineage, s.thread_id, s.time_ns, w.word, f.name AS "function", f.linkage_name, k.stack_id
	FROM samples_wide s JOIN experiments e USING (experiment_id) JOIN processes p USING (experiment_id, process)
	JOIN raw_stacks r USING (experiment_id, raw_stack_id) JOIN raw_frames w USING (experiment_id, raw_stack_id)
	JOIN stacks k ON k.experiment_id = s.experiment_id AND k.stack_id = r.user_stack_id
	JOIN functions_wide f ON f.experiment_id = s.experiment_id AND f.function_id = k.leaf_function_id
	WHERE e.experiment = ? AND w.part = 'native' AND w.position = 0)`

// samePC checks that instructions were in the first function until some time, and then in the
// second.
func samePC(first, second string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		found := false
		query(t, shared.DB, func(r row) error {
			var word, last, from int64
			err := r.Scan(&word, &last, &from)
			if found = true; last >= from {
				t.Errorf("%#x is %s until %d ns and %s from %d ns", word, first, last, second, from)
			}
			return err
		}, `SELECT word, max(time_ns) FILTER ("function" = ?), min(time_ns) FILTER ("function" = ?) FROM `+leaves+`
			GROUP BY word HAVING count(DISTINCT "function") = 2 AND bool_or("function" = ?) AND bool_or("function" = ?)`,
			first, second, experiment(m.recording), first, second)
		if !found {
			t.Errorf("no instruction was %s first and %s later", first, second)
		}
	}
}

// mappedAt checks at how many addresses a load object's code was mapped.
func mappedAt(object string, addresses int64) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		n := number(t, shared.DB, `SELECT count(DISTINCT address) FROM segments JOIN load_objects o USING (experiment_id, load_object_id)
			JOIN experiments USING (experiment_id) WHERE experiment = ? AND o.name = ? AND permissions = 5`, experiment(m.recording), object)
		if n != addresses {
			t.Errorf("%s was mapped at %d addresses, want %d", object, n, addresses)
		}
	}
}

// processes checks the leaf in which each process spends its time; work repeats lineage, units of
// work and function.
func processes(work ...any) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		var parts []part
		for i := 0; i < len(work); i += 3 {
			lineage, function := work[i].(string), work[i+2].(string)
			n := number(t, shared.DB, "SELECT count(*) FROM "+leaves+` WHERE lineage = ? AND "function" = ?`, experiment(m.recording), lineage, function)
			all := number(t, shared.DB, "SELECT count(*) FROM "+leaves+` WHERE lineage = ?`, experiment(m.recording), lineage)
			if n != all {
				t.Errorf("process %s: %d of %d samples in %s", lineage, n, all, function)
			}
			parts = append(parts, part{"process " + lineage, float64(n) * m.tick, float64(work[i+1].(int))})
		}
		m.proportion(t, parts)
	}
}

// lastRecorded checks that no recorded stack has a frame below a function.
func lastRecorded(function string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		const frames = `FROM raw_frames w JOIN experiments USING (experiment_id) JOIN locations_wide l USING (experiment_id, location_id)
			JOIN functions f ON f.experiment_id = l.experiment_id AND f.function_id = l.function_id
			JOIN (SELECT experiment_id, raw_stack_id, count(*) AS words FROM raw_frames GROUP BY ALL) USING (experiment_id, raw_stack_id)
			WHERE experiment = ? AND f.name = ?`
		if number(t, shared.DB, "SELECT count(*) "+frames, experiment(m.recording), function) == 0 {
			t.Errorf("%s is on no stack", function)
		}
		if n := number(t, shared.DB, "SELECT count(*) "+frames+" AND position <> words - 1", experiment(m.recording), function); n > 0 {
			t.Errorf("%s has a caller on %d stacks: the recording can tell more than this test asks", function, n)
		}
	}
}

// linkageTable checks the stacks recorded with a leaf in the procedure linkage table: the calling
// frame is the leaf in every mode; a stack with no other frame stays.
func linkageTable() func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		var dropped int
		query(t, shared.DB, func(r row) error {
			var id, words int64
			var right bool
			err := r.Scan(&id, &words, &right)
			if dropped++; !right {
				t.Errorf("recorded stack %d with %d words: the leaf is not the call instruction", id, words)
			}
			return err
		}, `SELECT r.raw_stack_id, words, k.leaf_location_id = COALESCE(call.location_id, leaf.location_id) AND k.depth = greatest(words - 1, 1)
				AND machine_stack_id = user_stack_id
			FROM raw_stacks r JOIN experiments USING (experiment_id) JOIN stacks k ON k.experiment_id = r.experiment_id AND k.stack_id = r.user_stack_id
			JOIN (SELECT experiment_id, raw_stack_id, count(*) AS words FROM raw_frames GROUP BY ALL) USING (experiment_id, raw_stack_id)
			JOIN raw_frames leaf ON leaf.experiment_id = r.experiment_id AND leaf.raw_stack_id = r.raw_stack_id AND leaf.position = 0
			JOIN locations_wide l ON l.experiment_id = r.experiment_id AND l.location_id = leaf.location_id
			JOIN functions f ON f.experiment_id = r.experiment_id AND f.function_id = l.function_id
			LEFT JOIN raw_frames call ON call.experiment_id = r.experiment_id AND call.raw_stack_id = r.raw_stack_id AND call.position = 1
			WHERE experiment = ? AND f.kind = 'plt'`, experiment(m.recording))
		if dropped == 0 {
			t.Error("no stack was recorded with a leaf in the linkage table")
		}
	}
}

// afterSystemCall checks, with the recording's copy of the load object, that most of the functions'
// time is at an instruction after a system call.
func afterSystemCall(object string, functions ...string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		files, err := filepath.Glob(filepath.Join(recordings, "exp", experiment(m.recording), "archives", object+"_*"))
		if err != nil || len(files) != 1 {
			t.Fatal("archived copies: ", files, err)
		}
		text, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range functions {
			var after, all int64
			of := m.ids(t, name)
			for p, v := range m.places["totalcpu"] {
				if !of[m.owners[p]] || objectName(p.object) != object {
					continue
				}
				if all += v.exclusive; p.offset >= 2 && text[p.offset-2] == 0x0f && text[p.offset-1] == 0x05 {
					after += v.exclusive
				}
			}
			if after*10 < all*9 || all == 0 {
				t.Errorf("%s: %d ns of %d behind the system call", name, after, all)
			}
		}
	}
}

// waitsPerThread checks each thread's total wait in ms, the shortest first.
func waitsPerThread(ms ...float64) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		var got []float64
		query(t, shared.DB, func(r row) error {
			var v float64
			err := r.Scan(&v)
			got = append(got, v)
			return err
		}, `SELECT sum(c.duration_ns) / 1e6 AS ms FROM sync_samples c JOIN samples s USING (experiment_id, sample) JOIN experiments USING (experiment_id)
			WHERE experiment = ? GROUP BY s.thread_id ORDER BY ms`, experiment(m.recording))
		if !slices.EqualFunc(got, ms, func(g, w float64) bool { return g > w*(1-tolerance) && g < w*(1+tolerance) }) {
			t.Errorf("threads waited for %v ms, want %v", got, ms)
		}
	}
}

// unknownBecause checks that there are unknown functions with this reason.
func unknownBecause(want string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		if number(t, shared.DB, "SELECT sum(samples) FROM unattributed WHERE experiment = ? AND mode = 'user' AND reason = ?", experiment(m.recording), want) == 0 {
			t.Errorf("nothing is unknown because: %s", want)
		}
	}
}
