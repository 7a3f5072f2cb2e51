package queries

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// predicate is SQL for the conditions of a filter, with what it refers to.
type predicate struct {
	sql     string              // calls of sampleFunctions are replaced by columns: the name, _ and the index of the argument
	columns []string            // the columns of sampleColumns that sql uses
	texts   map[string][]string // arguments, by the name of one of sampleFunctions
	fields  []string            // SQL over event_fields_wide for the value of each field of texts
}

// sampleColumns maps the columns that conditions may use to their SQL. It refers to the sample s,
// its experiment e, its process p, its thread's name a, its stack k, its event v and its wait w.
var sampleColumns = map[string]string{
	"experiment": "e.experiment", "host": "e.host", "wall": "make_timestamp(e.started_us + s.time_ns // 1000)",
	"pid": "p.pid", "process": "s.process", "thread_id": "s.thread_id", "thread_name": "a.thread_name", "cgroup": "s.cgroup", "cpu": "s.cpu", "time_ns": "s.time_ns", "kind": "s.kind",
	"leaf": "k.leaf", "leaf_object": "k.leaf_object", "event": "v.event", "state": "wait_state(w.state)",
}

// sampleFunctions are the functions that conditions may call. Each has a text as argument, and
// returns a property of the sample.
var sampleFunctions = []string{"label", "stack_has", "object_has", "during", "field"}

func columnNames() []string {
	return []string{"experiment", "host", "pid", "process", "thread_id", "thread_name", "cgroup", "cpu", "time_ns", "wall", "kind", "leaf", "leaf_object", "event", "state"}
}

// parsePredicate parses conditions, each of which must be a single expression.
func parsePredicate(ctx context.Context, conn *sql.Conn, all []string) (*predicate, error) {
	c := &predicate{texts: map[string][]string{}}
	var parts []string
	for _, text := range all {
		// The line break ends a comment at the end of the text, which would otherwise hide the
		// bracket.
		part, err := c.read(ctx, conn, "("+text+"\n)")
		if err != nil {
			return nil, &FilterError{fmt.Errorf("--where: %s: %w", strings.TrimSpace(text), atItsEnd(text, err))}
		}
		parts = append(parts, "("+part+")")
	}
	c.sql = strings.Join(parts, " AND ")
	slices.Sort(c.columns)
	c.columns = slices.Compact(c.columns)
	return c, nil
}

// atItsEnd rewords a syntax error at the bracket that parsePredicate adds to a condition.
func atItsEnd(text string, err error) error {
	switch {
	case strings.TrimSpace(text) == "":
		return errors.New("the condition is empty")
	case strings.HasPrefix(err.Error(), `syntax error at or near ")"`) && !strings.HasSuffix(strings.TrimSpace(text), ")"):
		return errors.New("syntax error at its end")
	}
	return err
}

// check returns an error if the conditions use a label, phase or field that no experiment has. It
// looks up the types of fields.
func (c *predicate) check(ctx context.Context, db *DB) error {
	for _, of := range []struct{ function, view, column, what, list string }{
		{"label", "labels", "label", "label", "stackmill experiments"}, {"during", "marks", "label", "phase", `stackmill query "FROM marks"`},
		{"field", "event_formats", "field", "field", "stackmill report event-formats"},
	} {
		if len(c.texts[of.function]) == 0 {
			continue
		}
		known, err := db.Texts(ctx, "SELECT DISTINCT "+of.column+" FROM "+of.view+" ORDER BY ALL")
		if err != nil {
			return err
		}
		for _, text := range c.texts[of.function] {
			if !slices.Contains(known, text) {
				return &FilterError{fmt.Errorf("no experiment has a %s %q%s (%s lists them)", of.what, text, Suggest(text, known), of.list)}
			}
		}
	}
	for _, field := range c.texts["field"] {
		var texts, numbers bool
		err := db.QueryRowContext(ctx, "SELECT bool_or(is_text), bool_or(NOT is_text) FROM event_formats WHERE field = "+quote(field)).Scan(&texts, &numbers)
		if err != nil {
			return err
		}
		c.fields = append(c.fields, fieldValue(texts, numbers))
	}
	return nil
}

