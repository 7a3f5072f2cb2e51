package queries

import (
	"fmt"
	"strings"

	"stackmill/schema"
)

// What a frame of a hidden library shows: what it did, nothing, or the library.
const (
	frameShown = iota
	frameDropped
	frameStandsIn
	frameStates
)

// statesOfNode is more than the numbers that a node's frame states make, of up to three
// views.
const statesOfNode = 32

// hide makes the tables of the stacks without hidden functions, and lets the connection
// that makes them see these.
//
// A frame of a hidden library is not shown. If there is none above it, one for the library
// as a whole is in its place, so that all stacks keep a frame. A frame of a library of which
// only entry points are shown is one if its caller is of another. The tree keeps its nodes,
// but frames that are shown at some of them only become two.
func (n *narrowing) hide() []string {
	statements := []string{
		n.create("libraries", n.librariesFound()), n.create("stand_ins", n.standIns()), n.create("hidden_locations", n.hiddenLocations()),
		n.create("hidden_nodes", n.hiddenNodes()),
		n.create("stack_tree", fmt.Sprintf(`SELECT t.experiment_id, t.node, t.up, t.below, (t.frame * %d + COALESCE(h.states, 0))::INTEGER AS frame
FROM stack_tree_rows() t LEFT JOIN %s h ON h.experiment_id = t.experiment_id AND h.node = t.node`, statesOfNode, n.table("hidden_nodes"))),
		n.create("tree_frames", n.hiddenFrames()),
	}
	statements = append(statements, n.shownRows()...)
	return append(statements, n.create("hidden_leaves", n.hiddenLeaves()), n.create("recorded_stacks", n.hiddenStacks()), n.leafRows())
}

// librariesFound is the query of the libraries that each experiment has of those.
func (n *narrowing) librariesFound() string {
	values := make([]string, len(n.libraries))
	for i, l := range n.libraries {
		values[i] = fmt.Sprintf("(%s, %s, %t)", quote(l.Name), quote(l.Path), l.APIOnly)
	}
	return `SELECT o.experiment_id, o.load_object_id, o.name, v.api_only
FROM load_objects o JOIN (VALUES ` + strings.Join(values, ", ") + `) v(name, path, api_only) ON v.name = o.name AND v.path = o.path`
}

// standIns is the query of what stands for a hidden library where its functions have no
// caller: a module, a function and a location.
func (n *narrowing) standIns() string {
	return `WITH hidden AS (
  SELECT experiment_id, load_object_id, name, row_number() OVER (PARTITION BY experiment_id ORDER BY load_object_id) AS number FROM ` + n.table("libraries") + ` WHERE NOT api_only
),
functions_of AS (SELECT experiment_id, max(function_no) AS most FROM functions GROUP BY ALL),
locations_of AS (SELECT experiment_id, max(location) AS most FROM locations_rows() GROUP BY ALL)
SELECT h.experiment_id, h.load_object_id, '<' || trim(h.name, '<>') || '>' AS name, (f.most + h.number)::INTEGER AS function_no, (l.most + h.number)::INTEGER AS location,
  path_part(h.load_object_id, -1) AS module_id, path_part(h.load_object_id, -2) AS function_id, path_part(h.load_object_id, -3) AS location_id
FROM hidden h JOIN functions_of f ON f.experiment_id = h.experiment_id JOIN locations_of l ON l.experiment_id = h.experiment_id`
}

// hiddenLocations is the query of the instructions of these libraries.
func (n *narrowing) hiddenLocations() string {
	return `SELECT l.experiment_id, l.location, l.load_object_id, o.api_only, s.location AS stand_in
FROM locations_rows() l JOIN ` + n.table("libraries") + ` o ON o.experiment_id = l.experiment_id AND o.load_object_id = l.load_object_id
LEFT JOIN ` + n.table("stand_ins") + ` s ON s.experiment_id = l.experiment_id AND s.load_object_id = l.load_object_id`
}

// plain calls f for each view without inlined functions, with its number.
func (n *narrowing) plain(f func(i int, v callView)) {
	for i, v := range n.views {
		if !v.inlined {
			f(i, v)
		}
	}
}

