package page

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"stackmill/cmd/acceptance/suite"
	"stackmill/internal/corpus"
	"stackmill/pipeline"
	"stackmill/queries"
)

// waiting serves a store of recordings with context switches until the test ends.
func waiting(t *testing.T) (*server, *queries.DB) {
	t.Helper()
	root, err := corpus.Root()
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(root, "testdata", "wall")
	var paths []string
	for _, name := range []string{"convoy_both", "naps_all", "lost_small", "naps_sched"} {
		paths = append(paths, filepath.Join(data, name+".data"))
	}
	db, err := suite.Open(pipeline.Options{Store: filepath.Join(t.TempDir(), "store"), SymFS: filepath.Join(data, "symfs")}, paths...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return served(t, db.Store, nil), db
}

// The timeline of thread states has the numbers of sched_threads; keys lead through periods, tell who ended a wait and
// lead to the waker, and select a time range for all panels.
func TestThreadStates(t *testing.T) {
	s, db := waiting(t)
	b := open(t, 1280, 850, false)
	b.site = s.address
	b.visit("?view=timeline&experiment=convoy_both.data&lanes=states")
	b.run(chromedp.Click("main details summary", chromedp.ByQuery))
	found, err := db.Records(t.Context(), `SELECT thread_id, thread_name, pid, on_ns, preempted_ns, runqueue_ns, disk_ns, blocked_ns, unknown_ns
		FROM sched_threads JOIN processes USING (experiment_id, process) WHERE experiment = 'convoy_both.data' ORDER BY on_ns DESC`)
	if err != nil {
		t.Fatal(err)
	}
	rows := b.cells()
	for i, f := range found {
		want := fmt.Sprintf("%d|%s|%d", f.Number("thread_id"), f.Text("thread_name"), f.Number("pid"))
		for _, state := range []string{"on", "preempted", "runqueue", "disk", "blocked", "unknown"} {
			want += "|" + amount(float64(f.Number(state+"_ns")))
		}
		if i >= len(rows) || rows[i] != want {
			t.Fatalf("thread %d: %q, want %q", i, rows, want)
		}
	}
	periods, err := db.Records(t.Context(), `SELECT t0_ns, t1_ns, state FROM thread_states JOIN experiment_names USING (experiment_id)
		WHERE experiment = 'convoy_both.data' AND thread_id = $1 ORDER BY t0_ns`, found[0].Number("thread_id"))
	if err != nil {
		t.Fatal(err)
	}

	told := func() string { t.Helper(); return eval[string](b, `document.querySelector('.under output').innerText`) }
	name := fmt.Sprintf("%s %d, ", found[0].Text("thread_name"), found[0].Number("thread_id"))
	text := func(ns int64) string { return fmt.Sprintf("%.6f s", float64(ns)/1e9) }
	titles := map[string]string{"on": "on a CPU", "preempted": "preempted", "runqueue": "waiting for a CPU", "blocked": "blocked"}
	tells := func(n int) string {
		p := periods[n]
		return name + text(p.Number("t0_ns")) + " to " + text(p.Number("t1_ns")) + ": " + titles[p.Text("state")] + " " + amount(float64(p.Number("t1_ns")-p.Number("t0_ns"))) + "."
	}
	b.run(chromedp.Focus(".time", chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowRight))
	for n := range 8 {
		if got, want := told(), tells(n); !strings.HasPrefix(got, want) {
			t.Fatalf("period %d is told as %q, want %q", n, got, want)
		}
		b.run(chromedp.KeyEvent(kb.ArrowRight))
	}
	b.run(chromedp.KeyEvent(kb.End))
	if got, want := told(), tells(len(periods)-1); !strings.HasPrefix(got, want) {
		t.Errorf("the last period is told as %q, want %q", got, want)
	}

	// The first wait that another thread ended.
	woken, err := db.Records(t.Context(), `SELECT w.t0_ns, w.waker_thread_id, k.time_ns FROM thread_states w JOIN experiment_names USING (experiment_id)
		JOIN samples k ON k.experiment_id = w.experiment_id AND k.sample = w.waker_sample
		WHERE experiment = 'convoy_both.data' AND w.thread_id = $1 AND w.waker_thread_id IN (SELECT thread_id FROM thread_states) ORDER BY t0_ns LIMIT 1`, found[0].Number("thread_id"))
	if err != nil || len(woken) == 0 {
		t.Fatal(woken, err)
	}
	b.run(chromedp.KeyEvent(kb.Home))
	for n := 0; periods[n].Number("t0_ns") != woken[0].Number("t0_ns"); n++ {
		b.run(chromedp.KeyEvent(kb.ArrowRight))
	}
	b.run(poll(`document.querySelector('.under output').innerText.includes('woken by')`))
	if got, want := told(), ". In enter, woken by convoy-"; !strings.Contains(got, want) || !strings.HasSuffix(got, fmt.Sprintf(" %d in leave.", woken[0].Number("waker_thread_id"))) {
		t.Errorf("%q, want %q", got, want)
	}
	b.picture("?view=waker")
	b.run(chromedp.KeyEvent("w"))
	if got, want := told(), fmt.Sprintf(" %d, ", woken[0].Number("waker_thread_id")); !strings.Contains(strings.SplitAfter(got, ", ")[0], want) {
		t.Errorf("W leads to %q, want %q", got, want)
	}

	// A selection by keys filters all panels.
	b.run(chromedp.Focus(".time", chromedp.ByQuery))
	for range len(found) {
		b.run(chromedp.KeyEvent(kb.ArrowUp))
	}
	b.run(chromedp.KeyEvent(kb.Home), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight, chromedp.KeyModifiers(input.ModifierShift)), chromedp.KeyEvent(kb.Enter), settled)
	between := func() string {
		t.Helper()
		return eval[string](b, `new URLSearchParams(location.search).get('between') ?? ''`)
	}
	seconds := func(ns int64) float64 { return float64(ns) / 1e9 }
	var from, until float64
	if _, err := fmt.Sscanf(between(), "%fs,%fs", &from, &until); err != nil || from != seconds(periods[1].Number("t0_ns")) || until != seconds(periods[2].Number("t1_ns")) {
		t.Errorf("Enter sets %q: %v", between(), err)
	}
	b.run(chromedp.Click(`//button[.='Zoom to the selection']`, chromedp.BySearch), settled)
	if note := eval[string](b, `document.querySelector('main .note').innerText`); !strings.HasPrefix(note, fmt.Sprintf("From %.6f s to", from)) {
		t.Errorf("zoomed in, the panel says %q", note)
	}
	b.run(chromedp.Click(`//button[.='Zoom to all']`, chromedp.BySearch), settled, chromedp.Focus(".time", chromedp.ByQuery), chromedp.KeyEvent(kb.Escape), settled)
	if got := between(); got != "" {
		t.Errorf("Escape leaves %q", got)
	}

	// By mouse.
	box := eval[[]float64](b, `(() => { const r = document.querySelector('.lanes canvas').getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })()`)
	mouse := func(kind input.MouseType, part float64) chromedp.Action {
		return input.DispatchMouseEvent(kind, box[0]+box[2]*part, box[1]+box[3]/2).WithButton(input.Left).WithClickCount(1)
	}
	b.run(mouse(input.MousePressed, 0.25), mouse(input.MouseMoved, 0.4), mouse(input.MouseReleased, 0.5), settled)
	end := seconds(periods[len(periods)-1].Number("t1_ns"))
	for _, p := range found {
		var last int64
		if err := db.QueryRow(`SELECT max(t1_ns) FROM thread_states JOIN experiment_names USING (experiment_id) WHERE experiment = 'convoy_both.data' AND thread_id = $1`, p.Number("thread_id")).Scan(&last); err != nil {
			t.Fatal(err)
		}
		end = max(end, seconds(last))
	}
	if _, err := fmt.Sscanf(between(), "%fs,%fs", &from, &until); err != nil || from < 0.24*end || from > 0.26*end || until < 0.39*end || until > 0.51*end {
		t.Errorf("a drag over a quarter selects %q of %f: %v", between(), end, err)
	}
	b.run(chromedp.Click(`//nav[@aria-label='Places']//a[contains(., 'Functions')]`, chromedp.BySearch), settled)
	var part int64
	if err := db.QueryRow(`SELECT sum(v.value)::BIGINT FROM sample_metrics v JOIN samples s USING (experiment_id, sample) JOIN experiment_names USING (experiment_id)
		WHERE experiment = 'convoy_both.data' AND metric = 'wall' AND time_ns >= $1 AND time_ns < $2`, int64(from*1e9+0.5), int64(until*1e9+0.5)).Scan(&part); err != nil {
		t.Fatal(err)
	}
	b.visit("?view=functions&metric=wall&experiment=convoy_both.data&between=" + url.QueryEscape(between()))
	if row := b.cells()[0]; !strings.HasPrefix(row, amount(float64(part))+"|") {
		t.Errorf("<Total> of the part is %q, want %d", row, part)
	}
}

