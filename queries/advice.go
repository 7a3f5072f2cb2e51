package queries

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackmill/schema"
)

// Advise looks in an admitted SELECT for a common mistake: a sum over a view or table that repeats
// each value for each mode, or that mixes metrics. It returns no advice about SQL that it does not
// understand. The caller runs the SQL in any case.
func (db *DB) Advise(ctx context.Context, conn *sql.Conn, statement string) (advice []string) {
	lower := strings.ToLower(statement)
	if mentioned(lower, sums) == nil || mentioned(lower, slices.Collect(maps.Keys(relations()))) == nil {
		return advice
	}
	tree, err := parseSQL(ctx, conn, statement)
	if err != nil {
		return advice
	}
	s := &sumSearch{}
	for _, t := range tree.list("statements") {
		s.node(t.part("node"), nil)
	}
	for _, m := range s.mistakes {
		if m.metric && !m.mode {
			if known, err := db.Metrics(ctx); err == nil && len(known) < 2 {
				continue
			}
		}
		if a := m.advice(); !slices.Contains(advice, a) {
			advice = append(advice, a)
		}
	}
	return advice
}

// relation is a view or table, or a subquery or CTE over one.
type relation struct {
	view         string
	sets         bool            // each row belongs to a set of modes, as in tables
	mode, metric bool            // rows of several modes or metrics are mixed
	values       map[string]bool // columns that must not be summed in that case
}

// advice explains what is wrong with a sum over the relation, and what to write instead.
func (r relation) advice() string {
	switch {
	case r.sets && r.mode:
		return fmt.Sprintf("a sum over %s mixes rows of different modes%s (filter on in_user, for example; views such as function_metrics have one row per mode)", r.view, map[bool]string{true: " and different metrics"}[r.metric])
	case r.mode && r.metric:
		return fmt.Sprintf("a sum over %s counts each value three times, once per mode, and mixes metrics (filter on mode = 'user' and a metric, or group by both)", r.view)
	case r.mode:
		return fmt.Sprintf("a sum over %s counts each value three times, once per mode (filter on mode = 'user', or group by mode)", r.view)
	}
	return fmt.Sprintf("a sum over %s mixes metrics (filter on a metric, or group by metric)", r.view)
}

// relations returns the views and tables whose sums may be wrong, by name.
func relations() map[string]relation {
	all := map[string]relation{}
	add := func(r relation, columns []Column) {
		r.values = map[string]bool{}
		for _, c := range columns {
			if c.Unit == "the metric's" || c.Unit == "count" {
				r.values[c.Name] = true
			}
		}
		if (r.mode || r.metric) && len(r.values) > 0 {
			all[r.view] = r
		}
	}
	views, _ := Views()
	for _, v := range views {
		names := v.ColumnNames()
		if !slices.ContainsFunc(v.Parameters, func(p Column) bool { return p.Name == "in_mode" }) {
			add(relation{view: v.Name, mode: slices.Contains(names, "mode"), metric: slices.Contains(names, "metric")}, v.Columns)
		}
	}
	for _, t := range schema.Tables {
		add(relation{view: t.Name, sets: t.Modes() != 0, mode: t.Modes() != 0, metric: t.Has("metric")}, columnsOf(t.Columns))
	}
	return all
}
