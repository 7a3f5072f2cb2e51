package page

import (
	"encoding/csv"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	downloads "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"stackmill/queries/serve"
)

// sqlPlace returns the place of SQL with further parameters, alternating names and values.
func sqlPlace(text string, more ...string) string {
	v := url.Values{"view": {"sql"}, "sql": {text}}
	for i := 0; i < len(more); i += 2 {
		v.Add(more[i], more[i+1])
	}
	return "?" + v.Encode()
}

// editor selects the editor's content, in its shadow tree.
const editor = `document.querySelector('.editor').shadowRoot.querySelector('.cm-content')`

// written is the text in the editor.
const written = `[...` + editor + `.querySelectorAll('.cm-line')].map((l) => l.textContent).join('\n')`

// SQL can be typed with completion and run by keys; the rows are right, and the address leads back
// to them.
func TestSQLConsole(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=sql")
	press := func(keys string) { t.Helper(); b.run(chromedp.KeyEvent(keys)) }
	b.run(chromedp.Evaluate(editor+`.focus()`, nil))
	b.run(chromedp.KeyEvent("a", chromedp.KeyModifiers(2)), chromedp.KeyEvent(kb.Delete))
	press("SELECT function, exclu")
	press(" FROM function_met")
	offered := `[...document.querySelector('.editor').shadowRoot.querySelectorAll('.cm-tooltip-autocomplete li .cm-completionLabel')].map((e) => e.innerText)`
	take := func(name string) {
		t.Helper()
		b.run(poll(offered + fmt.Sprintf(`.includes(%q)`, name)))
		b.run(chromedp.Sleep(200*time.Millisecond), chromedp.KeyEvent(kb.Enter)) // a completion is not accepted right after it appears
	}
	take("function_metrics")
	press(" WHERE experiment = 'recur.er' AND metric = 'totalcpu' AND mode = 'user' AND incl")
	take("inclusive")
	press(" > 0 ORDER BY inclusive DESC, function")
	text := strings.Replace(eval[string](b, written), "exclu ", "exclusive ", 1)
	b.visit(sqlPlace(text))
	b.run(chromedp.Evaluate(editor+`.focus()`, nil))
	b.run(chromedp.KeyEvent(kb.End, chromedp.KeyModifiers(2)))
	press(" LIMIT 7")
	b.run(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(2)), settled)
	found, err := store.Records(t.Context(), text+" LIMIT 7")
	if err != nil {
		t.Fatal(err)
	}
	rows := b.cells()
	if len(rows) != 7 || len(found) != 7 {
		t.Fatalf("%d rows of %d: %q", len(rows), len(found), rows)
	}
	for i, f := range found {
		if want := fmt.Sprintf("%s|%d", f.Text("function"), f.Number("exclusive")); rows[i] != want {
			t.Errorf("row %d: %q, want %q", i, rows[i], want)
		}
	}
	b.run(chromedp.NavigateBack(), settled)
	if got := eval[string](b, written); got != text {
		t.Errorf("back leads to %q, not %q", got, text)
	}
}