// A waker that is not among the shown threads joins them, with the keyboard on the time of the wake-up. Zooming keeps
// the place, and a click keeps it when the pointer moves on.
func TestThreadStatesWaker(t *testing.T) {
	s, db := waiting(t)
	woken, err := db.Records(t.Context(), `WITH busiest AS (
		SELECT experiment_id, thread_id, row_number() OVER (ORDER BY on_ns DESC) AS place FROM sched_threads WHERE experiment = 'naps_all.data'
	)
	SELECT b.place, s.t0_ns, s.t1_ns, s.waker_thread_id, k.time_ns FROM thread_states s JOIN busiest b USING (experiment_id, thread_id)
	JOIN busiest w ON w.thread_id = s.waker_thread_id JOIN samples k ON k.experiment_id = s.experiment_id AND k.sample = s.waker_sample
	WHERE w.place > b.place ORDER BY b.place, s.t0_ns LIMIT 1`)
	if err != nil || len(woken) == 0 {
		t.Fatal(woken, err)
	}
	w := woken[0]
	b := open(t, 1280, 850, false)
	b.site = s.address
	b.visit(fmt.Sprintf("?view=timeline&experiment=naps_all.data&threads=%d", w.Number("place")))
	if lanes := eval[int](b, `document.querySelectorAll('.threads li').length`); lanes != int(w.Number("place")) {
		t.Fatalf("%d rows", lanes)
	}
	told := func() string { t.Helper(); return eval[string](b, `document.querySelector('.under output').innerText`) }
	box := eval[[]float64](b, `(() => { const r = document.querySelector('.lanes canvas').getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })()`)
	shown := eval[[]float64](b, `fetch('/api/v1/thread-states?experiment=naps_all.data').then((r) => r.json()).then((a) => [a.timelines[0].from_ns, a.timelines[0].until_ns])`)
	at := func(ns float64) (x, y float64) {
		return box[0] + box[2]*(ns-shown[0])/(shown[1]-shown[0]), box[1] + box[3] - 11
	}
	x, y := at(float64(w.Number("t0_ns")+w.Number("t1_ns")) / 2)
	b.run(chromedp.MouseClickXY(x, y), settled, poll(`document.querySelector('.under output').innerText.includes('woken by')`))
	clicked := told()
	b.run(chromedp.MouseEvent(input.MouseMoved, x, y-22))
	if got := told(); got != clicked {
		t.Errorf("the pointer moves on, and %q becomes %q", clicked, got)
	}
	b.run(chromedp.Click(`//button[.='Go to the waker']`, chromedp.BySearch), settled)
	want := fmt.Sprintf(" %d, ", w.Number("waker_thread_id"))
	if got := told(); !strings.Contains(got, want) {
		t.Errorf("the waker is told as %q, want %q", got, want)
	}
	before := told()
	b.run(chromedp.Focus(".time", chromedp.ByQuery), chromedp.KeyEvent("+"), settled)
	if got := told(); !strings.Contains(got, want) {
		t.Errorf("zooming makes %q of %q", got, before)
	}
}