// hiddenNodes is the query of the nodes that do not show what they did, with the states of
// their frames, as digits of a number.
func (n *narrowing) hiddenNodes() string {
	var marks, joins, counts, depths, parents, ofParents, states []string
	n.plain(func(i int, v callView) {
		of := func(format string) string {
			return strings.NewReplacer("#", fmt.Sprint(i), "@", v.shown, "$", n.table("hidden_locations")).Replace(format)
		}
		marks = append(marks, of(", f.@ IS NOT NULL AS shown_#, h#.load_object_id AS library_#, h#.api_only AS api_only_#"))
		joins = append(joins, of("\n  LEFT JOIN $ h# ON h#.experiment_id = f.experiment_id AND h#.location = f.@"))
		counts = append(counts, of(", count(*) FILTER (shown_#) AS n_#"))
		depths = append(depths, of(", count(*) FILTER (n.shown_#) OVER before - COALESCE(sum(e.n_#) OVER before, 0) AS depth_#"))
		caller := "NULL"
		if n.showsEntries() {
			parents = append(parents, of(`,
callers_# AS (
  SELECT a.experiment_id, a.node, p.library_# AS caller
  FROM (FROM deep WHERE api_only_#) a
  ASOF JOIN (FROM deep WHERE shown_#) p ON p.experiment_id = a.experiment_id AND p.depth_# = a.depth_# - 1 AND p.node < a.node
)`))
			ofParents = append(ofParents, of("\nLEFT JOIN callers_# c# ON c#.experiment_id = d.experiment_id AND c#.node = d.node"))
			caller = of("c#.caller")
		}
		states = append(states, fmt.Sprintf("%d * %s", power(frameStates, i), of(fmt.Sprintf("CASE WHEN d.library_# IS NULL THEN %d WHEN d.api_only_# THEN IF(%s = d.library_#, %d, %d) WHEN d.depth_# = 1 THEN %d ELSE %d END",
			frameShown, caller, frameDropped, frameShown, frameStandsIn, frameDropped))))
	})
	join := func(list []string) string { return strings.Join(list, "") }
	return `WITH marked AS MATERIALIZED (
  SELECT f.experiment_id, f.frame` + join(marks) + `
  FROM tree_frames f` + join(joins) + `
),
nodes AS MATERIALIZED (
  SELECT t.experiment_id, t.node, t.last, m.* EXCLUDE (experiment_id, frame)
  FROM stack_tree t JOIN marked m ON m.experiment_id = t.experiment_id AND m.frame = t.frame
  SEMI JOIN ` + n.table("libraries") + ` o ON o.experiment_id = t.experiment_id
),
ended AS (SELECT experiment_id, last + 1 AS node` + join(counts) + ` FROM nodes GROUP BY ALL),
deep AS MATERIALIZED (
  SELECT n.*` + join(depths) + `
  FROM nodes n LEFT JOIN ended e ON e.experiment_id = n.experiment_id AND e.node = n.node
  WINDOW before AS (PARTITION BY n.experiment_id ORDER BY n.node ROWS UNBOUNDED PRECEDING)
)` + join(parents) + `
SELECT * FROM (
  SELECT d.experiment_id, d.node, ` + strings.Join(states, " + ") + ` AS states
  FROM deep d` + join(ofParents) + `
) WHERE states <> 0`
}

func (n *narrowing) showsEntries() bool {
	for _, l := range n.libraries {
		if l.APIOnly {
			return true
		}
	}
	return false
}

func power(base, exponent int) int {
	p := 1
	for range exponent {
		p *= base
	}
	return p
}

// hiddenRule is what columns of rules say of frames that do not show what they did.
const hiddenRule = "hidden"

// hiddenFrames is the query of the frames that nodes have now.
func (n *narrowing) hiddenFrames() string {
	var joins []string
	shown, rules := map[string]string{}, map[string]string{}
	n.plain(func(i int, v callView) {
		state := fmt.Sprintf("u.states // %d %% %d", power(frameStates, i), frameStates)
		joins = append(joins, fmt.Sprintf("\n  LEFT JOIN %s h%d ON h%d.experiment_id = f.experiment_id AND h%d.location = f.%s", n.table("hidden_locations"), i, i, i, v.shown))
		for bit, mode := range []string{"user", "expert", "machine"} {
			if v.modes&(1<<bit) != 0 {
				shown[mode] = fmt.Sprintf("CASE %s WHEN %d THEN f.%s WHEN %d THEN h%d.stand_in END", state, frameShown, v.shown, frameStandsIn, i)
				rules[mode] = fmt.Sprintf("IF(%s = %d, f.%s_rule, '%s')", state, frameShown, mode, hiddenRule)
			}
		}
	})
	return fmt.Sprintf(`WITH used AS (SELECT DISTINCT experiment_id, frame AS number, frame // %[1]d AS frame, frame %% %[1]d AS states FROM %[2]s),
frames AS (
  SELECT f.experiment_id, u.number, f.part, f.word, f.bci, f.location, %[3]s AS user_location, %[4]s AS user_rule,
    %[5]s AS expert_location, %[6]s AS expert_rule, %[7]s AS machine_location, %[8]s AS machine_rule
  FROM tree_frames f JOIN used u ON u.experiment_id = f.experiment_id AND u.frame = f.frame%[9]s
)
SELECT experiment_id, number AS frame, part, word, bci, location, user_location, user_rule, expert_location, expert_rule, machine_location, machine_rule
FROM frames`, statesOfNode, n.table("stack_tree"), shown["user"], rules["user"], shown["expert"], rules["expert"], shown["machine"], rules["machine"], strings.Join(joins, ""))
}

