package queries

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"stackmill/internal/lazyregexp"
	"stackmill/schema"
)

// resolved changes statements only if the store has at least this many experiments, whose rows take
// seconds to read.
var many = 100 // tests have fewer

// beforeQuery matches what may stand before the query in a statement.
var beforeQuery = lazyregexp.New(`(?i)^(EXPLAIN\s+(ANALYZE\s+|\(\s*FORMAT\s+\w+\s*\)\s*)?|CREATE\s+(OR\s+REPLACE\s+)?TEMP(ORARY)?\s+TABLE\s+("[^"]+"|\w+)\s+AS\s+)`)

// resolved makes queries that select an experiment by its name read fewer rows. To a condition such
// as experiment = 'a.er', it adds the same condition on experiment_id. The engine can apply that
// while it reads files, which have ids but no names. With 1,000 experiments, disasm and folded take
// 14 and 22 times the CPU time without this. If the change might alter the statement's meaning,
// resolved returns it as it is.
func (db *DB) resolved(ctx context.Context, conn *sql.Conn, statement string) string {
	if db.Count < many || !strings.Contains(strings.ToLower(statement), experimentName) {
		return statement
	}
	before := beforeQuery().FindString(statement)
	query := statement[len(before):]
	tree, err := parseSQL(ctx, conn, query)
	if err != nil {
		return statement
	}
	r := &resolver{ctx: ctx, conn: conn}
	r.read(tree)
	if len(r.named) == 0 || r.shadowed() {
		return statement
	}
	edited := r.edit(query)
	again, err := parseSQL(ctx, conn, edited)
	if err != nil || !reflect.DeepEqual(r.plain(tree, false), r.plain(again, true)) {
		return statement
	}
	if _, err := kindOf(conn, before+edited); err != nil {
		return statement
	}
	return before + edited
}

const experimentName = "experiment"

// resolver finds conditions on names of experiments in a query.
type resolver struct {
	ctx   context.Context
	conn  *sql.Conn
	named []namedIn
	used  []string // views and tables whose conditions are resolved
	ctes  []string
}

// namedIn is a condition on an experiment's name: the position of its column in the query, and the
// id of the experiment with that name.
type namedIn struct {
	at     int
	column []any // the column's name with its qualifiers
	id     string
}

// read finds the conditions in all SELECTs of a query.
func (r *resolver) read(tree any) {
	each(tree, func(s syntax) bool {
		for _, c := range s.part("cte_map").list("map") {
			r.ctes = append(r.ctes, strings.ToLower(c.text("key")))
		}
		return true
	})
	each(tree, func(s syntax) bool {
		if s.text("type") == "SELECT_NODE" {
			r.selection(s)
		}
		return true
	})
}

// selection finds the conditions that must hold for every row of a SELECT.
func (r *resolver) selection(s syntax) {
	known, all := r.sources(s.part("from_table"))
	for _, c := range conjuncts(s["where_clause"]) {
		column, condition := onName(c)
		if column == nil {
			continue
		}
		switch names := column["column_names"].([]any); {
		case len(names) == 1 && all && len(known) > 0:
		case len(names) == 2 && known[strings.ToLower(fmt.Sprint(names[0]))]:
		default:
			continue
		}
		at, ok := column["query_location"].(json.Number)
		if !ok {
			continue
		}
		place, err := at.Int64()
		id, found := r.identifier(condition)
		if err == nil && found {
			r.named = append(r.named, namedIn{int(place), column["column_names"].([]any), id})
		}
	}
}

// sources returns the aliases of those views and tables in a FROM that have both names and ids of
// experiments. all says that no other relation there can have names.
func (r *resolver) sources(from syntax) (known map[string]bool, all bool) {
	name := strings.ToLower(from.text("table_name"))
	switch from.text("type") {
	case "JOIN":
		left, sure := r.sources(from.part("left"))
		right, sureToo := r.sources(from.part("right"))
		known = maps.Clone(left)
		for name := range right {
			if known[name] { // two tables of one name, from different schemas
				return map[string]bool{}, false
			}
			known[name] = true
		}
		return known, sure && sureToo
	case "TABLE_FUNCTION":
		name = strings.ToLower(from.part("function").text("function_name"))
	case "BASE_TABLE":
	default:
		return map[string]bool{}, false
	}
	has, ours := withNames()[name]
	if !ours || slices.Contains(r.ctes, name) || len(from.list("column_name_alias")) > 0 {
		return map[string]bool{}, false
	}
	r.used = append(r.used, name)
	if !has {
		return map[string]bool{}, true
	}
	return map[string]bool{cmp.Or(strings.ToLower(from.text("alias")), name): true}, true
}

// withNames maps the views and tables of a store to whether they have names of experiments. It
// lacks views that have names but no ids.
var withNames = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{"experiment_names": true}
	for _, t := range schema.Tables {
		all[t.Name] = t == schema.Experiments // only the view of experiments has both names and ids
	}
	views, _ := Views()
	for _, v := range views {
		has := func(name string) bool {
			return slices.ContainsFunc(v.Columns, func(c Column) bool { return c.Name == name })
		}
		if name, id := has(experimentName), has("experiment_id"); name && id || !name {
			all[v.Name] = name
		} else {
			delete(all, v.Name)
		}
	}
	return all
})

