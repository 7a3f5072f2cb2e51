package values

import (
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"testing"

	"stackmill/cmd/acceptance/suite"
	"stackmill/queries"
)

// frame is a frame of a stack, or a function that is inlined at a frame.
type frame struct {
	location       int64
	function       int64
	file           string
	line           int64
	module, object int64
}

// recorded has the stacks of an experiment, read from the tables.
type recorded struct {
	up, frame map[int64]int64    // by node
	shown     map[int64][3]int64 // by frame: its location in each mode; -1: none
	levels    map[int64][]frame  // by location: its function, then the functions inlined there
	node      map[int64]int64    // by stack
}

// measures has exclusive and inclusive values: by view, mode and metric, and then by row.
type measures map[[3]string]map[string][2]int64

func (m measures) add(view, mode, metric, of string, exclusive, inclusive int64) {
	k := [3]string{view, mode, metric}
	if m[k] == nil {
		m[k] = map[string][2]int64{}
	}
	v := m[k][of]
	m[k][of] = [2]int64{v[0] + exclusive, v[1] + inclusive}
}

func readRecorded(t *testing.T, db *queries.DB, id string) *recorded {
	r := &recorded{map[int64]int64{}, map[int64]int64{}, map[int64][3]int64{}, map[int64][]frame{}, map[int64]int64{}}
	suite.Query(t, db.DB, func(rows *sql.Rows) error {
		var node, up, frame int64
		err := rows.Scan(&node, &up, &frame)
		r.up[node], r.frame[node] = up, frame
		return err
	}, "SELECT node, up, frame FROM stack_tree WHERE experiment_id = ?", id)
	suite.Query(t, db.DB, func(rows *sql.Rows) error {
		var frame int64
		var user, expert, machine sql.NullInt64
		err := rows.Scan(&frame, &user, &expert, &machine)
		shown := [3]int64{-1, -1, -1}
		for i, v := range []sql.NullInt64{user, expert, machine} {
			if v.Valid {
				shown[i] = v.Int64
			}
		}
		r.shown[frame] = shown
		return err
	}, "SELECT frame, user_location, expert_location, machine_location FROM tree_frames WHERE experiment_id = ?", id)
	suite.Query(t, db.DB, func(rows *sql.Rows) error {
		var f frame
		var level int64
		err := rows.Scan(&f.location, &level, &f.function, &f.file, &f.line, &f.module, &f.object)
		r.levels[f.location] = append(r.levels[f.location], f)
		return err
	}, `SELECT location, level, l.function_id, file, line, module_id, f.load_object_id FROM (
			SELECT experiment_id, location, -1 AS level, function_id, file, line FROM locations_wide UNION ALL SELECT experiment_id, location, depth, function_id, file, line FROM inline_frames_wide
		) l JOIN functions f USING (experiment_id, function_id) WHERE experiment_id = ? ORDER BY location, level`, id)
	suite.Query(t, db.DB, func(rows *sql.Rows) error {
		var stack, node int64
		err := rows.Scan(&stack, &node)
		r.node[stack] = node
		return err
	}, "SELECT stack, node FROM recorded_stacks WHERE experiment_id = ?", id)
	return r
}

// frames returns the frames that a mode shows for a stack, the outermost first.
func (r *recorded) frames(stack int64, mode int, inlined bool) (list []frame) {
	for n := r.node[stack]; n > 0; n -= r.up[n] {
		if at := r.shown[r.frame[n]][mode]; at >= 0 {
			levels := r.levels[at]
			if !inlined {
				levels = levels[:1]
			}
			for i := len(levels) - 1; i >= 0; i-- {
				list = append(list, levels[i])
			}
		}
	}
	slices.Reverse(list)
	return list
}

