package queries

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"stackmill/schema"
)

// eventMacro is the name of the macro that returns the samples of an event, with a column for each of
// its fields. As these differ by store, a catalog whose store has fields gets a macro of its own.
const eventMacro = "event"

// eventSamples is the query of the samples that the macro returns, before fields and conditions.
// The engine drops each outer join of a group if none of its columns is used.
const eventSamples = `SELECT s.experiment_id, n.experiment, s.sample, s.time_ns, s.process, s.thread_id, s.thread_name, s.cpu, s.stack, k.leaf, p.value%s
FROM perf_samples p
JOIN samples_wide s ON s.experiment_id = p.experiment_id AND s.sample = p.sample
LEFT JOIN experiment_names n ON n.experiment_id = p.experiment_id
LEFT JOIN (
  SELECT l.experiment_id, l.stack, any_value(f.name) AS leaf
  FROM leaf_functions l JOIN functions f ON f.experiment_id = l.experiment_id AND f.function_id = l.function_id
  WHERE l.mode = 'user'
  GROUP BY l.experiment_id, l.stack
) k ON k.experiment_id = s.experiment_id AND k.stack = s.stack
`

// eventQuery returns the query of the macro. fields has, by event, what follows eventSamples; wrong
// says why another event has none.
//
// The text that the query runs must not depend on foreign SQL, which Admit would not see: names only
// select a text of fields. As macros of a connection can replace functions and operators, those used
// here are named in full.
func eventQuery(fields map[string]string, wrong string) string {
	texts, _ := json.Marshal(fields) // it cannot fail
	return fmt.Sprintf(`FROM query(CASE WHEN name IS NULL THEN %s ELSE system.main.concat(%s, COALESCE(
	system.main.map_extract_value(CAST(CAST(%s AS JSON) AS MAP(VARCHAR, VARCHAR)), CAST(name AS VARCHAR)),
	system.main.error(system.main.concat('no event "', name, '" has fields%s')))) END)`,
		quote(fmt.Sprintf(eventSamples, "")+"WHERE false"), quote(fmt.Sprintf(eventSamples, ", f.* EXCLUDE (experiment_id, sample)")), quote(string(texts)), wrong)
}

// What the error of the macro says after `no event has fields`.
const (
	noEvents         = ": the store has no fields of tracepoints"
	unreadableEvents = " that can be read: event_formats is damaged (stackmill check)"
	otherEvents      = " (SELECT DISTINCT event FROM event_formats lists the events that have some)"
)

// readEvents returns the fields of the store's events, as eventQuery wants them.
func readEvents(ctx context.Context, conn *sql.Conn, d *definitions) (map[string]string, error) {
	fields, err := recordsOf(ctx, conn, "SELECT event, field, bool_or(is_text) AS has_texts, bool_or(NOT is_text) AS has_numbers FROM ("+
		rowsQuery(d.store, schema.EventFormats, d.portions)+") GROUP BY ALL ORDER BY event, min(position), field")
	if err != nil {
		return nil, err
	}
	own, err := eventColumns()
	texts := map[string]string{}
	for len(fields) > 0 && err == nil {
		event := fields[0].Text("event")
		n := slices.IndexFunc(fields, func(f Record) bool { return f.Text("event") != event })
		if n < 0 {
			n = len(fields)
		}
		texts[event] = fmt.Sprintf("LEFT JOIN (SELECT experiment_id, sample%s FROM event_fields_wide WHERE event = %[2]s GROUP BY experiment_id, sample) f\n"+
			"ON f.experiment_id = s.experiment_id AND f.sample = s.sample WHERE p.event = %[2]s", fieldColumns(fields[:n], own), quote(event))
		fields = fields[n:]
	}
	return texts, err
}

// eventColumns returns the names of the macro's own columns.
func eventColumns() ([]string, error) {
	views, err := Views()
	if err != nil {
		return nil, err
	}
	return views[slices.IndexFunc(views, func(v View) bool { return v.Name == eventMacro })].ColumnNames(), nil
}

// fieldColumns returns the SQL of the columns of an event's fields. A field whose name the engine does
// not tell apart from that of another column has `field_` before it.
func fieldColumns(fields []Record, own []string) string {
	used := map[string]bool{"": true}
	for _, name := range own {
		used[name] = true
	}
	var sql strings.Builder
	for _, f := range fields {
		name := strings.ReplaceAll(f.Text("field"), "\x00", "\uFFFD")
		for used[strings.ToLower(name)] {
			name = "field_" + name
		}
		used[strings.ToLower(name)] = true
		fmt.Fprintf(&sql, ", max(%s) FILTER (field = %s) AS %s", fieldValue(f["has_texts"] == true, f["has_numbers"] == true), quote(f.Text("field")), identifier(name))
	}
	return sql.String()
}

// fieldValue returns the SQL of the value of a field in event_fields: a number, or a text if the
// field has texts in some experiment.
func fieldValue(hasTexts, hasNumbers bool) string {
	switch {
	case !hasTexts:
		return "number"
	case !hasNumbers:
		return "text"
	}
	return "COALESCE(text, number::VARCHAR)"
}

// hasEvents reports whether a batch has descriptions of fields.
func (d *definitions) hasEvents() bool {
	return slices.ContainsFunc(d.portions, func(p *portion) bool {
		return filesOf(d.store, schema.EventFormats, slices.Values(p.batches)).paths != nil
	})
}

// defineEvents gives a catalog with descriptions of fields the macro of its events.
func (d *definitions) defineEvents(ctx context.Context, conn *sql.Conn) error {
	fields, err := readEvents(ctx, conn, d)
	if err != nil {
		return err
	}
	return execute(ctx, conn, replaceEvents(fields, otherEvents))
}

// replaceEvents returns the statement that replaces the macro.
func replaceEvents(fields map[string]string, wrong string) string {
	return "CREATE OR REPLACE MACRO " + eventMacro + "(name) AS TABLE\n" + eventQuery(fields, wrong)
}