// Recordings of the whole machine show states first; recordings without them have no such choice.
func TestThreadStatesChoice(t *testing.T) {
	s, _ := waiting(t)
	b := open(t, 1280, 850, false)
	b.site = s.address
	for place, want := range map[string]string{
		"&experiment=naps_all.data":                                         "Threads CPUs [States of threads]",
		"&experiment=naps_all.data&lanes=threads":                           "[Threads] CPUs States of threads",
		"&experiment=convoy_both.data":                                      "[Threads] CPUs States of threads",
		"&experiment=convoy_both.data&metric=offcpu":                        "Threads CPUs [States of threads]",
		"&experiment=naps_sched.data":                                       "[Threads] CPUs",
		"&experiment=naps_sched.data&lanes=states":                          "[Threads] CPUs",
		"&experiment=naps_sched.data&experiment=naps_all.data&lanes=states": "Threads CPUs [States of threads]",
	} {
		b.visit("?view=timeline" + place)
		b.run(settled)
		if got := eval[string](b, `[...document.querySelectorAll('[aria-label=Rows] button')].map((b) => b.ariaPressed === 'true' ? '[' + b.innerText + ']' : b.innerText).join(' ')`); got != want {
			t.Errorf("%s: %s, want %s", place, got, want)
		}
	}
}

