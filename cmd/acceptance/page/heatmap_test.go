package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The heat map has SQL's value for each interval, and marking a part, by mouse or keys, filters all
// panels.
func TestHeatmap(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=heatmap&experiment=omp_gcc.er&slots=20")
	number := func(query string) (n int64) {
		t.Helper()
		if err := store.QueryRow(query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	const of = " FROM interval_metrics(50_000_000) WHERE experiment = 'omp_gcc.er' AND metric = 'totalcpu' AND mode = 'user'"
	b.run(chromedp.Click("main details summary", chromedp.ByQuery))
	rows := b.cells()
	if n := number("SELECT count(*)" + of); len(rows) != int(n) {
		t.Errorf("%d rows of %d intervals", len(rows), n)
	}
	amount := func(ns int64) string { return strings.TrimSuffix(fmt.Sprintf("%#.3g", float64(ns)/1e6), ".") + " ms" }
	highest := number("SELECT max(value)" + of)
	if note := eval[string](b, `document.querySelector('main .note').innerText`); !strings.Contains(note, "the strongest color is "+amount(highest)+" in 50 ms") {
		t.Errorf("%q, the highest is %d", note, highest)
	}
	// Cells are checked by their color on the canvas.
	box := eval[[]float64](b, `(() => { const r = document.querySelector('.heatmap canvas').getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })()`)
	seconds := number("SELECT max(t0_ns) // 1_000_000_000 + 1" + of)
	at := func(second, slot int) (x, y float64) {
		return box[0] + box[2]*(float64(second)+0.5)/float64(seconds), box[1] + box[3]*(1-(float64(slot)+0.5)/20)
	}
	told := func() string { t.Helper(); return eval[string](b, `document.querySelector('.under').innerText`) }
	between := func() string {
		t.Helper()
		return eval[string](b, `new URLSearchParams(location.search).get('between') ?? ''`)
	}
	mouse := func(kind input.MouseType, second, slot int) chromedp.Action {
		x, y := at(second, slot)
		return input.DispatchMouseEvent(kind, x, y).WithButton(input.Left).WithClickCount(1)
	}
	sum := func(from, to string) string {
		return amount(number("SELECT sum(value)::BIGINT" + of + " AND t0_ns >= " + from + "e6 AND t1_ns <= " + to + "e6"))
	}
	b.run(mouse(input.MousePressed, 1, 5), mouse(input.MouseMoved, 0, 12), mouse(input.MouseReleased, 0, 6), settled)
	if got := between(); got != "0.300s,1.300s" {
		t.Fatalf("a drag marks %q", got)
	}
	if got, want := told(), "Marked: 0.300 s to 1.300 s: "+sum("300", "1300"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	b.run(chromedp.Click(`//a[.='Functions']`, chromedp.BySearch), settled)
	part := number(`SELECT sum(v.value)::BIGINT FROM sample_metrics v JOIN samples s USING (experiment_id, sample) JOIN experiment_names USING (experiment_id)
		WHERE experiment = 'omp_gcc.er' AND metric = 'totalcpu' AND time_ns >= 300_000_000 AND time_ns < 1_300_000_000`)
	if row := b.cells()[0]; !strings.HasPrefix(row, amount(part)+"|") {
		t.Errorf("<Total> of the part is %q, want %d", row, part)
	}

	b.visit("?view=heatmap&experiment=omp_gcc.er&slots=20")
	b.run(chromedp.Focus(".heatmap", chromedp.ByQuery))
	shift := chromedp.KeyModifiers(input.ModifierShift)
	b.run(chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.ArrowUp))
	if got, want := told(), "0.100 s to 0.150 s: "+sum("100", "150"); got != want {
		t.Errorf("keys lead to %q, want %q", got, want)
	}
	b.run(chromedp.KeyEvent(kb.ArrowUp, shift), chromedp.KeyEvent(kb.ArrowUp, shift))
	if got, want := told(), "0.100 s to 0.250 s: "+sum("100", "250"); got != want || between() != "" {
		t.Errorf("keys mark %q, want %q, %q", got, want, between())
	}
	b.run(chromedp.KeyEvent(kb.Enter), settled)
	if got := between(); got != "0.100s,0.250s" {
		t.Errorf("Enter sets %q", got)
	}
	b.run(chromedp.KeyEvent(kb.Escape), settled)
	if got := between(); got != "" {
		t.Errorf("Escape leaves %q", got)
	}
}