var errNotOne = errors.New("is not one expression (write what would follow WHERE, without SELECT)")

// read parses one expression with the engine's parser and records what it refers to. In the
// expression that it returns, columns replace the calls of sampleFunctions.
func (c *predicate) read(ctx context.Context, conn *sql.Conn, text string) (string, error) {
	parsed, err := parseSQL(ctx, conn, "SELECT "+text)
	if err != nil {
		return "", err
	}
	expression := oneExpression(parsed)
	if expression == nil {
		return "", errNotOne
	}
	each(expression, func(s syntax) (descend bool) {
		if err == nil {
			descend, err = c.expression(s)
		}
		return descend
	})
	if err != nil {
		return "", err
	}
	changed, err := json.Marshal(parsed)
	if err != nil {
		return "", err
	}
	var sql string
	err = conn.QueryRowContext(ctx, "SELECT json_deserialize_sql("+quote(string(changed))+"::JSON)").Scan(&sql)
	return strings.TrimPrefix(sql, "SELECT "), err
}

// oneExpression returns the expression of a statement that is just SELECT and one expression; nil
// for any other statement.
func oneExpression(parsed syntax) any {
	statements := parsed.list("statements")
	if len(statements) != 1 {
		return nil
	}
	node := statements[0].part("node")
	list, _ := node["select_list"].([]any)
	if node.text("type") != "SELECT_NODE" || node.part("from_table").text("type") != "EMPTY" || node["where_clause"] != nil || len(list) != 1 {
		return nil
	}
	return list[0]
}

// expression records what an expression refers to. descend says whether to visit its parts as well.
func (c *predicate) expression(p syntax) (descend bool, err error) {
	switch p.text("class") {
	case "SUBQUERY":
		return false, errors.New("has a subquery, which is not allowed in a condition on samples")
	case "WINDOW", "STAR", "PARAMETER", "LAMBDA", "POSITIONAL_REFERENCE":
		return false, fmt.Errorf("has a %s, which is not allowed in a condition on samples", strings.ReplaceAll(strings.ToLower(p.text("class")), "_", " "))
	case "COLUMN_REF":
		return false, c.column(p["column_names"])
	case "FUNCTION":
		if name := strings.ToLower(p.text("function_name")); slices.Contains(sampleFunctions, name) {
			n, err := c.call(name, p.list("children"))
			at := p["query_location"]
			clear(p)
			p["class"], p["type"], p["alias"], p["query_location"] = "COLUMN_REF", "COLUMN_REF", "", at
			p["column_names"] = []any{fmt.Sprintf("%s_%d", name, n)}
			return false, err
		}
	}
	return true, nil
}

func (c *predicate) column(names any) error {
	parts, _ := names.([]any)
	var words []string
	for _, p := range parts {
		words = append(words, fmt.Sprint(p))
	}
	name := strings.ToLower(strings.Join(words, "."))
	if _, known := sampleColumns[name]; !known {
		return fmt.Errorf("a sample has no column %q%s (there are %s; put texts in single quotes)", name, Suggest(name, columnNames()), strings.Join(columnNames(), ", "))
	}
	c.columns = append(c.columns, name)
	return nil
}

// call records a call of one of sampleFunctions, and returns the index of its argument.
func (c *predicate) call(name string, arguments []syntax) (int, error) {
	var text any
	if len(arguments) == 1 {
		text = arguments[0].part("value")["value"]
	}
	argument, ok := text.(string)
	if !ok {
		return 0, fmt.Errorf("%s takes one argument, a text in single quotes", name)
	}
	if strings.HasSuffix(name, "_has") {
		if _, err := regexp.Compile(argument); err != nil {
			return 0, fmt.Errorf("%s(%s): %w", name, quote(argument), err)
		}
	}
	n := slices.Index(c.texts[name], argument)
	if n < 0 {
		n = len(c.texts[name])
		c.texts[name] = append(c.texts[name], argument)
	}
	return n, nil
}

// uses reports whether the conditions use one of these columns or functions.
func (c *predicate) uses(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(c.columns, n) || len(c.texts[n]) > 0 })
}