// The rows can be shown as a chart or a flame graph, with SQL's totals.
func TestSQLShown(t *testing.T) {
	b := open(t, 1280, 850, false)
	for _, test := range []struct {
		sql, x, y string
		points    int
		labels    string // in the legend
	}{
		{"SELECT TIMESTAMP '2026-11-01' + INTERVAL (i) DAY AS day, i::BIGINT * 9007199254740993 AS large, i AS n FROM range(30) t(i)", "", "", 30, "day"},
		{"SELECT i AS x, CASE WHEN i % 2 = 0 THEN i END AS y FROM range(11) t(i)", "x", "y", 11, "y"},
		{"SELECT function, exclusive FROM top(5) WHERE experiment = 'cxx.er'", "function", "exclusive", 5, "exclusive"},
		{"SELECT CASE WHEN i > 3 THEN DATE '2026-01-01' + i::INTEGER END AS d, i FROM range(10) t(i)", "d", "i", 6, "d"},
	} {
		b.visit(sqlPlace(test.sql, "show", "chart", "x", test.x, "y", test.y))
		b.run(chromedp.WaitVisible(`.chart[data-points]`, chromedp.ByQuery))
		if points := eval[string](b, `document.querySelector('.chart').dataset.points`); points != fmt.Sprint(test.points) {
			t.Errorf("%s: %s points, want %d", test.sql, points, test.points)
		}
		if legend := eval[string](b, `document.querySelector('main').innerText`); !strings.Contains(legend, test.labels) {
			t.Errorf("%s: the legend has %q", test.sql, legend)
		}
	}
	const folded = "SELECT stack, unit, value FROM folded WHERE mode = 'user' AND metric = 'totalcpu' AND experiment = 'cxx.er'"
	b.visit(sqlPlace(folded+" UNION ALL SELECT NULL, 'ns', 17 UNION ALL SELECT 'a;b', 'ns', -1", "show", "flame"))
	var whole float64
	if err := store.QueryRow("SELECT sum(value) / 1e9 FROM (" + folded + ")").Scan(&whole); err != nil {
		t.Fatal(err)
	}
	if text, want := eval[string](b, `document.querySelector('main').innerText`), fmt.Sprintf("%.2f\u202fs of value in ", whole); !strings.Contains(text, want) || !strings.Contains(text, "2 rows are left out") {
		t.Errorf("not %q, and what is left out, in %s", want, text)
	}
	b.visit(sqlPlace("SELECT 'a' AS stack", "show", "flame"))
	if text := eval[string](b, `document.querySelector('main').innerText`); !strings.Contains(text, "needs a column of stacks") {
		t.Error(text)
	}
	b.visit(sqlPlace("SELECT sum(exclusive) AS \"größe\" FROM function_metrics"))
	if text := eval[string](b, `document.querySelector('.warning').innerText`); !strings.Contains(text, "filter on mode = 'user' and a metric") {
		t.Errorf("the warning is %q", text)
	}
}

// The axes of a chart are titled with column and unit; their labels have round values, do not touch and are not cut.
func TestChartAxes(t *testing.T) {
	const pair = "SELECT TIMESTAMP '2026-01-01' + INTERVAL (i * 17) HOUR AS time, (i * 1234567890123)::BIGINT AS inclusive, 'ns' AS unit, i * 1e9 AS plain FROM range(300) t(i)"
	for _, of := range []struct {
		width  int64
		sql, x string
		y      string
		titles []string
	}{
		{1280, pair, "time", "inclusive", []string{"inclusive (s)", "time (UTC)"}},
		{390, pair, "time", "plain", []string{"plain (G)", "time (UTC)"}},
		{1280, pair, "plain", "inclusive", []string{"inclusive (s)", "plain (G)"}},
		{390, pair, "inclusive", "plain", []string{"plain (G)", "inclusive (s)"}},
	} {
		b := open(t, of.width, 850, false)
		b.visit(sqlPlace(of.sql, "show", "chart", "x", of.x, "y", of.y))
		b.run(chromedp.WaitVisible(`.chart svg`, chromedp.ByQuery))
		if titles := eval[[]string](b, `[...document.querySelectorAll('.chart svg .title')].map((t) => t.textContent)`); !slices.Equal(titles, of.titles) {
			t.Errorf("the titles are %q, not %q", titles, of.titles)
		}
		wrong := eval[[]string](b, `(() => {
			const picture = document.querySelector('.chart svg').getBoundingClientRect();
			const all = [...document.querySelectorAll('.chart svg text')].map((t) => [t.textContent, t.getBoundingClientRect()]);
			const wrong = all.filter(([, r]) => r.left < picture.left - 0.5 || r.right > picture.right + 0.5 || r.top < picture.top || r.bottom > picture.bottom).map(([t]) => 'cut: ' + t);
			for (const [i, [t, r]] of all.entries())
				for (const [u, s] of all.slice(i + 1))
					if (r.left < s.right && s.left < r.right && r.top < s.bottom - 1 && s.top < r.bottom - 1) wrong.push(t + ' touches ' + u);
			const [x, y] = ['.x', '.y'].map((c) => document.querySelectorAll('.chart svg text' + c).length);
			if (x < 2 || y < 3 || x > 16 || y > 8) wrong.push(x + ' and ' + y + ' labels');
			return wrong;
		})()`)
		for _, w := range wrong {
			t.Errorf("%s by %s, %d pixels wide: %s", of.y, of.x, of.width, w)
		}
	}
}

