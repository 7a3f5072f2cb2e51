package page

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackmill/cmd/acceptance/suite"
	"stackmill/internal/corpus"
	"stackmill/pipeline"
	"stackmill/queries"
)

// timelineAnswer is the part of an answer of /api/v1/timeline that the tests read.
type timelineAnswer struct {
	From         int64 `json:"from_ns"`
	Until        int64 `json:"until_ns"`
	Width        int64 `json:"width_ns"`
	Value, Whole int64
	Marked       int64
	Rule         string
	Groups       []timelineGroup

	Processes, Threads, Found int
	Rows                      []timelineRow
	Rest                      timelineRest
	Bars                      struct{ Row, Interval, Group, Value []int64 }
}

type timelineGroup struct {
	Name   string
	Value  int64
	Others int
}

type timelineRow struct {
	Key, Kind, Name string
	Names           []string
	PID             int64
	Thread          int64 `json:"thread_id"`
	CPU             int32
	Value, Whole    int64
	Marked          int64
	First           int64 `json:"first_ns"`
	Threads         int
}

type timelineRest struct{ Rows, Threads, Value, Whole int64 }

// askTimeline requests a timeline of a server.
func askTimeline(t *testing.T, site string, parameters ...string) (a timelineAnswer) {
	t.Helper()
	query := url.Values{}
	for i := 0; i < len(parameters); i += 2 {
		query.Add(parameters[i], parameters[i+1])
	}
	r, err := http.NewRequest(http.MethodGet, site+"/api/v1/timeline?"+query.Encode(), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%v: %s: %v: %.300s", parameters, response.Status, err, text)
	}
	return a
}

// cells returns the value of each interval of each row, by the row's thread or CPU and the interval's start; -1 is the
// sum of all rows.
func (a *timelineAnswer) cells(kind string) map[[2]int64]int64 {
	of := map[[2]int64]int64{}
	for i, row := range a.Bars.Row {
		id := int64(-1)
		if row >= 0 {
			r := a.Rows[row]
			if r.Kind != kind {
				continue
			}
			id = map[string]int64{"thread": r.Thread, "process": r.PID, "cpu": int64(r.CPU)}[kind]
		}
		of[[2]int64{id, a.From + a.Bars.Interval[i]*a.Width}] += a.Bars.Value[i]
	}
	return of
}