// hiddenLeaves is the query of the nodes of the leaves of the paths to nodes, by view: of the
// nodes before one that are as deep as its path is, the last that is shown.
func (n *narrowing) hiddenLeaves() string {
	var columns []string
	n.plain(func(i int, v callView) {
		mode, _, _ := strings.Cut(v.shown, "_")
		columns = append(columns, fmt.Sprintf("COALESCE(max(CASE WHEN f.%s IS NOT NULL THEN d.node END) OVER (PARTITION BY d.experiment_id, d.%s_depth ORDER BY d.node ROWS UNBOUNDED PRECEDING), 0) AS leaf_%d", v.shown, mode, i))
	})
	return `SELECT d.experiment_id, d.node, ` + strings.Join(columns, ", ") + `
FROM node_depths d JOIN tree_frames f ON f.experiment_id = d.experiment_id AND f.frame = d.frame
SEMI JOIN ` + n.table("libraries") + ` o ON o.experiment_id = d.experiment_id`
}

// hiddenStacks is the query of the recorded stacks with their leaves of now.
func (n *narrowing) hiddenStacks() string {
	var columns []string
	n.plain(func(i int, v callView) {
		for bit, mode := range []string{"user", "expert", "machine"} {
			if v.modes&(1<<bit) != 0 {
				columns = append(columns, fmt.Sprintf("COALESCE(r.node - l.leaf_%d, r.%s_up) AS %s_up", i, mode, mode))
			}
		}
	})
	return `SELECT r.* REPLACE (` + strings.Join(columns, ", ") + `)
FROM recorded_stacks_rows() r LEFT JOIN ` + n.table("hidden_leaves") + ` l ON l.experiment_id = r.experiment_id AND l.node = r.node`
}

// shownRows are the macros of the rows of what the session shows, but for its leaves.
func (n *narrowing) shownRows() []string {
	return []string{
		macro(schema.StackTree, "FROM "+n.table("stack_tree")), macro(schema.TreeFrames, "FROM "+n.table("tree_frames")),
		n.withStandIns(schema.Modules, map[string]string{"module_id": "module_id", "load_object_id": "load_object_id", "name": quote("(" + hiddenRule + ")")}),
		n.withStandIns(schema.Functions, map[string]string{"function_no": "function_no", "function_id": "function_id", "load_object_id": "load_object_id", "module_id": "module_id",
			"name": "name", "other_linkage_name": "''", "kind": "'artificial'", "name_scope": "'build'"}),
		n.withStandIns(schema.Locations, map[string]string{"location": "location", "other_location_id": "location_id", "load_object_id": "load_object_id", "function_no": "function_no"}),
		n.stored(schema.InlineFrames, "FROM %s ANTI JOIN (FROM "+n.table("hidden_locations")+" WHERE api_only) h USING (experiment_id, location)"),
	}
}

// stored is the macro of the rows that a query makes of those in the store.
func (n *narrowing) stored(t *schema.Table, format string) string {
	return macro(t, fmt.Sprintf(format, "("+rowsQuery(n.sees.store, t, n.sees.portions)+")"))
}

// withStandIns is the macro of the rows in the store and one for each library as a whole,
// with values of some columns; others are missing, or zero if they cannot be. All have
// their types: the engine makes wrong plans of unions that it casts itself.
func (n *narrowing) withStandIns(t *schema.Table, values map[string]string) string {
	columns, added := make([]string, len(t.Columns)), make([]string, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = identifier(c.Name)
		value := values[c.Name]
		switch {
		case c.Name == "experiment_id":
			value = c.Name
		case value == "" && c.Null:
			value = "NULL"
		case value == "" && c.Type == schema.String:
			value = "''"
		case value == "":
			value = "0"
		}
		added[i] = "(" + value + ")::" + c.Type.SQL()
	}
	return n.stored(t, "SELECT "+strings.Join(columns, ", ")+" FROM %s UNION ALL SELECT "+strings.Join(added, ", ")+" FROM "+n.table("stand_ins"))
}

// leafRows is the macro of the recorded stacks.
func (n *narrowing) leafRows() string {
	return macro(schema.RecordedStacks, "FROM "+n.table("recorded_stacks"))
}