// count adds a stack's value to the rows of its leaf and of its other frames, by the manual's
// definition.
func (m measures) count(frames []frame, view, mode, metric string, total, value int64) {
	of := func(what string, key func(f frame) string) {
		passed := map[string]bool{}
		for i, f := range frames {
			k := key(f)
			if !passed[k] {
				m.add(view+what, mode, metric, k, 0, value)
			}
			if passed[k] = true; i == len(frames)-1 {
				m.add(view+what, mode, metric, k, value, 0)
			}
		}
	}
	of("functions", func(f frame) string { return fmt.Sprint(f.function) })
	of("lines", func(f frame) string { return fmt.Sprintf("%d %s %d", f.function, f.file, f.line) })
	of("source", func(f frame) string { return fmt.Sprintf("%s %d", f.file, f.line) })
	if view == "" {
		of("instructions", func(f frame) string { return fmt.Sprint(f.location) })
		of("modules", func(f frame) string { return fmt.Sprint(f.module) })
		of("load objects", func(f frame) string { return fmt.Sprint(f.object) })
	}
	m.add(view+"functions", mode, metric, fmt.Sprint(total), value, value)
	path := fmt.Sprint(total)
	m.add(view+"call tree", mode, metric, path, 0, value)
	for _, f := range frames {
		path += fmt.Sprint(" ", f.function)
		m.add(view+"call tree", mode, metric, path, 0, value)
	}
	m.add(view+"call tree", mode, metric, path, value, 0)
	m.add(view+"calls", mode, metric, fmt.Sprintf("%d self %d", total, total), 0, value)
	seen := map[int64]bool{}
	for i := len(frames) - 1; i >= -1; i-- {
		function, caller := total, int64(0)
		if i >= 0 {
			function, caller = frames[i].function, total
		}
		if i > 0 {
			caller = frames[i-1].function
		}
		if seen[function] {
			continue
		}
		seen[function] = true
		if i >= 0 {
			m.add(view+"calls", mode, metric, fmt.Sprintf("%d caller %d", function, caller), 0, value)
		}
		switch {
		case i < len(frames)-1:
			m.add(view+"calls", mode, metric, fmt.Sprintf("%d callee %d", function, frames[i+1].function), 0, value)
		case i >= 0:
			m.add(view+"calls", mode, metric, fmt.Sprintf("%d self %d", function, function), 0, value)
		}
	}
}

var modeNames = []string{"user", "expert", "machine"}

// byDefinition computes all values from samples and stacks, by the manual's definitions.
func byDefinition(t *testing.T, db *queries.DB, id string) measures {
	r, m := readRecorded(t, db, id), measures{}
	var total int64
	if err := db.QueryRow("SELECT function_id FROM functions WHERE experiment_id = ? AND name = '<Total>' AND kind = 'artificial'", id).Scan(&total); err != nil {
		t.Fatal(err)
	}
	type key struct {
		metric string
		stack  int64
	}
	sums := map[key]int64{}
	suite.Query(t, db.DB, func(rows *sql.Rows) error {
		var metric string
		var stack, process, thread, cpu, value int64
		err := rows.Scan(&metric, &stack, &process, &thread, &cpu, &value)
		sums[key{metric, stack}] += value
		m.add("threads", "", metric, fmt.Sprintf("%d %d", process, thread), 0, value)
		m.add("CPUs", "", metric, fmt.Sprint(cpu), 0, value)
		m.add("processes", "", metric, fmt.Sprint(process), 0, value)
		return err
	}, "SELECT metric, stack, process, thread_id, cpu, value FROM sample_metrics v JOIN samples s USING (experiment_id, sample) WHERE experiment_id = ?", id)
	for k, value := range sums {
		for mode, name := range modeNames {
			m.count(r.frames(k.stack, mode, false), "", name, k.metric, total, value)
			m.count(r.frames(k.stack, mode, true), "inline ", name, k.metric, total, value)
		}
	}
	return m
}