// conjuncts splits a condition at its ANDs.
func conjuncts(condition any) (all []syntax) {
	c, _ := condition.(map[string]any)
	if s := syntax(c); s.text("type") != "CONJUNCTION_AND" {
		return []syntax{s}
	}
	for _, part := range syntax(c).list("children") {
		all = append(all, conjuncts(map[string]any(part))...)
	}
	return all
}

// onName returns the column of a condition that compares an experiment's name with texts, and SQL
// for the same condition on experiment_names. It returns nil for any other condition.
func onName(c syntax) (column syntax, condition string) {
	var operands []syntax
	var operator string
	switch {
	case c.text("type") == "COMPARE_EQUAL":
		operands, operator = []syntax{c.part("left"), c.part("right")}, "IN"
	case c.text("type") == "COMPARE_IN":
		operands, operator = c.list("children"), "IN"
	case c.text("class") == "FUNCTION" && c["is_operator"] == true && c.text("function_name") == "~~":
		operands, operator = c.list("children"), "LIKE"
	case c.text("class") == "FUNCTION" && c["is_operator"] == true && c.text("function_name") == "~~~":
		operands, operator = c.list("children"), "GLOB"
	}
	if len(operands) < 2 || operator != "IN" && len(operands) > 2 || operands[0].column() != experimentName {
		return nil, ""
	}
	var texts []string
	for _, o := range operands[1:] {
		value, ok := o.part("value")["value"].(string)
		if o.text("type") != "VALUE_CONSTANT" || !ok || o.part("value", "type").text("id") != "VARCHAR" {
			return nil, ""
		}
		texts = append(texts, value)
	}
	return operands[0], experimentName + " " + operator + " (" + Quote(texts...) + ")"
}

// identifier returns the id of the only experiment that fulfills a condition; "" if none does. ok
// is false if several do, because the engine applies conditions with one id only while it reads.
func (r *resolver) identifier(condition string) (id string, ok bool) {
	var n int
	var found sql.NullString // NULL if there is none
	err := r.conn.QueryRowContext(r.ctx, "SELECT count(DISTINCT experiment_id), min(experiment_id) FROM experiment_names WHERE "+condition).Scan(&n, &found)
	return found.String, err == nil && n < 2
}

// shadowed reports whether the connection has temporary tables, views or functions that hide those
// used here.
func (r *resolver) shadowed() bool {
	var n int
	err := r.conn.QueryRowContext(r.ctx, `SELECT count(*) FROM (
  SELECT table_name FROM duckdb_tables() WHERE temporary UNION ALL
  SELECT view_name FROM duckdb_views() WHERE temporary AND NOT internal UNION ALL
  SELECT function_name FROM duckdb_functions() WHERE database_name = 'temp') t(name)
WHERE lower(name) IN (`+Quote(append(r.used, "experiment_names")...)+")").Scan(&n)
	return err != nil || n > 0
}

// edit inserts the conditions on ids into the query.
func (r *resolver) edit(query string) string {
	slices.SortFunc(r.named, func(a, b namedIn) int { return cmp.Compare(b.at, a.at) })
	for _, n := range r.named {
		var column []string
		for _, part := range n.column {
			column = append(column, identifier(fmt.Sprint(part)))
		}
		column[len(column)-1] = "experiment_id"
		if n.at < 0 || n.at > len(query) {
			continue
		}
		query = query[:n.at] + strings.Join(column, ".") + " = " + quote(n.id) + " AND " + query[n.at:]
	}
	return query
}

// plain returns a copy of a parsed query for comparison: without positions, with nested ANDs as one
// list and, if the query was edited, without the inserted conditions.
func (r *resolver) plain(x any, edited bool) any {
	switch x := x.(type) {
	case syntax:
		return r.plain(map[string]any(x), edited)
	case []any:
		list := make([]any, 0, len(x))
		for _, v := range x {
			list = append(list, r.plain(v, edited))
		}
		return list
	case map[string]any:
		if syntax(x).text("type") == "CONJUNCTION_AND" {
			all := []any{}
			for _, c := range conjuncts(x) {
				if !edited || !r.inserted(c) {
					all = append(all, r.plain(map[string]any(c), edited))
				}
			}
			if len(all) == 1 {
				return all[0]
			}
			return all
		}
		m := map[string]any{}
		for k, v := range x {
			if k != "query_location" {
				m[k] = r.plain(v, edited)
			}
		}
		return m
	}
	return x
}

// inserted reports whether edit has inserted this condition.
func (r *resolver) inserted(c syntax) bool {
	id := c.part("right", "value").text("value")
	return c.text("type") == "COMPARE_EQUAL" && c.part("left").column() == "experiment_id" &&
		slices.ContainsFunc(r.named, func(n namedIn) bool { return n.id == id })
}