// The timeline is accessible and fits small windows.
func TestThreadStatesPanels(t *testing.T) {
	axe, err := os.ReadFile("testdata/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("no axe-core: run npm ci in cmd/acceptance/page/testdata")
	}
	s, _ := waiting(t)
	for _, of := range []struct {
		name          string
		width, height int64
		dark          bool
	}{{"light", 1280, 850, false}, {"phone dark", 390, 800, true}} {
		t.Run(of.name, func(t *testing.T) {
			b := open(t, of.width, of.height, of.dark)
			b.site = s.address
			for _, place := range []string{
				"?view=timeline&experiment=naps_all.data", "?view=timeline&experiment=naps_all.data&time=0.150s,0.160s&between=0.152s,0.154s&where=cpu+%3D+1",
				"?view=timeline&experiment=lost_small.data", "?view=flame&experiment=convoy_both.data&metric=wall", "?view=flame&experiment=convoy_both.data&metric=wall&side=callers&of=%3CBlocked%3E",
			} {
				b.shows(place, string(axe))
			}
		})
	}
}

// However the time is divided, the pieces of a thread sum to its time in each state, in any part of the time.
func TestThreadStatesSums(t *testing.T) {
	s, db := waiting(t)
	for _, query := range []string{"intervals=7", "intervals=1", "intervals=2&threads=3", "time=0.15s,0.17s&intervals=3", "time=0.1234s,0.1877s&intervals=4", "time=0.13s,0.2s&intervals=9", "time=,0.15s", ""} {
		t.Run(query, func(t *testing.T) {
			r, err := http.NewRequest(http.MethodGet, s.address+"/api/v1/thread-states?experiment=naps_all.data&"+query, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+token)
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			body, err := io.ReadAll(answer.Body)
			if err != nil || answer.StatusCode != http.StatusOK {
				t.Fatalf("%v %s", err, body)
			}
			var of struct {
				States    []string
				Timelines []struct {
					From  int64 `json:"from_ns"`
					Until int64 `json:"until_ns"`
					Width int64 `json:"width_ns"`
					Exact bool
					Lanes []struct {
						Thread int64   `json:"thread_id"`
						Times  []int64 `json:"ns"`
					}
					Pieces struct{ Lane, From, Until, State, NS []int64 }
				}
			}
			if err := json.Unmarshal(body, &of); err != nil {
				t.Fatal(err)
			}
			got, p := of.Timelines[0], of.Timelines[0].Pieces
			if got.Exact != !strings.Contains(query, "intervals") {
				t.Errorf("exact: %t", got.Exact)
			}
			sums := map[string]int64{}
			for i, lane := range p.Lane {
				sums[fmt.Sprint(got.Lanes[lane].Thread, " ", of.States[p.State[i]])] += p.NS[i]
				if width := min(got.Until-got.From, p.Until[i]*got.Width) - p.From[i]*got.Width; p.NS[i] <= 0 || p.NS[i] > width {
					t.Errorf("piece %d has %d ns of %d", i, p.NS[i], width)
				}
				if i > 0 && lane == p.Lane[i-1] && p.From[i] < p.Until[i-1] && (p.From[i] != p.From[i-1] || p.Until[i] != p.Until[i-1]) {
					t.Errorf("pieces %d and %d overlap", i-1, i)
				}
			}
			for n, lane := range got.Lanes {
				want, err := db.Records(t.Context(), `SELECT IF(state = 'unknown' AND border <> '', border, state) AS state, sum(least(t1_ns, $3) - greatest(t0_ns, $2))::BIGINT AS ns
					FROM thread_states JOIN experiment_names USING (experiment_id) WHERE experiment = 'naps_all.data' AND thread_id = $1 AND t1_ns > $2 AND t0_ns < $3 GROUP BY ALL`, lane.Thread, got.From, got.Until)
				if err != nil {
					t.Fatal(err)
				}
				for _, w := range want {
					if sum := sums[fmt.Sprint(lane.Thread, " ", w.Text("state"))]; sum != w.Number("ns") {
						t.Errorf("lane %d, thread %d, %s: %d ns, want %d", n, lane.Thread, w.Text("state"), sum, w.Number("ns"))
					}
				}
			}
		})
	}
}