// cellsInSQL returns the same cells from SQL: a query for the columns id, t0 and value.
func cellsInSQL(t *testing.T, db *queries.DB, query string) map[[2]int64]int64 {
	t.Helper()
	found, err := db.Records(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	of := map[[2]int64]int64{}
	for _, f := range found {
		v := f.Number("value")
		of[[2]int64{f.Number("id"), f.Number("t0")}] += v
		of[[2]int64{-1, f.Number("t0")}] += v
	}
	return of
}

func sameCells(t *testing.T, what string, got, want map[[2]int64]int64) {
	t.Helper()
	wrong := 0
	for at, v := range want {
		if got[at] != v {
			if wrong++; wrong < 4 {
				t.Errorf("%s: row %d at %d ns is %d, SQL says %d", what, at[0], at[1], got[at], v)
			}
		}
	}
	if len(got) != len(want) || len(want) == 0 {
		t.Errorf("%s: %d cells, SQL has %d", what, len(got), len(want))
	}
}

// The values of a timeline are SQL's, for each thread, CPU and process in each interval, zoomed and filtered as well.
func TestTimelineValues(t *testing.T) {
	const from = ` FROM sample_metrics v JOIN samples s USING (experiment_id, sample) JOIN experiment_names n USING (experiment_id) LEFT JOIN processes p USING (experiment_id, process)
		WHERE n.experiment = 'omp_gcc.er' AND v.metric = 'totalcpu' `
	for _, of := range []struct{ kind, column, where, time, sql string }{
		{"thread", "s.thread_id", "", "", ""},
		{"process", "p.pid", "", "", ""},
		{"cpu", "s.cpu", "", "", ""},
		{"thread", "s.thread_id", "cpu = 1", "", " AND s.cpu = 1"},
		{"thread", "s.thread_id", "", "0.3s,0.7s", " AND time_ns >= 300_000_000 AND time_ns < 700_000_000"},
	} {
		parameters := []string{"experiment", "omp_gcc.er", "metric", "totalcpu", "unfold", "first", "rows", "processes", "time", of.time}
		if of.kind == "cpu" {
			parameters[7] = "cpus"
		}
		if of.where != "" {
			parameters = append(parameters, "where", of.where)
		}
		a := askTimeline(t, site, parameters...)
		want := cellsInSQL(t, store, fmt.Sprintf("SELECT %s::BIGINT AS id, s.time_ns // %d * %[2]d AS t0, sum(v.value)::BIGINT AS value%s GROUP BY ALL", of.column, a.Width, from+of.sql))
		sameCells(t, fmt.Sprint(of), a.cells(of.kind), want)
		total := int64(0)
		for at, v := range want {
			if at[0] == -1 {
				total += v
			}
		}
		groups := int64(0)
		for _, g := range a.Groups {
			groups += g.Value
		}
		if a.Value != total || groups != total {
			t.Errorf("%v: the total is %d, its groups %d, SQL says %d", of, a.Value, groups, total)
		}
		if intervals := (a.Until - a.From) / a.Width; intervals > 240 || intervals < 80 || !slices.Contains([]byte("125"), fmt.Sprint(a.Width)[0]) {
			t.Errorf("%v: %d intervals of %d ns", of, intervals, a.Width)
		}
	}
}

// A marked time has SQL's value, also if it ends within intervals.
func TestTimelineMarked(t *testing.T) {
	a := askTimeline(t, site, "experiment", "omp_gcc.er", "metric", "totalcpu", "unfold", "first", "marked", "0.3137s,0.7171s")
	want := cellsInSQL(t, store, `SELECT s.thread_id AS id, 0 AS t0, sum(v.value)::BIGINT AS value FROM sample_metrics v JOIN samples s USING (experiment_id, sample)
		JOIN experiment_names n USING (experiment_id) WHERE n.experiment = 'omp_gcc.er' AND v.metric = 'totalcpu' AND time_ns >= 313_700_000 AND time_ns < 717_100_000 GROUP BY ALL`)
	if a.Marked != want[[2]int64{-1, 0}] || a.Marked == 0 || a.Marked == a.Whole {
		t.Errorf("%d of %d, want %d", a.Marked, a.Whole, want[[2]int64{-1, 0}])
	}
	for _, r := range a.Rows {
		if r.Kind == "thread" && r.Marked != want[[2]int64{r.Thread, 0}] {
			t.Errorf("thread %d: %d, want %d", r.Thread, r.Marked, want[[2]int64{r.Thread, 0}])
		}
	}
}

// The groups of a timeline have the exclusive values of their load objects, modules and functions.
func TestTimelineGroups(t *testing.T) {
	for rule, view := range map[string]string{
		"load-object": "SELECT load_object AS name, exclusive AS value FROM load_object_metrics", "module": "SELECT module AS name, exclusive AS value FROM module_metrics",
		"function": `SELECT "function" AS name, exclusive AS value FROM function_metrics`,
	} {
		a := askTimeline(t, site, "experiment", "cxx.er", "metric", "totalcpu", "by", rule)
		found, err := store.Records(t.Context(), "SELECT name, sum(value)::BIGINT AS value FROM ("+view+` WHERE experiment = 'cxx.er' AND metric = 'totalcpu' AND mode = 'user') WHERE name <> '<Total>' AND value > 0 GROUP BY ALL ORDER BY 2 DESC`)
		if err != nil {
			t.Fatal(err)
		}
		named := slices.DeleteFunc(slices.Clone(a.Groups), func(g timelineGroup) bool { return g.Others > 0 })
		for i, g := range named {
			if i >= len(found) || g.Value != found[i].Number("value") || filepath.Base(g.Name) != filepath.Base(found[i].Text("name")) && g.Value != found[min(i+1, len(found)-1)].Number("value") {
				t.Errorf("%s: group %d is %v, SQL has %v", rule, i, g, found)
			}
		}
		if len(named) == 0 || a.Rule != rule {
			t.Errorf("%s: %v by %s", rule, a.Groups, a.Rule)
		}
	}
	a := askTimeline(t, site, "experiment", "recur.er", "metric", "totalcpu", "groups", "Parity=^is_(even|odd)$", "groups", "All else=.")
	var parity int64
	if err := store.QueryRow(`SELECT sum(exclusive)::BIGINT FROM function_metrics WHERE experiment = 'recur.er' AND metric = 'totalcpu' AND mode = 'user' AND "function" IN ('is_even', 'is_odd')`).Scan(&parity); err != nil {
		t.Fatal(err)
	}
	of := map[string]int64{}
	for _, g := range a.Groups {
		of[g.Name] = g.Value
	}
	if of["Parity"] != parity || parity == 0 || of["All else"] != a.Value-parity {
		t.Errorf("%v, want %d of %d", of, parity, a.Value)
	}
}

// Threads have the names and values that perf prints, the latest name first, and the busiest thread comes first.
func TestTimelineNames(t *testing.T) {
	s, db := renaming(t)
	lines, err := os.ReadFile("../../../stages/decode/perfdata/testdata/names/perf-script.tsv")
	if err != nil {
		t.Fatal(err)
	}
	names, samples := map[string][]string{}, map[string]int{}
	for line := range strings.Lines(string(lines)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t") // count, process, thread, name
		names[f[2]] = append(names[f[2]], f[3])
		n := 0
		fmt.Sscan(f[0], &n)
		samples[f[2]] += n
	}
	const metric = "cpu-clock:u.samples"
	closed := askTimeline(t, s.address, "metric", metric)
	unfold := []string{"metric", metric}
	for _, r := range closed.Rows {
		unfold = append(unfold, "unfold", r.Key)
	}
	a := askTimeline(t, s.address, unfold...)
	if len(a.Rows) != len(names)+len(closed.Rows) || a.Threads != len(names) {
		t.Fatalf("%+v, want threads %v", a.Rows, names)
	}
	var busiest timelineRow
	last := a.Whole
	for _, r := range a.Rows {
		if r.Kind == "process" {
			last = r.Whole
			continue
		}
		id := fmt.Sprint(r.Thread)
		got, want := slices.Sorted(slices.Values(r.Names)), slices.Compact(slices.Sorted(slices.Values(names[id])))
		if !slices.Equal(got, want) || r.Name != r.Names[0] || int(r.Whole) != samples[id] || r.Whole > last {
			t.Errorf("thread %s: %q with %d after %d, perf says %q with %d", id, r.Names, r.Whole, last, want, samples[id])
		}
		if last = r.Whole; busiest.Key == "" {
			busiest = r
		}
		var latest string
		if err := db.QueryRow("SELECT arg_max(thread_name, name_no) FROM thread_names WHERE thread_id = ?", r.Thread).Scan(&latest); err != nil || latest != r.Name {
			t.Errorf("thread %s is %q, the latest name is %q (%v)", id, r.Name, latest, err)
		}
	}
	// The search finds a thread by a name that it had earlier, and by its number.
	for _, search := range []string{busiest.Names[1], fmt.Sprint(busiest.Thread), "/^" + busiest.Names[1] + "$/"} {
		found := askTimeline(t, s.address, "search", search, "metric", metric)
		if found.Found != 1 || len(found.Rows) != 2 || found.Rows[1].Key != busiest.Key {
			t.Errorf("%q finds %+v", search, found.Rows)
		}
	}
	if none := askTimeline(t, s.address, "search", "no such thread"); none.Found != 0 || len(none.Rows) != 0 || none.Whole == 0 {
		t.Errorf("a search without a result finds %+v", none)
	}
}

// renaming serves a store of a recording whose threads change their names.
func renaming(t *testing.T) (*server, *queries.DB) {
	t.Helper()
	packed, err := os.Open("../../../stages/decode/perfdata/testdata/names/names.data.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(bufio.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "names.data")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	db, err := suite.Open(pipeline.Options{Store: filepath.Join(dir, "store")}, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return served(t, db.Store, nil), db
}

// crowded serves a store of a recording of all processes of a machine.
func crowded(t *testing.T) (*server, *queries.DB) {
	t.Helper()
	root, err := corpus.Root()
	if err != nil {
		t.Fatal(err)
	}
	db, err := suite.Open(pipeline.Options{Store: filepath.Join(t.TempDir(), "store")}, filepath.Join(root, "testdata", "wall", "naps_all.data"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return served(t, db.Store, nil), db
}

// The busiest processes come first, and those without a row are counted and summed.
func TestTimelineRest(t *testing.T) {
	s, db := crowded(t)
	const metric = "sched:sched_switch"
	found, err := db.Records(t.Context(), "SELECT pid, value FROM process_metrics WHERE mode = 'user' AND metric = $1 ORDER BY value DESC, pid", metric)
	if err != nil {
		t.Fatal(err)
	}
	all := askTimeline(t, s.address, "metric", metric, "limit", "500")
	if len(found) < 5 || all.Processes != len(found) || len(all.Rows) != len(found) {
		t.Fatalf("%d rows of %d processes, SQL has %d", len(all.Rows), all.Processes, len(found))
	}
	for i, r := range all.Rows {
		if r.PID != found[i].Number("pid") || r.Whole != found[i].Number("value") {
			t.Errorf("row %d is process %d with %d, SQL says %v", i, r.PID, r.Whole, found[i])
		}
	}
	few := askTimeline(t, s.address, "metric", metric, "limit", "2", "pin", all.Rows[3].Key)
	shown := int64(0)
	for _, r := range few.Rows {
		shown += r.Whole
	}
	if len(few.Rows) != 3 || few.Rows[0].Key != all.Rows[3].Key || few.Rows[1].Key != all.Rows[0].Key || few.Rest.Rows != int64(len(found)-3) || few.Rest.Whole+shown != few.Whole {
		t.Errorf("%+v, the rest %+v of %d", few.Rows, few.Rest, few.Whole)
	}
	for order, sorted := range map[string]func(i int) bool{
		"start": func(i int) bool { return all.Rows[i-1].First <= all.Rows[i].First },
		"name":  func(i int) bool { return all.Rows[i-1].Name <= all.Rows[i].Name },
	} {
		all = askTimeline(t, s.address, "metric", metric, "limit", "500", "order", order)
		for i := 1; i < len(all.Rows); i++ {
			if !sorted(i) {
				t.Errorf("by %s, row %d is %+v after %+v", order, i, all.Rows[i], all.Rows[i-1])
			}
		}
	}
}
