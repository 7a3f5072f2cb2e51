package serve

import (
	"encoding/json"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"stackmill/queries/storetest"
)

// A client that names the state of its earlier answers is answered from that state while the store grows, also about
// SQL, and from the newest one when the older is gone. GET /api/v1/store says what changed.
func TestOneState(t *testing.T) {
	store := t.TempDir() + "/store"
	first, second, _ := strings.Cut(storetest.Two, "# The second")
	build := func(text string) {
		t.Helper()
		if err := storetest.Build(store, text); err != nil {
			t.Fatal(err)
		}
		time.Sleep(pollInterval) // until then, the server does not look at the store again
	}
	build(first)
	s := start(t, store, nil)
	const list, filtered, sql = "/api/v1/experiments?columns=experiment", "/api/v1/views/functions?columns=experiment&where=cpu>%3D0", `{"sql": "SELECT experiment FROM experiments"}`
	// answer returns the state of an answer and the number of experiments in it.
	answer := func(path, body, named string) (state string, experiments int) {
		t.Helper()
		method := http.MethodGet
		if body != "" {
			method = http.MethodPost
		}
		response, text := s.ask(method, path, body, stateName, named)
		if response.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s: %s", path, response.Status, text)
		}
		var rows []struct{ Experiment string }
		if err := json.Unmarshal(text, &rows); err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, r := range rows {
			names[r.Experiment] = true
		}
		return response.Header.Get(stateName), len(names)
	}
	before, n := answer(list, "", "")
	if n != 1 || before == "" {
		t.Fatalf("%d experiments in state %q", n, before)
	}
	answer(list, "", before)
	build("# The second" + second)
	after, n := answer(list, "", "")
	if n != 2 || after == before {
		t.Errorf("%d experiments in state %s", n, after)
	}
	for path, body := range map[string]string{list: "", filtered: "", "/api/v1/query": sql} {
		for named, want := range map[string]int{before: 1, after: 2, "": 2, "nonsense": 2} {
			state := map[int]string{1: before, 2: after}[want]
			if got, n := answer(path, body, named); got != state || n != want {
				t.Errorf("%s in state %q: %d experiments in %s, want %d in %s", path, named, n, got, want, state)
			}
		}
	}

	told := func(since string) (o storeState, tag string) {
		t.Helper()
		response, text := s.ask("GET", "/api/v1/store?since="+since, "")
		if err := json.Unmarshal(text, &o); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return o, response.Header.Get("ETag")
	}
	o, tag := told(before)
	if o.State != after || o.Experiments != 2 || o.Newest == nil || o.Since == nil || *o.Since != (storeChange{Added: 1, Changed: 1}) { // the first is now called monday/test.1.er
		t.Errorf("the store is told to be %+v, %+v", o, o.Since)
	}
	if response, _ := s.ask("GET", "/api/v1/store?since="+before, "", "If-None-Match", tag); response.StatusCode != http.StatusNotModified {
		t.Errorf("the same again: %s", response.Status)
	}
	if o, _ := told("nonsense"); o.Since != nil {
		t.Errorf("since an unknown state: %+v", o.Since)
	}

	// Another store replaces it: its files are gone.
	if err := os.Rename(store, store+".old"); err != nil {
		t.Fatal(err)
	}
	build("# The second" + second)
	for path, body := range map[string]string{"/api/v1/views/lines?columns=experiment": "", filtered + "&thread=4711": "", "/api/v1/query": sql} {
		if got, n := answer(path, body, before); got == before || got == after || n != 1 {
			t.Errorf("%s: %d experiments in state %s", path, n, got)
		}
	}
}

// Snapshots that no client names close as soon as the store has a newer state; of those that are named, the latest are
// kept.
func TestOlderSnapshots(t *testing.T) {
	store := t.TempDir() + "/store"
	first, second, _ := strings.Cut(storetest.Two, "# The second")
	parts := []string{first, "# The second" + second}
	if err := storetest.Build(store, first); err != nil {
		t.Fatal(err)
	}
	s := start(t, store, nil)
	for i := range maxOlder + 3 {
		lease, err := s.store.pin(t.Context(), true)
		if err != nil {
			t.Fatal(err)
		}
		lease.release()
		if i > 0 {
			named, err := s.store.pinState(t.Context(), lease.state())
			if err != nil {
				t.Fatal(err)
			}
			named.release()
		}
		if want := min(max(0, i-1), maxOlder); len(s.store.older) != want {
			t.Errorf("after %d changes, %d older snapshots are kept, not %d", i, len(s.store.older), want)
		}
		if err := os.RemoveAll(store); err != nil {
			t.Fatal(err)
		}
		if err := storetest.Build(store, parts[(i+1)%2]); err != nil {
			t.Fatal(err)
		}
	}
}

// The page's types of the answer have its fields.
func TestStoreStateType(t *testing.T) {
	source, err := os.ReadFile("web/src/lib/store.ts")
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]any{"StoreState": storeState{}, "StoreChange": storeChange{}} {
		_, body, _ := strings.Cut(string(source), "interface "+name+" {\n")
		body, _, _ = strings.Cut(body, "\n}")
		var page, server []string
		for line := range strings.SplitSeq(body, "\n") {
			field, _, _ := strings.Cut(strings.TrimSpace(line), ":")
			page = append(page, field)
		}
		for f := range reflect.TypeOf(value).Fields() {
			server = append(server, f.Tag.Get("json"))
		}
		if !slices.Equal(page, server) {
			t.Errorf("%s has %q on the page, %q in answers", name, page, server)
		}
	}
}
