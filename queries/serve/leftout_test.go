package serve

import (
	"bytes"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackmill/queries"
	"stackmill/queries/storetest"
	"stackmill/schema/storedir"
)

// samples has a request for each endpoint, by method and path. The test fails if an endpoint has none.
var samples = map[string][2]string{
	"GET /api/v1/store":              {"/api/v1/store", ""},
	"GET /api/v1/experiments":        {"/api/v1/experiments", ""},
	"GET /api/v1/metrics":            {"/api/v1/metrics", ""},
	"GET /api/v1/selection":          {"/api/v1/selection", ""},
	"GET /api/v1/problems":           {"/api/v1/problems", ""},
	"GET /api/v1/views":              {"/api/v1/views", ""},
	"GET /api/v1/views/{name}":       {"/api/v1/views/functions", ""},
	"GET /api/v1/functions":          {"/api/v1/functions", ""},
	"GET /api/v1/annotate":           {"/api/v1/annotate", ""},
	"GET /api/v1/function":           {"/api/v1/function", ""},
	"GET /api/v1/callgraph":          {"/api/v1/callgraph", ""},
	"GET /api/v1/flamegraph":         {"/api/v1/flamegraph", ""},
	"GET /api/v1/compare":            {"/api/v1/compare?base=00000000000000aa&test=00000000000000aa", ""},
	"GET /api/v1/compare/flamegraph": {"/api/v1/compare/flamegraph?base=00000000000000aa&test=00000000000000aa", ""},
	"GET /api/v1/trend":              {"/api/v1/trend", ""},
	"GET /api/v1/changes":            {"/api/v1/changes", ""},
	"GET /api/v1/digest":             {"/api/v1/digest", ""},
	"GET /api/v1/unknown":            {"/api/v1/unknown", ""},
	"GET /api/v1/data-objects":       {"/api/v1/data-objects", ""},
	"GET /api/v1/memory":             {"/api/v1/memory", ""},
	"GET /api/v1/heap":               {"/api/v1/heap", ""},
	"GET /api/v1/files":              {"/api/v1/files", ""},
	"GET /api/v1/locks":              {"/api/v1/locks", ""},
	"GET /api/v1/stacks":             {"/api/v1/stacks?kind=file&item=a.txt", ""},
	"GET /api/v1/export":             {"/api/v1/export?as=folded", ""},
	"GET /api/v1/sql":                {"/api/v1/sql", ""},
	"GET /api/v1/queries":            {"/api/v1/queries", ""},
	"POST /api/v1/query":             {"/api/v1/query", `{"sql": "SELECT count(*) AS n FROM experiments"}`},

	"GET /api/v1/flamegraph/search":         {"/api/v1/flamegraph/search?search=main", ""},
	"GET /api/v1/compare/flamegraph/search": {"/api/v1/compare/flamegraph/search?base=00000000000000aa&test=00000000000000aa&search=main", ""},

	"GET /api/v1/data-objects/layout":  {"/api/v1/data-objects/layout?type=%7Bstructure:a%7D", ""},
	"GET /api/v1/memory/accesses":      {"/api/v1/memory/accesses?experiment=00000000000000aa&process=1&address=0x7000", ""},
	"GET /api/v1/timeline":             {"/api/v1/timeline", ""},
	"GET /api/v1/heatmap":              {"/api/v1/heatmap", ""},
	"GET /api/v1/thread-states":        {"/api/v1/thread-states", ""},
	"GET /api/v1/thread-states/period": {"/api/v1/thread-states/period?experiment=00000000000000aa&thread=4711&at=17", ""},
}

// otherAnswers are requests outside of the API whose answers come from the store.
var otherAnswers = []string{"/metrics", "/speedscope?experiment=00000000000000aa", "/pprof/" + "experiment%3D00000000000000aa" + "/top"}

// warned sends a request, and returns the warnings of the answer.
func (s *served) warned(path, body string) string {
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	response, text := s.ask(method, path, body)
	if response.StatusCode >= http.StatusBadRequest {
		s.t.Errorf("%s: %s: %s", path, response.Status, text)
	}
	return response.Header.Get(warningName)
}

// checkRemark sends a request to each endpoint, and checks that the warnings have the remark.
func checkRemark(t *testing.T, warned func(path, body string) string, remark string) {
	t.Helper()
	for i := range endpoints {
		e := &endpoints[i]
		sample, ok := samples[e.method+" "+e.path]
		if !ok {
			t.Errorf("%s %s: there is no sample request", e.method, e.path)
			continue
		}
		if text := warned(sample[0], sample[1]); !strings.Contains(text, remark) {
			t.Errorf("%s: %q", sample[0], text)
		}
	}
	for _, path := range otherAnswers {
		if text := warned(path, ""); !strings.Contains(text, remark) {
			t.Errorf("%s: %q", path, text)
		}
	}
}

