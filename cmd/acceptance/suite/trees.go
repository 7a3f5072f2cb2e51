package suite

import (
	"database/sql"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// modes are the representations, in the order in which the tables of the stack tree have columns
// for them.
var modes = []string{"user", "expert", "machine"}

// treeNode is a node of an experiment's stack tree, with its frame.
type treeNode struct {
	up       int64
	part     string
	word     sql.NullInt64
	own      sql.NullInt64 // location of the recorded word
	location [3]sql.NullInt64
	rule     [3]string
}

// CheckTrees expands each recorded stack of a store frame by frame, from its node to the root. It
// compares the frames with the views `raw_frames` and `frames`, and sums over the stacks with the
// tables of values.
func CheckTrees(t *testing.T, db *sql.DB) {
	Query(t, db, func(r *sql.Rows) error {
		var id, name string
		if err := r.Scan(&id, &name); err != nil {
			return err
		}
		t.Run(name, func(t *testing.T) { newExpansion(t, db, id).check() })
		return nil
	}, "SELECT experiment_id, experiment FROM experiments WHERE samples > 0 ORDER BY experiment")
}

// expansion has the expanded stacks of an experiment, as texts.
type expansion struct {
	*testing.T
	db        *sql.DB
	id        string
	nodes     []treeNode
	functions map[int64]int64            // function by location
	values    map[int64]map[string]int64 // values by recorded stack and metric

	raw, frames []string
	sums        map[string][2]int64 // exclusive and inclusive value, by mode, metric, and function or instruction
}

func newExpansion(t *testing.T, db *sql.DB, id string) *expansion {
	x := &expansion{T: t, db: db, id: id, functions: map[int64]int64{}, values: map[int64]map[string]int64{}, sums: map[string][2]int64{}}
	x.each("SELECT location_id, function_id FROM locations_wide WHERE experiment_id = ?", func(r *sql.Rows) error {
		var location, function int64
		err := r.Scan(&location, &function)
		x.functions[location] = function
		return err
	})
	x.each("SELECT stack, metric, value FROM stack_values WHERE experiment_id = ?", func(r *sql.Rows) error {
		var stack, value int64
		var metric string
		err := r.Scan(&stack, &metric, &value)
		if x.values[stack] == nil {
			x.values[stack] = map[string]int64{}
		}
		x.values[stack][metric] = value
		return err
	})
	x.each(`WITH ids AS MATERIALIZED (SELECT experiment_id, location, location_id FROM locations_wide)
		SELECT up, part, word, o.location_id, u.location_id, e.location_id, m.location_id, user_rule, expert_rule, machine_rule
		FROM stack_tree JOIN tree_frames f USING (experiment_id, frame)
		LEFT JOIN ids o ON o.experiment_id = f.experiment_id AND o.location = f.location
		LEFT JOIN ids u ON u.experiment_id = f.experiment_id AND u.location = f.user_location
		LEFT JOIN ids e ON e.experiment_id = f.experiment_id AND e.location = f.expert_location
		LEFT JOIN ids m ON m.experiment_id = f.experiment_id AND m.location = f.machine_location
		WHERE f.experiment_id = ? ORDER BY node`, func(r *sql.Rows) error {
		var n treeNode
		err := r.Scan(&n.up, &n.part, &n.word, &n.own, &n.location[0], &n.location[1], &n.location[2], &n.rule[0], &n.rule[1], &n.rule[2])
		x.nodes = append(x.nodes, n)
		return err
	})
	return x
}

func (x *expansion) each(query string, scan func(*sql.Rows) error) {
	x.Helper()
	Query(x.T, x.db, scan, query, x.id)
}

// texts returns the rows of a query, in order. The query has one column of texts.
func (x *expansion) texts(query string) (all []string) {
	x.Helper()
	x.each(query, func(r *sql.Rows) error {
		var s string
		err := r.Scan(&s)
		all = append(all, s)
		return err
	})
	slices.Sort(all)
	return all
}

// check expands the stacks and compares them with the views and tables.
func (x *expansion) check() {
	seen := map[int64]bool{}
	x.each(`SELECT r.stack, raw_stack_id, node, w.user_stack_id, w.expert_stack_id, w.machine_stack_id
		FROM recorded_stacks_wide r JOIN raw_stacks w USING (experiment_id, raw_stack_id) WHERE experiment_id = ?`, func(r *sql.Rows) error {
		var stack, raw, node int64
		var ids [3]int64
		if err := r.Scan(&stack, &raw, &node, &ids[0], &ids[1], &ids[2]); err != nil {
			return err
		}
		x.words(raw, node)
		for mode := range modes {
			x.frame(stack, node, mode, ids[mode], seen[ids[mode]])
			seen[ids[mode]] = true
		}
		return nil
	})
	slices.Sort(x.raw)
	slices.Sort(x.frames)
	for _, c := range []struct {
		what  string
		want  []string
		query string
	}{
		{"raw_frames", x.raw, "SELECT concat_ws(' ', raw_stack_id, part, position, word, location_id) FROM raw_frames WHERE experiment_id = ?"},
		{"frames", x.frames, "SELECT concat_ws(' ', stack_id, position, location_id, function_id, rule) FROM frames WHERE experiment_id = ?"},
		{"sums", x.sumTexts(), sumsOfTables},
	} {
		if diff := cmp.Diff(c.want, x.texts(c.query)); diff != "" {
			x.Errorf("%s: expanded frame by frame (-) and stored (+):\n%s", c.what, diff)
		}
	}
}

// words expands the recorded words of a stack, from a node to the root.
func (x *expansion) words(raw, node int64) {
	position := map[string]int{}
	for n := node; n > 0; n -= x.nodes[n].up {
		f := &x.nodes[n]
		if !f.word.Valid {
			continue
		}
		text := fmt.Sprint(raw, " ", f.part, " ", position[f.part], " ", f.word.Int64)
		if f.own.Valid {
			text += fmt.Sprint(" ", f.own.Int64)
		}
		x.raw = append(x.raw, text)
		position[f.part]++
	}
}

// frame expands a stack in a mode, and adds the stack's value to its functions and instructions,
// once to each. If seen is set, it does not list the stack's frames again.
func (x *expansion) frame(stack, node int64, mode int, id int64, seen bool) {
	position := 0
	passed := map[string]bool{}
	for n := node; n > 0; n -= x.nodes[n].up {
		f := &x.nodes[n]
		location := f.location[mode]
		if !location.Valid {
			continue
		}
		function := x.functions[location.Int64]
		if !seen {
			x.frames = append(x.frames, fmt.Sprintf("%d %d %d %d %s", id, position, location.Int64, function, f.rule[mode]))
		}
		for _, what := range []string{fmt.Sprint("function ", function), fmt.Sprint("instruction ", location.Int64)} {
			for metric, value := range x.values[stack] {
				key := modes[mode] + " " + metric + " " + what
				sums := x.sums[key]
				if position == 0 {
					sums[0] += value
				}
				if !passed[what] {
					sums[1] += value
				}
				x.sums[key] = sums
			}
			passed[what] = true
		}
		position++
	}
}

func (x *expansion) sumTexts() (all []string) {
	for key, s := range x.sums {
		if s != [2]int64{} {
			all = append(all, fmt.Sprint(key, " ", s[0], " ", s[1]))
		}
	}
	slices.Sort(all)
	return all
}

// sumsOfTables selects the stored values of functions and instructions.
const sumsOfTables = `SELECT concat_ws(' ', mode, metric, what, exclusive, inclusive) FROM (
		SELECT v.experiment_id, v.in_user, v.in_expert, v.in_machine, v.metric, 'function ' || v.function_id AS what, v.exclusive, v.inclusive
		FROM function_values_wide v JOIN functions f USING (experiment_id, function_id) WHERE f.name <> '<Total>' OR f.kind <> 'artificial'
		UNION ALL
		SELECT experiment_id, in_user, in_expert, in_machine, metric, 'instruction ' || location_id, exclusive, inclusive FROM pc_values JOIN locations_wide USING (experiment_id, location)
	) v JOIN modes m ON by_mode(m.mode, v.in_user, v.in_expert, v.in_machine) WHERE experiment_id = ? AND (exclusive <> 0 OR inclusive <> 0)`
