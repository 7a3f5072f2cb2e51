package page

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// spaced returns an expression's text with ordinary spaces before units.
func (b *browser) spaced(expression string) string {
	b.t.Helper()
	return strings.ReplaceAll(eval[string](b, expression), "\u202f", " ")
}

// plainAmount is amount with an ordinary space before the unit.
func plainAmount(ns float64) string { return strings.ReplaceAll(amount(ns), "\u202f", " ") }

// parameter returns a parameter of the page's address.
func (b *browser) parameter(name string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf(`new URLSearchParams(location.search).get(%q) ?? ''`, name))
}

// valueOf returns a sum over the samples of an experiment in SQL.
func valueOf(t *testing.T, condition string) float64 {
	t.Helper()
	var n int64
	if err := store.QueryRow(`SELECT coalesce(sum(v.value), 0)::BIGINT FROM sample_metrics v JOIN samples s USING (experiment_id, sample) JOIN experiment_names n USING (experiment_id)
		WHERE n.experiment = 'omp_gcc.er' AND v.metric = 'totalcpu' AND ` + condition).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return float64(n)
}

const toldTime = `document.querySelector('.chosentime output').innerText`

// By keys alone, one can read intervals, choose a time and a thread, and see their functions: all with SQL's values.
func TestTimelineKeys(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=timeline&experiment=omp_gcc.er&metric=totalcpu")
	width := askTimeline(t, site, "experiment", "omp_gcc.er", "metric", "totalcpu").Width
	interval := func(from, until int64) string {
		return fmt.Sprintf("time_ns >= %d AND time_ns < %d", from*width, until*width)
	}
	b.run(chromedp.Focus(".timelinekeys", chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
	if got, want := b.spaced(toldTime), "20 ms to 30 ms, all: "+plainAmount(valueOf(t, interval(2, 3))); width != 10_000_000 || strings.ReplaceAll(got, "0.02 s to 0.03 s", "20 ms to 30 ms") != want {
		t.Errorf("%q, want %q", got, want)
	}
	shift := chromedp.KeyModifiers(input.ModifierShift)
	b.run(chromedp.KeyEvent(kb.PageDown), chromedp.KeyEvent(kb.PageDown, shift), chromedp.KeyEvent(kb.Enter), settled)
	if got := b.parameter("between"); got != "0.12s,0.23s" {
		t.Errorf("Enter chooses %q", got)
	}
	part, whole := valueOf(t, interval(12, 23)), valueOf(t, "true")
	b.run(chromedp.Evaluate(`document.activeElement.blur()`, nil))
	if got, want := b.spaced(toldTime), fmt.Sprintf("%s, %.1f %% of %s", plainAmount(part), 100*part/whole, plainAmount(whole)); !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	// An edge moves by keys.
	b.run(chromedp.Focus(`.edge[aria-label^="End"]`, chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowLeft), settled)
	if got := b.parameter("between"); got != "0.12s,0.22s" {
		t.Errorf("the end moves to %q", got)
	}
	// The second thread below the process is chosen in the tree.
	a := askTimeline(t, site, "experiment", "omp_gcc.er", "metric", "totalcpu", "unfold", "first")
	b.run(chromedp.Focus(`.timelinetree [tabindex="0"]`, chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Enter), settled)
	if got := b.parameter("thread"); got != fmt.Sprint(a.Rows[2].Thread) {
		t.Fatalf("the thread is %q, want %d", got, a.Rows[2].Thread)
	}
	want := plainAmount(valueOf(t, fmt.Sprintf("%s AND s.thread_id = %d", interval(12, 22), a.Rows[2].Thread)))
	if got := b.spaced(`document.querySelector('.portion b').innerText`); got != want {
		t.Errorf("the selection has %q, want %q", got, want)
	}
	b.run(chromedp.Focus(".timelinekeys", chromedp.ByQuery), chromedp.KeyEvent(kb.Escape), settled)
	if got := b.parameter("between"); got != "" {
		t.Errorf("Escape leaves %q", got)
	}
}

// drag drags the mouse from a place of the window to another one.
func (b *browser) drag(x1, y1, x2, y2 float64) {
	b.t.Helper()
	mouse := func(kind input.MouseType, x, y float64) chromedp.Action {
		return input.DispatchMouseEvent(kind, x, y).WithButton(input.Left).WithClickCount(1)
	}
	b.run(mouse(input.MousePressed, x1, y1), mouse(input.MouseMoved, (x1+x2)/2, y2), mouse(input.MouseMoved, x2, y2), mouse(input.MouseReleased, x2, y2), settled)
}

// box returns the place of an element in the window: left, top, width, height.
func (b *browser) box(selector string) []float64 {
	b.t.Helper()
	return eval[[]float64](b, fmt.Sprintf(`(() => { const r = document.querySelector(%q).getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })()`, selector))
}

// From the start page, a click, a drag over a thread and a click lead to the flame graph of that thread in that time.
func TestTimelineDrag(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?experiment=omp_gcc.er&metric=totalcpu")
	b.run(chromedp.Click(`//nav[@aria-label='Places']//a[contains(., 'Timeline')]`, chromedp.BySearch), settled)
	a := askTimeline(t, site, "experiment", "omp_gcc.er", "metric", "totalcpu", "unfold", "first")
	at := b.box(`[data-row="2"] .timelinebars`)
	x := func(ns float64) float64 {
		return at[0] + at[2]*(ns-float64(a.From))/float64(a.Until-a.From)
	}
	b.drag(x(300e6), at[1]+10, x(700e6), at[1]+10)
	if got := b.parameter("between"); got != "0.3s,0.7s" {
		t.Fatalf("a drag chooses %q", got)
	}
	condition := "time_ns >= 300_000_000 AND time_ns < 700_000_000"
	if got, want := b.spaced(toldTime), plainAmount(valueOf(t, condition)); !strings.Contains(got, want) {
		t.Errorf("%q lacks %s", got, want)
	}
	b.run(chromedp.Click(`//button[starts-with(., 'Flame graph of ')]`, chromedp.BySearch), settled)
	want := plainAmount(valueOf(t, fmt.Sprintf("%s AND s.thread_id = %d", condition, a.Rows[2].Thread)))
	if got := b.spaced(`document.querySelector('.portion b').innerText`); b.parameter("view") != "flame" || got != want {
		t.Errorf("the flame graph at %s is of %q, want %q", eval[string](b, `location.search`), got, want)
	}
	b.run(chromedp.NavigateBack(), settled)
	if got := b.parameter("view") + b.parameter("thread"); got != "timeline" {
		t.Errorf("back leads to %s", eval[string](b, `location.search`))
	}
	// The end is dragged by its edge, and a double click in the chosen time zooms to it.
	edge := b.box(`.edge[aria-label^="End"]`)
	b.drag(edge[0]+edge[2]/2, edge[1]+20, x(900e6), edge[1]+20)
	if got := b.parameter("between"); got != "0.3s,0.9s" {
		t.Errorf("an edge dragged to 0.9 s leads to %q", got)
	}
	middle := input.DispatchMouseEvent(input.MousePressed, x(500e6), at[1]+10).WithButton(input.Left)
	up := input.DispatchMouseEvent(input.MouseReleased, x(500e6), at[1]+10).WithButton(input.Left)
	b.run(middle.WithClickCount(1), up.WithClickCount(1), chromedp.ActionFunc(middle.WithClickCount(2).Do), chromedp.ActionFunc(up.WithClickCount(2).Do), settled)
	if got := b.parameter("time"); got != "0.3s,0.9s" {
		t.Errorf("a double click zooms to %q", got)
	}
}

// Rows have the names, values and order of the answer, ticks are round, and no name is cut without being told whole.
func TestTimelineRows(t *testing.T) {
	s, _ := renaming(t)
	b := open(t, 1280, 850, false)
	b.site = s.address
	a := askTimeline(t, s.address, "metric", "cpu-clock:u", "unfold", "first")
	b.visit("?view=timeline&metric=cpu-clock:u")
	shown := eval[[][]string](b, `[...document.querySelectorAll('.timelinetree [role=treeitem]')].map((r) => [r.querySelector('.named').innerText, r.querySelector('.num').innerText, r.querySelector('.rowname').title])`)
	if len(shown) != len(a.Rows) {
		t.Fatalf("%d rows of %d", len(shown), len(a.Rows))
	}
	for i, r := range a.Rows {
		id := r.PID
		if r.Kind == "thread" {
			id = r.Thread
		}
		name := fmt.Sprintf("%s %d", r.Name, id)
		if got := strings.ReplaceAll(shown[i][1], "\u202f", " "); shown[i][0] != name || got != plainAmount(float64(r.Value)) || !strings.HasPrefix(shown[i][2], name+"\n") {
			t.Errorf("row %d is %q, want %s with %d", i, shown[i], name, r.Value)
		}
		for _, earlier := range r.Names[min(1, len(r.Names)):] {
			if !strings.Contains(shown[i][2], earlier) {
				t.Errorf("row %d does not tell the earlier name %s: %q", i, earlier, shown[i][2])
			}
		}
	}
	ticks := eval[[]string](b, `[...document.querySelectorAll('.ticks span')].map((e) => e.innerText)`)
	if len(ticks) < 3 || !strings.HasPrefix(ticks[0], "0") {
		t.Errorf("ticks %q", ticks)
	}
	// The menu of a thread has its filters; "Without it" leaves the value of all others.
	b.run(chromedp.Focus(`.timelinetree [tabindex="0"]`, chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent("m"))
	items := eval[[]string](b, `[...document.querySelectorAll('[role=menuitem]')].map((e) => e.firstChild.textContent)`)
	for _, want := range []string{"Flame graph", "Trend of threads named " + a.Rows[1].Name, "Only this thread", "Without it", "Pin on top", "Copy name"} {
		if !slices.Contains(items, want) {
			t.Errorf("the menu lacks %q: %q", want, items)
		}
	}
	b.run(chromedp.Click(`//*[@role='menuitem'][contains(., 'Without it')]`, chromedp.BySearch), settled)
	if got, want := b.spaced(`document.querySelector('.portion b').innerText`), plainAmount(float64(a.Whole-a.Rows[1].Whole)); got != want {
		t.Errorf("without the thread there are %q, want %q", got, want)
	}
	b.visit("?view=timeline&metric=cpu-clock:u&pinned=" + a.Rows[2].Key)
	if got := eval[string](b, `document.querySelector('.timelinetree .pinned .named').innerText`); got != fmt.Sprintf("%s %d", a.Rows[2].Name, a.Rows[2].Thread) {
		t.Errorf("%q is pinned", got)
	}
	b.visit("?view=timeline&metric=cpu-clock:u&named=" + url.QueryEscape("/(/"))
	if got := eval[string](b, `document.querySelector('.find [role=alert]').innerText`); !strings.Contains(got, "not an expression") {
		t.Errorf("an invalid expression says %q", got)
	}
	b.visit("?view=timeline&metric=cpu-clock:u&named=nobody")
	if got := eval[string](b, `document.querySelector('main').innerText`); !strings.Contains(got, "Nothing has this name or number.") {
		t.Errorf("a search without a result says %q", got)
	}
}

// The timeline of CPUs has a row for each, and choosing one filters all places. What has no row is said.
func TestTimelineCPUs(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=timeline&experiment=omp_gcc.er&metric=totalcpu")
	b.run(chromedp.Click(`//div[@class='segments']/button[.='CPUs']`, chromedp.BySearch), settled)
	names := eval[[]string](b, `[...document.querySelectorAll('.timelinetree .named')].map((r) => r.innerText)`)
	if slices.Sort(names); !slices.Equal(names, []string{"CPU 0", "CPU 1"}) {
		t.Errorf("rows of %q", names)
	}
	b.run(chromedp.Click(`//button[@class='named'][contains(., 'CPU 1')]`, chromedp.BySearch), settled)
	if got := b.spaced(`document.querySelector('.portion b').innerText`); b.parameter("cpu") != "1" || b.parameter("lanes") != "cpus" || got != plainAmount(valueOf(t, "s.cpu = 1")) {
		t.Errorf("CPU 1 leads to %s with %q", eval[string](b, `location.search`), got)
	}
	b.visit("?view=timeline&experiment=records_gcc_O2.data&lanes=cpus")
	if text := eval[string](b, `document.querySelector('main').innerText`); !strings.Contains(text, "not recorded") || !strings.Contains(text, "--sample-cpu") {
		t.Errorf("a recording without CPUs says %q", text)
	}

	s, _ := crowded(t)
	b.site = s.address
	a := askTimeline(t, s.address, "metric", "sched:sched_switch", "limit", "60")
	b.visit("?view=timeline&lanes=threads&metric=sched:sched_switch")
	if text := b.spaced(`document.querySelector('main').innerText`); a.Rest.Rows > 0 && !strings.Contains(text, fmt.Sprintf("%d more processes", a.Rest.Rows)) || !strings.Contains(text, fmt.Sprintf("%d processes, %d threads", a.Processes, a.Threads)) {
		t.Errorf("%q lacks the rest %+v", text, a.Rest)
	}
}

// The table of intervals has the values of the answer.
func TestTimelineTable(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=timeline&experiment=omp_gcc.er&metric=totalcpu&open=none")
	b.run(chromedp.Click("main details summary", chromedp.ByQuery), chromedp.WaitVisible("main details tbody tr", chromedp.ByQuery))
	a := askTimeline(t, site, "experiment", "omp_gcc.er", "metric", "totalcpu")
	of := a.cells("process")
	sums := map[string]int{}
	for at, v := range of {
		if at[0] >= 0 {
			sums[plainAmount(float64(v))]++
		}
	}
	rows := b.cells()
	for _, row := range rows {
		cells := strings.Split(strings.ReplaceAll(row, "\u202f", " "), "|")
		sums[cells[3]]--
	}
	for v, n := range sums {
		if n < 0 || n > 0 && len(rows) < 200 {
			t.Errorf("%s is there %d times more in the answer", v, n)
		}
	}
	if len(rows) < 50 {
		t.Errorf("%d rows", len(rows))
	}
}