// Every answer says which experiments were damaged and are left out until they are ingested again.
func TestDamagedExperiment(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	if err := os.Truncate(filepath.Join(store, storedir.FilePath("samples", "00000000000000bb")), 9); err != nil {
		t.Fatal(err)
	}
	if err := queries.Repair(t.Context(), store, func(string, string) {}); err != nil {
		t.Fatal(err)
	}
	s := start(t, store, nil)
	s.web.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	checkRemark(t, s.warned, "left out: the experiment test.1.er, which was damaged (ingest")
	for path, want := range map[string]string{"/healthz": "\nleft out: 1 damaged experiments", "/metrics": "\nstackmill_store_experiments_left_out 1\n"} {
		if text := s.get(path); !strings.Contains(text, want) {
			t.Errorf("%s does not say %q:\n%.300s", path, want, text)
		}
	}
}

// If a commit is damaged while the server runs, each answer says so. Once the commit is restored, answers are as
// before. Once it is replaced by another commit with the same name, all answers show that one.
func TestDamagedCommit(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	s := start(t, store, nil)
	s.web.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	warned := s.warned
	seen := func(what string, holds func() bool) {
		t.Helper()
		for range 600 {
			if holds() {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Fatal("the server does not see that the commit is " + what)
	}
	const list = "/api/v1/experiments"
	if text := warned(list, ""); text != "" {
		t.Errorf("an intact store: %s", text)
	}
	first, whole := s.ask("GET", list, "")
	path := filepath.Join(store, "commits", "00000000000000bb.json")
	commit, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(commit)
	damaged[len(damaged)/2] ^= 1
	if err := os.WriteFile(path, damaged, 0o666); err != nil {
		t.Fatal(err)
	}
	const remark = "left out: the experiment test.1.er of commits/00000000000000bb.json, which cannot be read: damaged"
	seen("damaged", func() bool { return strings.Contains(warned(list, ""), remark) })
	checkRemark(t, warned, remark)
	for path, want := range map[string]string{
		"/healthz": "ok, 1 experiment\nleft out: the experiments of 1 commit", "/metrics": "\nstackmill_store_commits_unreadable 1\n", "/openapi.json": `\"left out: \"`,
		"/pprof/experiment%3D00000000000000aa/top": `role="alert">left out: the experiment test.1.er`,
	} {
		if text := s.get(path); !strings.Contains(text, want) {
			t.Errorf("%s does not say %q:\n%.300s", path, want, text)
		}
	}
	if response, _ := s.ask("GET", "/speedscope?experiment=00000000000000aa", ""); !strings.Contains(response.Header.Get("Location"), "&title="+url.QueryEscape("left out: ")) {
		t.Error(response.Header)
	}
	if _, text := s.ask("GET", list+"?experiment=00000000000000bb", ""); !strings.Contains(string(text), "left out: ") {
		t.Errorf("the experiment that is missing: %s", text)
	}
	tag := func() string { r, _ := s.ask("GET", list, ""); return r.Header.Get("ETag") }()
	if err := os.WriteFile(path, commit, 0o666); err != nil {
		t.Fatal(err)
	}
	seen("restored", func() bool { return warned(list, "") == "" })
	if r, text := s.ask("GET", list, "", "If-None-Match", tag); r.StatusCode != http.StatusOK || !bytes.Equal(text, whole) || r.Header.Get("ETag") != first.Header.Get("ETag") {
		t.Errorf("restored: %s %s", r.Status, text)
	}

	c, err := storedir.Decode("00000000000000bb", commit)
	if err != nil {
		t.Fatal(err)
	}
	c.Experiments[0].Experiment, c.Experiments[0].Path = "other.er", "/other.er"
	if commit, err = c.Encode(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".new", commit, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	// SQL sees the new commit at once, even directly after another answer. From then on, all answers do.
	if status, text := s.sql("SELECT experiment FROM experiments WHERE experiment_id = '00000000000000bb'"); status != http.StatusOK || !strings.Contains(text, "other.er") {
		t.Errorf("SQL: %d %s", status, text)
	}
	if r, text := s.ask("GET", list+"?columns=experiment", "", "If-None-Match", first.Header.Get("ETag")); r.StatusCode != http.StatusOK || !strings.Contains(string(text), "other.er") {
		t.Errorf("a view: %s %s", r.Status, text)
	}
}

// A value with a blank is not confused with two values that look the same when they are joined by a blank.
func TestSimilarFilters(t *testing.T) {
	s := start(t, storetest.New(t, storetest.Two), nil)
	s.get("/api/v1/views/functions?hide=app&hide=app")
	if r, text := s.ask("GET", "/api/v1/views/functions?hide=app+app", ""); r.StatusCode != http.StatusBadRequest {
		t.Errorf("%s %.300s", r.Status, text)
	}
}