// byViews reads all values from views and tables.
func byViews(t *testing.T, db *queries.DB, id string) measures {
	m := measures{}
	read := func(view, query string) {
		suite.Query(t, db.DB, func(rows *sql.Rows) error {
			var mode, metric, of string
			var exclusive, inclusive int64
			err := rows.Scan(&mode, &metric, &of, &exclusive, &inclusive)
			if _, twice := m[[3]string{view, mode, metric}][of]; twice {
				t.Errorf("%s, mode %s, metric %s: %s has two rows", view, mode, metric, of)
			}
			m.add(view, mode, metric, of, exclusive, inclusive)
			return err
		}, query, id)
	}
	for view, modes := range map[string]string{"": "v.in_user, v.in_expert, v.in_machine", "inline ": "v.in_user_inlined, v.in_expert_inlined, v.in_machine_inlined"} {
		prefix := map[string]string{"": "", "inline ": "inline_"}[view]
		read(view+"functions", "SELECT mode, metric, function_id, exclusive, inclusive FROM "+prefix+"function_metrics WHERE experiment_id = ?")
		read(view+"lines", "SELECT mode, metric, concat_ws(' ', function_id, file, line), exclusive, inclusive FROM "+prefix+"line_metrics WHERE experiment_id = ?")
		read(view+"source", "SELECT mode, metric, concat_ws(' ', file, line), exclusive, inclusive FROM source_values v JOIN modes m ON by_mode(m.mode, "+modes+") WHERE experiment_id = ?")
		read(view+"calls", "SELECT mode, metric, concat_ws(' ', function_id, relation, other_id), 0, attributed FROM "+prefix+"callers_callees WHERE experiment_id = ?")
		read(view+"call tree", `WITH RECURSIVE paths AS (
				SELECT experiment_id, call_node, function_id::VARCHAR AS path FROM call_nodes_wide WHERE parent IS NULL
				UNION ALL
				SELECT c.experiment_id, c.call_node, concat_ws(' ', p.path, c.function_id) FROM paths p JOIN call_nodes_wide c ON c.experiment_id = p.experiment_id AND c.parent = p.call_node
			) SELECT m.mode, v.metric, p.path, v.exclusive, v.attributed FROM tree_values v JOIN modes m ON by_mode(m.mode, `+modes+`) JOIN paths p USING (experiment_id, call_node) WHERE experiment_id = ?`)
	}
	read("instructions", "SELECT mode, metric, location, exclusive, inclusive FROM pc_values v JOIN modes m ON by_mode(m.mode, v.in_user, v.in_expert, v.in_machine) WHERE experiment_id = ?")
	read("modules", "SELECT mode, metric, module_id, exclusive, inclusive FROM module_metrics WHERE experiment_id = ?")
	read("load objects", "SELECT mode, metric, load_object_id, exclusive, inclusive FROM load_object_metrics WHERE experiment_id = ?")
	read("threads", "SELECT '', metric, concat_ws(' ', process, thread_id), 0, sum(value)::BIGINT FROM thread_metrics WHERE mode = 'user' AND experiment_id = ? GROUP BY ALL")
	read("CPUs", "SELECT '', metric, cpu, 0, value FROM cpu_metrics WHERE mode = 'user' AND experiment_id = ?")
	read("processes", "SELECT '', metric, process, 0, value FROM process_metrics WHERE mode = 'user' AND experiment_id = ?")
	return m
}

// compareByDefinition compares the values of all experiments of a store.
func compareByDefinition(t *testing.T, db *queries.DB) (values int) {
	var ids []string
	suite.Query(t, db.DB, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	}, "SELECT experiment_id FROM experiments WHERE samples > 0")
	nothing := func(_ string, v [2]int64) bool { return v == [2]int64{} }
	for _, id := range ids {
		want, got := byDefinition(t, db, id), byViews(t, db, id)
		all := maps.Clone(want)
		maps.Copy(all, got)
		for k := range all {
			maps.DeleteFunc(want[k], nothing)
			maps.DeleteFunc(got[k], nothing)
			values += len(want[k])
			if maps.Equal(want[k], got[k]) {
				continue
			}
			for of, v := range want[k] {
				if got[k][of] != v {
					t.Errorf("experiment %s, %v: %s has %v, want %v", id, k, of, got[k][of], v)
				}
			}
			for of, v := range got[k] {
				if _, known := want[k][of]; !known {
					t.Errorf("experiment %s, %v: %s has %v, want nothing", id, k, of, v)
				}
			}
		}
	}
	return values
}
