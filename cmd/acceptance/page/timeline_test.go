package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The timeline can be read and marked by keys: they announce the sum of the table's rows, which are
// SQL's, and marking a range filters all panels.
func TestTimelineKeys(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=timeline&experiment=omp_gcc.er")
	told := func() string { t.Helper(); return eval[string](b, `document.querySelector('.under').innerText`) }
	amount := func(query string) string {
		t.Helper()
		var n int64
		if err := store.QueryRow("SELECT sum(value)::BIGINT FROM interval_metrics(10_000_000) WHERE experiment = 'omp_gcc.er' AND metric = 'totalcpu' AND mode = 'user'" + query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return strings.TrimSuffix(fmt.Sprintf("%#.3g", float64(n)/1e6), ".") + " ms"
	}
	b.run(chromedp.Click("main details summary", chromedp.ByQuery))
	rows := b.cells()
	var cells int
	if err := store.QueryRow("SELECT count(*) FROM timeline_by(10_000_000) WHERE experiment = 'omp_gcc.er' AND metric = 'totalcpu' AND mode = 'user'").Scan(&cells); err != nil {
		t.Fatal(err)
	}
	if len(rows) != min(cells, 500) || !strings.HasPrefix(rows[0], "21244|0.000s|0.010s|") {
		t.Fatalf("%d rows of %d intervals, the first is %q", len(rows), cells, rows[0])
	}
	b.run(chromedp.Focus(".time", chromedp.ByQuery))
	b.run(chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
	if got, want := told(), "0.010s to 0.020s: "+amount(" AND t0_ns = 10_000_000"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	shift := chromedp.KeyModifiers(input.ModifierShift)
	b.run(chromedp.KeyEvent(kb.PageUp), chromedp.KeyEvent(kb.PageUp), chromedp.KeyEvent(kb.PageDown, shift))
	if got, want := told(), "0.110s to 0.220s: "+amount(" AND t0_ns >= 110_000_000 AND t1_ns <= 220_000_000"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	b.run(chromedp.KeyEvent(kb.Enter), settled)
	if got := eval[string](b, `new URLSearchParams(location.search).get('between')`); got != "0.110s,0.220s" {
		t.Errorf("Enter sets %q", got)
	}
	b.run(chromedp.KeyEvent(kb.Escape), settled)
	if got := eval[string](b, `location.search`); strings.Contains(got, "between") {
		t.Errorf("Escape leaves %s", got)
	}
}
