package queries

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/queries/storetest"
)

// eventStore describes two experiments: the fields of one event are at other positions, and of other
// types.
const eventStore = `
batch 00000000000000aa a.data /a.data
experiments experiment
  a.data
event_formats event system position field signed is_text
  x:y x 0 pid 1 0
  x:y x 1 comm 0 1
  x:y x 2 state 1 0
  x:y x 3 cpu 1 0
  x:z x 0 comm 0 1
samples sample kind process thread_id cpu time_ns stack
  0 perf 1 7 3 10 -1
  1 perf 1 7 3 20 -1
  2 perf 1 7 3 30 -1
  3 wait 1 7 3 40 -1
  4 perf 1 8 3 50 -1
perf_samples sample event value
  0 x:y 1
  1 x:z 1
  2 x:y 5
  4 unknown 1
wait_samples sample state duration_ns
  3 4 10
event_fields sample position number text
  0 0 -4 null
  0 1 null sh
  0 2 9 null
  0 3 2 null
  1 0 null cat
batch 00000000000000bb b.data /b.data
experiments experiment
  b.data
event_formats event system position field signed is_text
  x:y x 0 comm 0 1
  x:y x 1 pid 1 0
  x:y x 2 state 0 1
samples sample kind process thread_id cpu time_ns stack
  0 perf 1 9 0 10 -1
perf_samples sample event value
  0 x:y 1
event_fields sample position number text
  0 0 null init
  0 1 1 null
  0 2 null R
`