// A saved query and its chart are two clicks away. Queries are kept by the server's folder and by the browser.
func TestSavedQueries(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "one row.sql"), []byte("SELECT 1 AS x\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	b := open(t, 1280, 850, false)
	b.site = served(t, store.Store, func(o *serve.Options) { o.Queries = folder }).address
	b.visit("?view=sql")
	pick := func(name string) {
		t.Helper()
		b.run(chromedp.Click(`button[aria-label="Saved queries"]`, chromedp.ByQuery),
			chromedp.Click(fmt.Sprintf(`//div[@role='option'][span=%q]`, name), chromedp.BySearch), settled)
	}
	pick("All runs, by time (chart)")
	b.run(chromedp.WaitVisible(`.chart svg`, chromedp.ByQuery))
	var started int
	if err := store.QueryRow("SELECT count(started) FROM (" + eval[string](b, written) + ")").Scan(&started); err != nil {
		t.Fatal(err)
	}
	if points := eval[string](b, `document.querySelector('.chart').dataset.points`); points != fmt.Sprint(started) || started < 3 {
		t.Errorf("%s points of %d rows", points, started)
	}
	pick("one row")
	if rows := b.cells(); !slices.Equal(rows, []string{"1"}) {
		t.Errorf("the query of the server has the rows %q", rows)
	}

	text := "SELECT 17 AS y"
	b.visit(sqlPlace(text, "show", "chart"))
	b.run(chromedp.Click(`//button[.='Save …']`, chromedp.BySearch), chromedp.SendKeys(`.savequery input`, "mine"+kb.Enter, chromedp.ByQuery))
	b.visit("?view=sql")
	pick("mine")
	if at := eval[string](b, `location.search`); !strings.Contains(at, "show=chart") || eval[string](b, written) != text {
		t.Errorf("the query of the browser leads to %s", at)
	}
	b.run(chromedp.Click(`//button[.='Delete']`, chromedp.BySearch), chromedp.Click(`button[aria-label="Saved queries"]`, chromedp.ByQuery))
	list := eval[[]string](b, `[...document.querySelectorAll('.heading [role=listbox] > *')].map((o) => o.innerText.trim())`)
	if slices.Contains(list, "mine") || !slices.Contains(list, "Run lately") || !slices.Contains(list, text) {
		t.Errorf("after it was deleted, there are %q", list)
	}
}

// The line with an error is marked; experiments of a result become the selection.
func TestSQLErrorLine(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit(sqlPlace("SELECT 1,\n  nonsense\nFROM experiments"))
	b.forgive(func(w string) bool { return strings.Contains(w, "status of 400") })
	const marked = `[...` + editor + `.querySelectorAll('.cm-wrong')].map((l) => l.textContent)`
	if got := eval[[]string](b, marked); !slices.Equal(got, []string{"  nonsense"}) {
		t.Errorf("marked is %q", got)
	}
	b.visit(sqlPlace("SELECT experiment FROM experiments WHERE experiment LIKE 'plt%' UNION ALL SELECT experiment FROM experiments WHERE experiment LIKE 'plt%' ORDER BY 1"))
	if got := eval[[]string](b, marked); len(got) != 0 {
		t.Errorf("marked is still %q", got)
	}
	b.run(chromedp.Click(`//a[starts-with(., 'Show these 2')]`, chromedp.BySearch), settled)
	if got := eval[[]string](b, `new URLSearchParams(location.search).getAll('experiment')`); !slices.Equal(got, []string{"plt_lazy.er", "plt_sec.er"}) {
		t.Errorf("the selection is %q", got)
	}
}

// Rows can be saved in each file format.
func TestSQLSaved(t *testing.T) {
	b := open(t, 1280, 850, false)
	dir := t.TempDir()
	b.run(downloads.SetDownloadBehavior(downloads.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(dir))
	const text = "SELECT function, inclusive FROM function_metrics WHERE experiment = 'recur.er' AND metric = 'totalcpu' AND mode = 'user' ORDER BY ALL"
	b.visit(sqlPlace(text))
	for _, format := range []string{"CSV", "JSON", "Arrow", "Parquet"} {
		b.run(chromedp.Click(fmt.Sprintf(`//main//button[.=%q]`, format), chromedp.BySearch))
		name := filepath.Join(dir, "result."+strings.ToLower(format))
		for range 500 {
			if info, err := os.Stat(name); err == nil && info.Size() > 0 {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		content, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if format != "CSV" {
			continue
		}
		rows, err := csv.NewReader(strings.NewReader(string(content))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		found, err := store.Records(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) != len(found)+1 {
			t.Fatalf("%d lines of %d rows", len(rows), len(found))
		}
		for i, f := range found {
			if want := fmt.Sprint(f.Number("inclusive")); rows[i+1][0] != f.Text("function") || rows[i+1][1] != want {
				t.Errorf("%q, want %s %s", rows[i+1], f.Text("function"), want)
			}
		}
	}
}
