package wall

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/queries"
)

// texts returns the rows of a query, in order, as texts.
func texts(t *testing.T, from *sql.DB, query string) (list []string) {
	t.Helper()
	rows, err := from.Query(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	if rows.Err() != nil {
		t.Fatalf("%s: %v", query, rows.Err())
	}
	return list
}

// The macro has a row for each sample of an event, with the value of each field that the sample has.
func TestEvent(t *testing.T) {
	want := []string{ // as perf script prints them
		`number=42 amount=100 note="wages" flag=255 hex=0x64`,
		`number=42 amount=101 note="wages" flag=255 hex=0x65`,
		`number=42 amount=102 note="wages" flag=255 hex=0x66`,
		`number=42 amount=103 note="wages" flag=255 hex=0x67`,
	}
	const deposits = `SELECT printf('number=%d amount=%d note="%s" flag=%d hex=0x%x', number, amount, note, flag, hex) FROM event('probe_bank:deposit') WHERE leaf = 'deposit' ORDER BY time_ns LIMIT 4`
	if diff := cmp.Diff(want, texts(t, db.DB, deposits)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	events := texts(t, db.DB, "SELECT DISTINCT event FROM event_formats ORDER BY ALL")
	if len(events) < 15 {
		t.Errorf("only %s", events)
	}
	for _, event := range events {
		var columns []string
		for _, field := range texts(t, db.DB, "SELECT DISTINCT field FROM event_formats WHERE event = "+queries.Quote(event)) {
			column := field
			if slices.Contains([]string{"stack", "value", "cpu", "sample"}, field) {
				column = "field_" + field
			}
			columns = append(columns, fmt.Sprintf(`"%s"::VARCHAR AS "%s"`, column, field))
		}
		narrow := "SELECT experiment_id, sample, field, COALESCE(text, number::VARCHAR) AS text FROM event_fields_wide WHERE event = " + queries.Quote(event)
		wide := "FROM (UNPIVOT (SELECT experiment_id, sample, " + strings.Join(columns, ", ") + " FROM event(" + queries.Quote(event) + ")) ON * EXCLUDE (experiment_id, sample) INTO NAME field VALUE text)"
		differ := texts(t, db.DB, fmt.Sprintf("SELECT printf('%%s', r) FROM ((FROM (%s) EXCEPT ALL FROM (%s)) UNION ALL (FROM (%s) EXCEPT ALL FROM (%s))) r LIMIT 3", wide, narrow, narrow, wide))
		if differ != nil {
			t.Errorf("%s: %s", event, differ)
		}
	}
}

// Conditions on events, states and fields that partition the samples partition the values.
func TestParts(t *testing.T) {
	const all = "SELECT printf('%s %s %s %s %d', experiment_id, mode, metric, \"function\" || function_id, sum(exclusive)) FROM function_metrics GROUP BY experiment_id, mode, metric, \"function\", function_id HAVING sum(exclusive) > 0 ORDER BY ALL"
	want := texts(t, db.DB, all)
	for _, parts := range [][]string{
		{"event = 'sched:sched_switch'", "event <> 'sched:sched_switch'", "event IS NULL"},
		{"state IN ('blocked', 'disk')", "state IN ('preempted', 'runqueue')", "state = 'on'", "state IS NULL"},
		{"field('prev_pid') < field('next_pid')", "field('prev_pid') >= field('next_pid')", "field('prev_pid') IS NULL"},
		{"field('prev_comm') LIKE 'c%'", "field('prev_comm') NOT LIKE 'c%'", "field('prev_comm') IS NULL"},
	} {
		var union []string
		for i, where := range parts {
			part, err := db.Filter(t.Context(), queries.Filter{Where: []string{where}}, "function_metrics")
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("memory.main.part_%d", i)
			if _, err := part.Exec("CREATE OR REPLACE TABLE " + name + " AS FROM function_metrics"); err != nil {
				t.Fatal(err)
			}
			union = append(union, "FROM "+name)
			part.Close()
		}
		got := texts(t, db.DB, strings.Replace(all, "FROM function_metrics", "FROM ("+strings.Join(union, " UNION ALL ")+")", 1))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%.2000s", parts, diff)
		}
	}
}
