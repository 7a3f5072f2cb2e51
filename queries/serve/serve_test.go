package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"stackmill/queries"
	"stackmill/queries/report"
	"stackmill/queries/result"
	"stackmill/queries/storetest"
)

// answerEnv is the name of an environment variable. If it is set, the test's program answers a request; its value are
// the server's options in JSON.
const answerEnv = "STACKMILL_TEST_ANSWER"

func TestMain(m *testing.M) {
	if text := os.Getenv(answerEnv); text != "" {
		var o Options
		err := json.Unmarshal([]byte(text), &o)
		if err == nil {
			err = Answer(context.Background(), o, os.Stdin, os.Stdout)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// served is a server for a store, and a client of it.
type served struct {
	*Server
	t   *testing.T
	web *httptest.Server
}

// start starts a server for a store; change may change its options.
func start(t *testing.T, store string, change func(*Options)) *served {
	t.Helper()
	o := Options{
		Store: store, Version: "test", Memory: 256 << 20, Timeout: time.Minute, Concurrent: 4, Waiting: 200, Largest: 1 << 20,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	if change != nil {
		change(&o)
	}
	options, err := json.Marshal(struct {
		Store, Version string
		Memory         int64
		Timeout        time.Duration
		Largest        int
	}{o.Store, o.Version, o.Memory, o.Timeout, o.Largest})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(answerEnv, string(options))
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o.Program = []string{program}
	s, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := s.Handler()
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(handler)
	at, err := url.Parse(web.URL)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(at.Port(), &s.Port); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		web.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &served{s, t, web}
}

// ask sends a request, and returns the response with its body.
func (s *served) ask(method, path, body string, header ...string) (*http.Response, []byte) {
	s.t.Helper()
	r, err := http.NewRequest(method, s.web.URL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", jsonType)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		} else {
			r.Header.Set(header[i], header[i+1])
		}
	}
	response, err := s.web.Client().Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response, text
}

// get returns the body of an answer.
func (s *served) get(path string) string {
	s.t.Helper()
	response, text := s.ask("GET", path, "")
	if response.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %s: %s", path, response.Status, text)
	}
	return string(text)
}

// sql sends SQL, and returns the status and the body of the answer.
func (s *served) sql(text string) (int, string) {
	s.t.Helper()
	body, err := json.Marshal(map[string]string{"sql": text})
	if err != nil {
		s.t.Fatal(err)
	}
	response, answer := s.ask("POST", "/api/v1/query", string(body))
	return response.StatusCode, string(answer)
}

// Each view has the same rows as `stackmill report` for the experiment, with and without filters.
func TestViews(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	s := start(t, store, nil)
	db, err := queries.OpenWith(t.Context(), store, queries.Options{Only: []string{"monday/test.1.er"}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	narrowed, err := db.Filter(t.Context(), queries.Filter{Threads: []int64{4712}, Mode: "user"}, "function_metrics", "call_tree", "timeline")
	if err != nil {
		t.Fatal(err)
	}
	defer narrowed.Close()
	for _, r := range report.Reports {
		for query, from := range map[string]*queries.DB{"": db, "&thread=4712": narrowed, "&where=thread_id+%3D+4712": narrowed} {
			// Not all views are tested with all filters: filters have tests of their own, and a request with SQL
			// starts a process.
			if strings.HasPrefix(query, "&thread") && r.Name != "call-tree" && r.Name != "timeline" || strings.HasPrefix(query, "&where") && r.Name != "functions" {
				continue
			}
			request := report.Defaults()
			if err := request.About(r.Name, false); err != nil {
				t.Fatal(err)
			}
			q, err := report.Ask(t.Context(), from, &request)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := q.Rows(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var want bytes.Buffer
			if err := result.Print(result.JSON(&want), rows); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want.String(), s.get("/api/v1/views/"+r.Name+"?experiment=monday/test.1.er"+query)); d != "" {
				t.Errorf("%s%s (-reported +served):\n%s", r.Name, query, d)
			}
		}
	}
	for _, format := range formatNames() {
		if text := s.get("/api/v1/views/functions?format=" + format); !strings.Contains(text, "main") {
			t.Errorf("%s: %q", format, text)
		}
	}
}

// Rows have only the requested columns, in the requested order. Intervals can have any width.
func TestColumns(t *testing.T) {
	s := start(t, storetest.New(t, storetest.Two), nil)
	for path, want := range map[string]string{
		"experiments?columns=host,experiment":                                                          `{"host":"box","experiment":"monday/test.1.er"}`,
		"views/functions?columns=exclusive,function&function=g&experiment=monday/test.1.er":            `{"exclusive":40000000,"function":"g"}`,
		"views/seconds?columns=t0_ns,value&experiment=monday/test.1.er&width=25ms&between=1s,&limit=1": `{"t0_ns":1050000000,"value":30000000}`,
	} {
		if got := s.get("/api/v1/" + path); !strings.Contains(got, "\n"+want) {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// If a request cannot be answered, the response has a status and a reason.
func TestMistakes(t *testing.T) {
	s := start(t, storetest.New(t, storetest.Two), nil)
	for path, want := range map[string]string{
		"/api/v1/views/nonsense":                                               `404 no view "nonsense"`,
		"/api/v1/views/functions?experiment=%5B":                               `400 no experiment matches "[": syntax error in pattern`,
		"/api/v1/views/functions?between=5":                                    `400 between: "5": FROM,UNTIL is needed`,
		"/api/v1/views/functions?experiment=nonsense":                          `404 no experiment matches "nonsense"`,
		"/api/v1/views/functions?metric=nonsense":                              `400 no metric "nonsense"`,
		"/api/v1/views/functions?mode=nonsense":                                `400 mode: unknown value "nonsense"`,
		"/api/v1/views/functions?function=nonsense":                            `400 no function "nonsense"`,
		"/api/v1/views/functions?limit=-1":                                     `400 limit: "-1" is not a non-negative integer`,
		"/api/v1/views/functions?limit=1&limit=2":                              `400 limit is given 2 times`,
		"/api/v1/views/functions?sort=nonsense":                                `400 sort: function_metrics has no column`,
		"/api/v1/views/functions?colour=red":                                   `400 /api/v1/views/{name} has no parameter "colour"`,
		"/api/v1/views/functions?where=colour+%3D+1":                           `400 where: colour = 1: a sample has no column`,
		"/api/v1/views/functions?where=(SELECT+1)%3D1":                         `400 where: (SELECT 1)=1: has a subquery`,
		"/api/v1/views/functions?thread=x":                                     `400 thread: "x" is not an integer`,
		"/api/v1/views/functions?hide=libq.so":                                 `400 no load object`,
		"/api/v1/views/timeline?width=x":                                       `400 width: "x" is not a duration`,
		"/api/v1/views/functions?columns=nonsense":                             `400 columns: function_metrics has no column "nonsense"`,
		"/api/v1/experiments?columns=nonsense":                                 `400 columns: experiments have no column "nonsense"`,
		"/api/v1/views/functions?width=20ms":                                   `400 width has no effect on functions (it applies to timeline, cpu-timeline, seconds)`,
		"/api/v1/flamegraph?metric=nonsense":                                   `400 no metric "nonsense"`,
		"/api/v1/annotate?metric=nonsense":                                     `400 no metric "nonsense"`,
		"/api/v1/annotate?key=x":                                               `400 key: "x" is not an integer`,
		"/api/v1/flamegraph?root=main":                                         `400 root: "main" is not the id of a node`,
		"/api/v1/flamegraph?root=00000000000000ff":                             `404 root: the call tree of this selection has no node 00000000000000ff`,
		"/api/v1/flamegraph?window=0.5,0.25":                                   `400 window: "0.5,0.25" is not FROM,UNTIL with 0 <= FROM < UNTIL <= 1`,
		"/api/v1/flamegraph?window=0,NaN":                                      `400 window: "0,NaN" is not FROM,UNTIL`,
		"/api/v1/flamegraph?of=main":                                           `400 of: give it only if side is callers or callees`,
		"/api/v1/flamegraph?nodes=3":                                           `400 /api/v1/flamegraph has no parameter "nodes"`,
		"/api/v1/flamegraph/search":                                            `400 search is missing`,
		"/api/v1/flamegraph/search?search=/a**/":                               `400 search: /a**/ is not a regular expression: invalid nested repetition operator in **`,
		"/api/v1/trend?function=nonsense":                                      `400 no function "nonsense" has a value of totalcpu`,
		"/api/v1/trend?limit=3":                                                `400 limit needs function: without a function, only <Total> is shown`,
		"/api/v1/trend?limit=0":                                                `400 limit: 0 is less than 1`,
		"/api/v1/compare?base=monday/test.1.er":                                `400 test is missing`,
		"/api/v1/compare?base=x&test=y":                                        `404 no experiment matches "x"`,
		"/api/v1/compare?base=monday/test.1.er&test=monday/test.1.er&judged=x": `400 judged: unknown value "x"`,
		"/api/v1/compare?base=started=2027..&test=monday/test.1.er":            `404 no experiment is in started=2027..`,
		"/api/v1/query":                                                        `405 GET /api/v1/query: use POST`,
		"/../../etc/passwd":                                                    `404 GET /etc/passwd: no such page or endpoint`,
		"/api/v1/views/..%2f..%2fetc%2fpasswd":                                 `404 no view "../../etc/passwd"`,

		"/api/v1/unknown?metric=nonsense":                               `400 no metric "nonsense"`,
		"/api/v1/unknown?only=reasons":                                  `400 only: unknown value "reasons"`,
		"/api/v1/data-objects?metric=nonsense":                          `400 no metric "nonsense"`,
		"/api/v1/data-objects/layout":                                   `400 type is missing`,
		"/api/v1/memory?by=byte":                                        `400 by: unknown value "byte"`,
		"/api/v1/heap?process=x":                                        `400 process: "x" is not an integer`,
		"/api/v1/files?limit=-1":                                        `400 limit: "-1" is not a non-negative integer`,
		"/api/v1/stacks?kind=file":                                      `400 item is missing`,
		"/api/v1/memory/accesses?experiment=*&process=1&address=0x7000": `400 experiment selects 2 experiments: an address is of one`,

		"/api/v1/timeline?time=5s":                                               `400 time: "5s" is not FROM,UNTIL`,
		"/api/v1/timeline?marked=2s,1s":                                          `400 marked: time: "2s,1s" ends before it starts`,
		"/api/v1/timeline?limit=2001":                                            `400 limit is at most 2000 and intervals from 1 to 4000`,
		"/api/v1/timeline?intervals=0":                                           `400 limit is at most 2000 and intervals from 1 to 4000`,
		"/api/v1/timeline?search=/(/":                                            `400 search: /(/ is not a regular expression: missing closing ) in (`,
		"/api/v1/timeline?groups=collector":                                      `400 groups: "collector" is not NAME=EXPRESSION`,
		"/api/v1/timeline?groups=collector%3D(":                                  `400 groups: "collector": "(" is not a regular expression: missing closing )`,
		"/api/v1/timeline?by=nonsense":                                           `400 by: unknown value "nonsense"`,
		"/api/v1/timeline?metric=nonsense":                                       `400 no metric "nonsense"`,
		"/api/v1/heatmap?column=x":                                               `400 column: "x" is not a duration`,
		"/api/v1/heatmap?column=1ns":                                             `400 column: "1ns" is not a duration such as 1s, of at least a nanosecond for each cell`,
		"/api/v1/heatmap?cells=0":                                                `400 limit is from 1 to 4000 and cells from 1 to 1000`,
		"/api/v1/heatmap?limit=0":                                                `400 limit is from 1 to 4000 and cells from 1 to 1000`,
		"/api/v1/heatmap?time=5s":                                                `400 time: "5s" is not FROM,UNTIL`,
		"/api/v1/thread-states?time=5s":                                          `400 time: "5s" is not FROM,UNTIL`,
		"/api/v1/thread-states?time=5s,x":                                        `400 time: "x" is not a time`,
		"/api/v1/thread-states?time=2s,1s":                                       `400 time: "2s,1s" ends before it starts`,
		"/api/v1/thread-states?time=2026-11-21,":                                 `400 time: "2026-11-21" is not a time since the experiment's start (10s)`,
		"/api/v1/thread-states?threads=501":                                      `400 threads is at most 500 and intervals from 1 to 5000`,
		"/api/v1/thread-states?threads=500&intervals=501":                        `400 threads times intervals is at most 250000`,
		"/api/v1/thread-states?intervals=0":                                      `400 threads is at most 500 and intervals from 1 to 5000`,
		"/api/v1/thread-states/period?experiment=*&thread=1&at=1":                `400 experiment selects 2 experiments: a state is of one`,
		"/api/v1/thread-states/period?experiment=00000000000000aa&thread=x&at=1": `400 thread: "x" is not an integer`,
	} {
		response, text := s.ask("GET", path, "")
		var told struct{ Error string }
		if err := json.Unmarshal(text, &told); err != nil {
			t.Errorf("%s: %v: %s", path, err, text)
		}
		if got := fmt.Sprintf("%d %s", response.StatusCode, told.Error); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// SQL can read the store and nothing else, within the limits of time and memory.
func TestSQL(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	s := start(t, store, nil)
	for sql, want := range map[string]string{
		"SELECT count(*) AS n FROM experiments":                     `200 [`,
		"CREATE TEMP TABLE t AS SELECT 1 AS x; SELECT x + 1 FROM t": `200 [`,
		"SELECT nonsense":              `400 {"error":"Binder Error`,
		"SELECT":                       `400 {"error":"Parser Error`,
		" ; ":                          `400 {"error":"the field sql is empty`,
		"DROP VIEW samples":            `403 {"error":"DROP is refused`,
		"COPY samples TO 'x.csv'":      `403 {"error":`,
		"ATTACH 'x.db'":                `403 {"error":"ATTACH is refused`,
		"INSTALL httpfs":               `403 {"error":`,
		"SET memory_limit = '100GB'":   `403 {"error":`,
		"FROM read_csv('/etc/passwd')": `403 {"error":`,
		"FROM read_text('" + store + "/commits/../x')":                       `403 {"error":`,
		"FROM glob('/etc/*')":                                                `403 {"error":`,
		"SELECT * FROM range(100000)":                                        `413 {"error":"the answer has more than 1048576 bytes`,
		"SELECT list(i::VARCHAR || '..........') FROM range(300000000) t(i)": `413 {"error":`,
	} {
		status, text := s.sql(sql)
		if got := fmt.Sprintf("%d %s", status, text); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %.300s, want %s", sql, got, want)
		}
	}
	if status, text := s.sql("SELECT sum(exclusive) FROM function_metrics"); status != 200 || !strings.Contains(text, "sum") {
		t.Errorf("%d %s", status, text)
	}
	response, text := s.ask("POST", "/api/v1/query", `{"sql": "SELECT sum(exclusive) FROM function_metrics"}`)
	var warnings []string
	if err := json.Unmarshal([]byte(response.Header.Get("Stackmill-Warning")), &warnings); err != nil || len(warnings) == 0 || !strings.Contains(warnings[0], "(filter on mode = 'user'") {
		t.Errorf("no warning of a sum over modes: %q %v %s", warnings, err, text)
	}
	if response, text := s.ask("POST", "/api/v1/query", `{"sql": "SELECT hash(i) FROM range(10000000000) t(i)", "format": "parquet"}`); response.StatusCode != 413 {
		t.Errorf("a large Parquet file: %s: %.200s", response.Status, text)
	}
	for body, want := range map[string]int{`{"sql": 1}`: 400, `{"query": "SELECT 1"}`: 400, `nonsense`: 400, `{"sql": "SELECT 1"}{"sql": "SELECT 2"}`: 400, `{"sql": "SELECT 1"} x`: 400, `{"sql": "SELECT 1", "format": "nonsense"}`: 400, `{"sql": "` + strings.Repeat(" ", maxBody) + `"}`: 413} {
		if response, text := s.ask("POST", "/api/v1/query", body); response.StatusCode != want {
			t.Errorf("%.50s: %s: %s, want %d", body, response.Status, text, want)
		}
	}
	if response, text := s.ask("POST", "/api/v1/query", `{"sql": "SELECT 1"}`, "Content-Type", "text/plain"); response.StatusCode != http.StatusUnsupportedMediaType || !strings.Contains(string(text), "send Content-Type: application/json") {
		t.Errorf("of a form: %s: %s", response.Status, text)
	}
}

// Answers to SQL are not cached, because they may differ each time.
func TestAnswersOfSQL(t *testing.T) {
	s := start(t, storetest.New(t, storetest.Two), nil)
	_, first := s.sql("SELECT uuid() AS id")
	if _, again := s.sql("SELECT uuid() AS id"); again == first {
		t.Errorf("the same twice: %s", again)
	}
	const path = "/api/v1/views/functions?limit=1&where=wall+%3C+now()"
	for range 2 {
		if response, text := s.ask("GET", path, ""); response.StatusCode != 200 || response.Header.Get("ETag") != "" {
			t.Errorf("%s with a tag %q: %s", response.Status, response.Header.Get("ETag"), text)
		}
	}
	s.metrics.mu.Lock()
	defer s.metrics.mu.Unlock()
	if n := s.metrics.byPath["/api/v1/views/{name}"].answered; n != 2 {
		t.Errorf("%d of 2 requests were worked on", n)
	}
}

// SQL that does not end, or uses more and more memory, is killed. Other requests are still answered.
func TestEndlessSQL(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	short := start(t, store, func(o *Options) { o.Timeout = 2 * time.Second })
	if status, text := short.sql("SELECT sum(a.i * b.i) FROM range(10000000) a(i), range(10000000) b(i)"); status != StatusLate {
		t.Errorf("%d %s", status, text)
	}
	short.get("/healthz")
	// The SQL engine does not count the memory that functions use.
	s := start(t, store, nil)
	if status, text := s.sql("SELECT max(length(repeat('x', 1000000) || i)) FROM range(100000000) t(i)"); status != http.StatusRequestEntityTooLarge {
		t.Errorf("%d %s", status, text)
	}
	s.get("/healthz")
}

// Clients get warnings unchanged, all in one ASCII header.
func TestWarningHeader(t *testing.T) {
	want := []string{`the filter leaves "nothing", of größe: \ 🂡`, "a\r\nSet-Cookie: b", "\x00\x7f\u202e"}
	text := warningHeader(want)
	if i := strings.IndexFunc(text, func(c rune) bool { return c < ' ' || c > '~' }); i >= 0 {
		t.Errorf("%q has %q", text, text[i])
	}
	var got []string
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	text = warningHeader(slices.Repeat([]string{strings.Repeat("ä", 50)}, 1000))
	if err := json.Unmarshal([]byte(text), &got); err != nil || len(text) > maxWarnings || len(got) != 7 || got[6] != "994 more warnings do not fit here" {
		t.Errorf("of many texts the header has %d bytes: %q (%v)", len(text), got, err)
	}
}

// All tables and views in the catalog for SQL can be read, and have the columns that it lists.
func TestDescribeSQL(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	s := start(t, store, nil)
	var said struct {
		Relations []struct {
			Name, Kind string
			Columns    []struct{ Name, Type string }
			Parameters []struct{ Name string }
		}
		Functions []string
	}
	if err := json.Unmarshal([]byte(s.get("/api/v1/sql")), &said); err != nil {
		t.Fatal(err)
	}
	db, err := queries.OpenWith(t.Context(), store, queries.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	read := map[string]bool{}
	for _, r := range said.Relations {
		read[r.Name] = true
		if r.Kind == "macro" {
			if r.Parameters == nil {
				t.Errorf("%s has no parameters", r.Name)
			}
			continue
		}
		names := make([]string, len(r.Columns))
		for i, c := range r.Columns {
			names[i] = `"` + c.Name + `"`
		}
		if _, err := db.Records(t.Context(), "SELECT "+strings.Join(names, ", ")+" FROM "+r.Name+" LIMIT 0"); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"function_metrics", "top", "samples", "experiments"} {
		if !read[name] {
			t.Errorf("there is no %s", name)
		}
	}
	for _, name := range []string{"sum", "date_trunc", "regexp_matches"} {
		if !slices.Contains(said.Functions, name) {
			t.Errorf("there is no function %s", name)
		}
	}
}

// A request is refused if another site made the browser send it, or if it lacks the token.
func TestGuard(t *testing.T) {
	s := start(t, storetest.New(t, storetest.Two), func(o *Options) { o.Token, o.Hosts = "secret", []string{"profiles.example.com"} })
	own := strings.TrimPrefix(s.web.URL, "http://")
	name := s.cookieName(&http.Request{})
	for _, test := range []struct {
		path   string
		want   int
		header []string
	}{
		{"/api/v1/views", 200, []string{"Authorization", "Bearer secret"}},
		{"/api/v1/views", 200, []string{"Authorization", "bearer secret"}},
		{"/api/v1/views", 200, []string{"Authorization", "BEARER  secret "}},
		{"/api/v1/views", 200, []string{"Cookie", name + "=" + s.cookieValue()}},
		{"/api/v1/views", 200, []string{"Cookie", name + "=of another server; " + name + "=" + s.cookieValue()}},
		{"/api/v1/views", 200, []string{"Cookie", name + "=" + s.cookieValue(), "Authorization", "Basic bWU6cHJveHk="}}, // a password for the proxy
		{"/api/v1/views", 401, nil},
		{"/", 401, nil},
		{"/", 401, []string{"Authorization", "Basic bWU6cHJveHk="}},
		{"/speedscope", 401, nil},
		{"/pprof/mode=user/top", 401, nil},
		{"/api/v1/views?token=secret", 401, nil},
		{s.page.path + "app.js", 200, nil},
		{s.page.style(), 200, nil},
		{"/metrics", 401, nil},
		{"/openapi.json", 401, nil},
		{"/api/v1/views", 401, []string{"Authorization", "Bearer wrong"}},
		{"/api/v1/views", 401, []string{"Authorization", "Bearer "}},
		{"/api/v1/views", 401, []string{"Cookie", name + "=secret"}},
		{"/healthz", 200, nil},
		{"/healthz", 200, []string{"Host", "profiles.example.com"}},
		{"/healthz", 200, []string{"Host", "localhost:" + fmt.Sprint(s.Port)}},
		{"/healthz", 421, []string{"Host", "localhost:1"}},
		{"/healthz", 421, []string{"Host", "evil.example.com"}},
		{"/healthz", 421, []string{"Host", "evil.example.com:" + fmt.Sprint(s.Port)}},
		{"/healthz", 421, []string{"Host", "8.8.8.8:" + fmt.Sprint(s.Port)}},
		{"/healthz", 200, []string{"Origin", s.web.URL}},
		{"/healthz", 403, []string{"Origin", "http://evil.example.com"}},
		{"/healthz", 403, []string{"Origin", "null"}},
		{"/healthz", 403, []string{"Origin", "null", "Sec-Fetch-Site", "cross-site"}},
		{"/healthz", 403, []string{"Origin", "null", "Sec-Fetch-Site", "none"}},
		{"/healthz", 403, []string{"Origin", s.web.URL, "Sec-Fetch-Site", "cross-site"}},
		{"/healthz", 403, []string{"Origin", "http://evil.example.com", "Sec-Fetch-Site", "same-origin"}},
		{"/healthz", 200, []string{"Origin", "null", "Sec-Fetch-Site", "same-origin"}},
		{"/healthz", 403, []string{"Sec-Fetch-Site", "cross-site"}},
		{"/healthz", 403, []string{"Sec-Fetch-Site", "same-site"}},
		{"/healthz", 200, []string{"Sec-Fetch-Site", "same-origin"}},
		{"/", 200, []string{"Authorization", "Bearer secret", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}},
		{"/", 403, []string{"Authorization", "Bearer secret", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}},
	} {
		response, text := s.ask("GET", test.path, "", test.header...)
		if response.StatusCode != test.want {
			t.Errorf("%s %q at %s: %s: %s, want %d", test.path, test.header, own, response.Status, text, test.want)
		}
		for name := range headers {
			if response.Header.Get(name) == "" {
				t.Errorf("%s: no %s", test.path, name)
			}
		}
	}
}

// The paths of the page's files differ between versions, so that browsers can cache them and never mix two versions.
func TestPageFiles(t *testing.T) {
	s := start(t, storetest.New(t, storetest.Two), nil)
	response, text := s.ask("GET", "/", "")
	found := regexp.MustCompile(`(?:src|href)="(/page/[^"]*)"`).FindAllStringSubmatch(string(text), -1)
	if len(found) != 3 {
		t.Fatalf("the page loads %q", found)
	}
	for _, f := range found {
		if response, text := s.ask("GET", f[1], ""); response.StatusCode != 200 || len(text) == 0 || !strings.Contains(response.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %s %v", f[1], response.Status, response.Header)
		}
	}
	if response, _ := s.ask("GET", "/", "", "If-None-Match", response.Header.Get("ETag")); response.StatusCode != 304 {
		t.Errorf("the page again: %s", response.Status)
	}
	for path, want := range map[string]int{"/api/v1/views/functions?experiment=nonsense": 404, "/api/v1/experiments": 200} {
		if response, _ := s.ask("GET", path, "", "If-None-Match", "*"); response.StatusCode != want {
			t.Errorf("%s: %s for a client that takes any", path, response.Status)
		}
	}
	if response, _ := s.ask("DELETE", "/metrics", ""); response.StatusCode != 405 || response.Header.Get("Allow") != "GET" {
		t.Errorf("another method: %s %v", response.Status, response.Header)
	}
	for _, path := range []string{"/page/0123456789abcdef/app.js", s.page.path, s.page.path + "index.html", s.page.path + "none.js", s.page.path + "../app.js", s.page.path + "..%2f..%2fpage.go", "/app.js"} {
		response, text := s.ask("GET", path, "")
		if response.StatusCode != 404 || strings.Contains(response.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %s: %.100s", path, response.Status, text)
		}
	}
}

// If the store changes while it is served, the next request sees it: new commits, another store at the same path, or
// no store.
func TestStoreChanges(t *testing.T) {
	store := t.TempDir() + "/store"
	first, second, _ := strings.Cut(storetest.Two, "# The second")
	build := func(text string) {
		t.Helper()
		if err := storetest.Build(store, text); err != nil {
			t.Fatal(err)
		}
	}
	build(first)
	s := start(t, store, nil)
	count := func() string {
		time.Sleep(pollInterval) // until then, the server does not look at the store again
		response, text := s.ask("GET", "/healthz", "")
		return fmt.Sprintf("%d %s", response.StatusCode, text)
	}
	if got := count(); got != "200 ok, 1 experiment\n" {
		t.Error(got)
	}
	_, before := tagOf(s, "")
	if status, _ := tagOf(s, before); status != http.StatusNotModified {
		t.Errorf("the same again: %d", status)
	}
	build("# The second" + second)
	if got := count(); got != "200 ok, 2 experiments\n" {
		t.Error(got)
	}
	if status, tag := tagOf(s, before); status != http.StatusOK || tag == before {
		t.Errorf("after a commit: %d", status)
	}
	if err := os.Rename(store, store+".old"); err != nil {
		t.Fatal(err)
	}
	if got := count(); !strings.HasPrefix(got, "503 ") {
		t.Error(got)
	}
	build(first)
	if got := count(); got != "200 ok, 1 experiment\n" {
		t.Error(got)
	}
}

// tagOf sends a request with the tag `has` of an earlier answer. It returns the status and the tag of the answer.
func tagOf(s *served, has string) (int, string) {
	response, _ := s.ask("GET", "/api/v1/views/functions", "", "If-None-Match", has)
	return response.StatusCode, response.Header.Get("ETag")
}

// Many clients at once get right answers, or are asked to try again later.
func TestManyClients(t *testing.T) {
	s := start(t, storetest.New(t, storetest.Two), nil)
	paths := []string{"/api/v1/experiments", "/api/v1/flamegraph", "/api/v1/views/call-tree?mode=machine"}
	for n := range 8 {
		paths = append(paths, fmt.Sprintf("/api/v1/views/functions?limit=%d", n+1), fmt.Sprintf("/api/v1/views/lines?thread=4711&limit=%d", n+1))
	}
	want := map[string]string{}
	for _, p := range paths {
		want[p] = s.get(p)
	}
	again := start(t, s.Store, func(o *Options) { o.Concurrent = 2 })
	var clients sync.WaitGroup
	for n := range 50 {
		clients.Go(func() {
			for k := range 10 {
				p := paths[(n*7+k*3)%len(paths)]
				if got := again.get(p); got != want[p] {
					t.Errorf("%s: %s, want %s", p, got, want[p])
				}
			}
		})
	}
	clients.Wait()
}

// If too many requests wait, further ones are asked to try again later.
func TestTurns(t *testing.T) {
	turns := newLimiter(1, 1)
	done, err := turns.acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := turns.acquire(ctx)
		left <- err
	}()
	for turns.waiting.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	if _, err := turns.acquire(t.Context()); err != errBusy {
		t.Errorf("a third: %v", err)
	}
	leave()
	if err := <-left; err != context.Canceled {
		t.Errorf("who left: %v", err)
	}
	done()
	if done, err = turns.acquire(t.Context()); err != nil {
		t.Error(err)
	}
	done()
}

// If a filter changes the default metric, answers about one metric have a warning, unless the request names a metric.
func TestOtherMetric(t *testing.T) {
	text := strings.Replace(storetest.Two, "  heapallocbytes Bytes~Allocated bytes heap\n", "  totalcpu CPU ns clock\n  heapallocbytes Bytes~Allocated bytes heap\n", 1)
	s := start(t, storetest.New(t, text), nil)
	const remark = "the filter leaves nothing of totalcpu: heapallocbytes is shown first"
	query := "experiment=tuesday*/*&where=" + url.QueryEscape("kind = 'heap'")
	for _, path := range []string{"/api/v1/export?as=folded&", "/api/v1/flamegraph?", "/api/v1/trend?"} {
		for more, want := range map[string]bool{"": true, "&metric=heapallocbytes": false} {
			response, err := s.web.Client().Get(s.web.URL + path + query + more)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if got := response.Header.Get(warningName); response.StatusCode != http.StatusOK || strings.Contains(got, remark) != want {
				t.Errorf("%s%s: %s, warnings %s", path, more, response.Status, got)
			}
		}
	}
}