// The fields of an event are columns: one for each name, a text if it is one in some experiment, and
// apart from the columns of the sample.
func TestEvent(t *testing.T) {
	db := open(t, storetest.New(t, eventStore))
	const all = "SELECT experiment, sample, time_ns, thread_id, cpu, value, comm, pid, state, field_cpu FROM event('x:y') ORDER BY ALL"
	want := []string{"a.data 0 10 7 3 1 sh -4 9 2", "a.data 2 30 7 3 5 <nil> <nil> <nil> <nil>", "b.data 0 10 9 0 1 init 1 R <nil>"}
	if diff := cmp.Diff(want, rows(t, db.DB, all)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	columns := rows(t, db.DB, "SELECT column_name, column_type FROM (DESCRIBE FROM event('x:y')) OFFSET 11")
	if diff := cmp.Diff([]string{"comm VARCHAR", "pid BIGINT", "state VARCHAR", "field_cpu BIGINT"}, columns); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	some, err := db.Subset(t.Context(), "b.data")
	if err != nil {
		t.Fatal(err)
	}
	defer some.Close()
	if diff := cmp.Diff(want[2:], rows(t, some.DB, all)); diff != "" {
		t.Errorf("of one experiment: (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(want[1:2], rows(t, filtered(t, db, Filter{Where: []string{"time_ns = 30"}}).DB, all)); diff != "" {
		t.Errorf("of some samples: (-want +got)\n%s", diff)
	}
	memory, err := inMemory(t.Context(), db.Store, db.sees, engineConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	if diff := cmp.Diff(want, rows(t, memory, all)); diff != "" {
		t.Errorf("in memory: (-want +got)\n%s", diff)
	}
}

// A name without fields gives an error that says where the events are listed.
func TestUnknownEvent(t *testing.T) {
	damaged := storetest.New(t, eventStore)
	for _, path := range must(filepath.Glob(filepath.Join(damaged, "tables", "event_formats", "*"))) {
		if err := os.WriteFile(path, []byte("PAR1 is not here"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for store, want := range map[string]string{
		storetest.New(t, eventStore):    `no event "x:'w" has fields (SELECT DISTINCT event FROM event_formats lists`,
		storetest.New(t, storetest.Two): `no event "x:'w" has fields: the store has no fields of tracepoints`,
		damaged:                         `no event "x:'w" has fields that can be read: event_formats is damaged`,
	} {
		if _, err := open(t, store).Query("FROM event('x:''w')"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// hostileNames are names of events and fields that a malicious recording could have.
var hostileNames = []string{`x"`, "it's", `"; DROP VIEW samples; --`, `') FROM enable_logging() --`, `a" FROM enable_logging() f --`, `\`, "a\x00b", "$.x", "/x", "{}", "SELECT", "sample", "field_sample",
	"FIELD_SAMPLE", "%s%d", "é", "\u2028", "*", "", strings.Repeat("long", 1000)}

// Names of events and fields are only names, whatever they are: SQL in them does not run.
func TestHostileFields(t *testing.T) {
	text := "batch 00000000000000aa a.data /a.data\nexperiments experiment\n  a.data\nevent_formats event position field\n"
	samples, perf, fields := "samples sample kind stack\n", "perf_samples sample event\n", "event_fields sample position number\n"
	for n, name := range hostileNames {
		field := func(name string) string {
			quoted := fmt.Sprintf("%q", name)
			return "'" + strings.NewReplacer(`\"`, `"`, "'", `\x27`, " ", "~").Replace(quoted[1:len(quoted)-1]) + "'"
		}
		for position, of := range hostileNames {
			text += fmt.Sprintf("  %s %d %s\n", field(name), position, field(of))
			fields += fmt.Sprintf("  %d %d %d\n", n, position, position+1)
		}
		samples += fmt.Sprintf("  %d perf -1\n", n)
		perf += fmt.Sprintf("  %d %s\n", n, field(name))
	}
	db := open(t, storetest.New(t, text+samples+perf+fields))
	want := "1"
	for i := range len(hostileNames) - 1 {
		want += fmt.Sprint(" ", i+2)
	}
	for n, name := range hostileNames {
		got := rows(t, db.DB, "SELECT * EXCLUDE (experiment_id, experiment, time_ns, process, thread_id, thread_name, cpu, stack, leaf, value) FROM event("+quote(name)+")")
		if diff := cmp.Diff([]string{fmt.Sprint(n, " ", want)}, got); diff != "" {
			t.Errorf("%.40q: (-want +got)\n%s", name, diff)
		}
	}
	if got := rows(t, db.DB, "SELECT count(*) FROM samples"); got[0] != fmt.Sprint(len(hostileNames)) {
		t.Error(got)
	}
}

// A check finds samples that lack some of their fields, and control groups without a path.
func TestCheckOfFields(t *testing.T) {
	const lost, group = "  0 2 9 null\n", "batch 00000000000000aa a.data /a.data\nsamples sample kind cgroup\n  0 perf 77\nperf_samples sample event\n  0 x:y\n"
	if !strings.Contains(eventStore, lost) {
		t.Fatal("nothing is lost")
	}
	const problem = "problems problem reason\n  0 %s\n"
	for _, test := range []struct{ store, view string }{
		{eventStore, ""},
		{strings.Replace(eventStore, lost, "", 1), "event_list"},
		{strings.Replace(strings.Replace(eventStore, lost, "", 1), "samples sample", fmt.Sprintf(problem, "short-fields")+"samples sample", 1), ""},
		{group, "cgroup_metrics"},
		{group + fmt.Sprintf(problem, "unnamed-cgroup"), ""},
		{strings.Replace(group, " 77", " /77", 1), ""},
	} {
		found, err := Check(t.Context(), storetest.New(t, test.store), CheckOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var views []string
		for _, w := range found.Wrong {
			if w.Where == "event_list" || w.Where == "cgroup_metrics" {
				views = append(views, w.Where)
			}
		}
		if got := strings.Join(views, " "); got != test.view {
			t.Errorf("%s: wrong are %q, want %q: %v", test.store, got, test.view, found.Wrong)
		}
	}
}

// Macros that replace what the macro uses do not make it run other SQL.
func TestEventWithReplacedFunctions(t *testing.T) {
	db := open(t, storetest.New(t, eventStore))
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	text := ""
	for _, f := range []string{"concat(a, b) AS 'SELECT 1', (a, b, c)", "map_extract_value(a, b)", `"||"(a, b)`, "coalesce(a, b)", "error(a)", "json(a)"} {
		text += "CREATE TEMP MACRO " + f + " AS 'SELECT 1 AS hacked'; "
	}
	if err := ask(t.Context(), db, conn, text+"SELECT pid FROM event('x:y')"); err != nil {
		t.Error(err)
	}
}

// Fields, events and states are conditions; a field is a text if it is one in some experiment.
func TestFieldConditions(t *testing.T) {
	db := open(t, storetest.New(t, eventStore))
	for where, want := range map[string][]string{
		"field('pid') < 0":                    {"a.data 0"},
		"field('pid') IS NULL":                {"a.data 1", "a.data 2", "a.data 3", "a.data 4"},
		"field('pid') + field('pid') = 2":     {"b.data 0"},
		"field('state') IN ('9', 'R')":        {"a.data 0", "b.data 0"},
		"field('comm') = 'cat'":               {"a.data 1"},
		"event = 'x:y' AND thread_id = 7":     {"a.data 0", "a.data 2"},
		"event IS NULL":                       {"a.data 3"},
		"state = 'blocked'":                   {"a.data 3"},
		"state IS NULL AND event = 'unknown'": {"a.data 4"},
	} {
		got := rows(t, filtered(t, db, Filter{Where: []string{where}}).DB, "SELECT experiment, sample FROM samples JOIN experiment_names USING (experiment_id) ORDER BY ALL")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", where, diff)
		}
	}
	for where, want := range map[string]string{
		"field('pidd') = 1": `no experiment has a field "pidd", did you mean`,
		"field(pid) = 1":    "field takes one argument",
		"field('comm') = 1": "Could not convert string",
	} {
		if _, err := db.Filter(context.Background(), Filter{Where: []string{where}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", where, err, want)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
