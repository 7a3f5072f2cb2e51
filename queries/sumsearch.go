package queries

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"stackmill/schema"
)

// sums are the aggregate functions whose result is wrong if values are repeated or mixed: they add
// values, or rank them.
var sums = []string{"sum", "fsum", "sumkahan", "kahan_sum", "avg", "mean", "favg", "median", "quantile", "quantile_cont", "quantile_disc"}

// column returns the name of the column that the node refers to, empty for anything else.
func (s syntax) column() string {
	names, _ := s["column_names"].([]any)
	if s.text("class") != "COLUMN_REF" || len(names) == 0 {
		return ""
	}
	name, _ := names[len(names)-1].(string)
	return strings.ToLower(name)
}

// refers reports whether an expression refers to the column. It does not look into subqueries.
func refers(x any, name string) (found bool) {
	each(x, func(s syntax) bool {
		found = found || s.column() == name
		return s.text("class") != "SUBQUERY"
	})
	return found
}

// sumSearch finds sums that mix several modes or metrics.
type sumSearch struct{ mistakes []relation }

// node examines a query. around has the relations that the query can refer to. The result describes
// the relation that the query returns.
func (s *sumSearch) node(n syntax, around map[string]relation) relation {
	known := maps.Clone(around)
	if known == nil {
		known = relations()
	}
	for _, c := range n.part("cte_map").list("map") {
		known[strings.ToLower(c.text("key"))] = s.node(c.part("value", "query", "node"), known)
	}
	switch n.text("type") {
	case "SELECT_NODE":
		return s.selection(n, known)
	case "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE":
		return both(s.node(n.part("left"), known), s.node(n.part("right"), known))
	}
	return relation{}
}

// selection examines a SELECT.
func (s *sumSearch) selection(n syntax, known map[string]relation) relation {
	from := s.source(n.part("from_table"), known)
	s.inside(n, known)
	conditions := []any{n["where_clause"], n["qualify"]}
	from.mode = from.mode && !from.refersMode(conditions)
	from.metric = from.metric && !refers(conditions, "metric")
	shown := []any{n["select_list"], n["having"], n["group_expressions"], n["modifiers"]}
	result := from
	if from.summed(shown) {
		all := n.text("aggregate_handling") == "FORCE_AGGREGATES" && slices.ContainsFunc(n.list("select_list"), func(s syntax) bool { return s.text("class") == "STAR" })
		result.mode = from.mode && (all || from.refersMode(shown))
		result.metric = from.metric && (all || refers(shown, "metric"))
		if wrong := (relation{from.view, from.sets, from.mode && !result.mode, from.metric && !result.metric, nil}); wrong.mode || wrong.metric {
			s.mistakes = append(s.mistakes, wrong)
		}
	}
	result.values = from.made(n.list("select_list"))
	return result
}

// inside examines the subqueries in the expressions of a SELECT.
func (s *sumSearch) inside(n syntax, known map[string]relation) {
	for _, key := range []string{"select_list", "where_clause", "having", "qualify", "modifiers"} {
		each(n[key], func(x syntax) bool {
			if x.text("class") == "SUBQUERY" {
				s.node(x.part("subquery", "node"), known)
			}
			return x.text("class") != "SUBQUERY"
		})
	}
}

// source examines a FROM, and describes the relation that it stands for.
func (s *sumSearch) source(t syntax, known map[string]relation) relation {
	switch t.text("type") {
	case "BASE_TABLE":
		return known[strings.ToLower(t.text("table_name"))]
	case "TABLE_FUNCTION":
		return known[strings.ToLower(t.part("function").text("function_name"))]
	case "SUBQUERY":
		return s.node(t.part("subquery", "node"), known)
	case "JOIN":
		left, right := s.source(t.part("left"), known), s.source(t.part("right"), known)
		using, _ := t["using_columns"].([]any)
		joined := func(name string) bool { return refers(t["condition"], name) || slices.Contains(using, any(name)) }
		result := both(left, right)
		// If one side has a single mode, a join on `mode` leaves only that mode.
		result.mode = result.mode && (left.mode && right.mode || !joined("mode"))
		result.metric = result.metric && (left.metric && right.metric || !joined("metric"))
		return result
	}
	return relation{}
}

// both describes a relation with the columns of two relations.
func both(a, b relation) relation {
	if a.view == "" {
		a, b = b, a
	}
	values := maps.Clone(a.values)
	if values == nil {
		values = map[string]bool{}
	}
	maps.Copy(values, b.values)
	return relation{a.view, a.sets, a.mode || b.mode, a.metric || b.metric, values}
}

// refersMode reports whether an expression refers to a column that tells the relation's modes
// apart.
func (r relation) refersMode(x any) bool {
	return refers(x, "mode") || r.sets && slices.ContainsFunc(schema.Modes, func(column string) bool { return refers(x, column) })
}

// summed reports whether expressions contain a sum over the relation's values.
func (r relation) summed(expressions any) (found bool) {
	each(expressions, func(x syntax) bool {
		if class := x.text("class"); (class == "FUNCTION" || class == "WINDOW") && slices.Contains(sums, strings.ToLower(x.text("function_name"))) {
			for v := range r.values {
				found = found || refers(x["children"], v)
			}
		}
		return x.text("class") != "SUBQUERY"
	})
	return found
}

// made returns the names of those columns in a SELECT's result that hold values of the relation.
func (r relation) made(list []syntax) map[string]bool {
	values := map[string]bool{}
	for _, item := range list {
		if item.text("class") == "STAR" {
			maps.Copy(values, r.values)
		}
		for v := range r.values {
			if !refers(map[string]any(item), v) {
				continue
			}
			name := strings.ToLower(item.text("alias"))
			if name == "" {
				name = item.column()
			}
			values[name] = true
		}
	}
	return values
}

// syntax is a node of a parsed statement, as the engine serializes it.
type syntax map[string]any

func (s syntax) text(key string) string { t, _ := s[key].(string); return t }

func (s syntax) part(keys ...string) syntax {
	for _, k := range keys {
		next, _ := s[k].(map[string]any)
		s = next
	}
	return s
}

func (s syntax) list(key string) (parts []syntax) {
	items, _ := s[key].([]any)
	for _, i := range items {
		if m, ok := i.(map[string]any); ok {
			parts = append(parts, m)
		}
	}
	return parts
}

// each calls visit for all nodes in x, outer ones first. It skips the children of a node for which
// visit returns false.
func each(x any, visit func(syntax) bool) {
	switch x := x.(type) {
	case syntax:
		each(map[string]any(x), visit)
	case map[string]any:
		if visit(x) {
			for _, v := range x {
				each(v, visit)
			}
		}
	case []any:
		for _, v := range x {
			each(v, visit)
		}
	}
}

// parseSQL returns the syntax tree of a SELECT, from the engine's parser. Numbers are json.Number,
// because some need 64 bits.
func parseSQL(ctx context.Context, conn *sql.Conn, query string) (tree syntax, err error) {
	var text string
	if err := conn.QueryRowContext(ctx, "SELECT json_serialize_sql(?::VARCHAR)::VARCHAR", query).Scan(&text); err != nil {
		return nil, err
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}
	if message := tree.text("error_message"); message != "" {
		return nil, errors.New(firstLine(message))
	}
	return tree, nil
}
