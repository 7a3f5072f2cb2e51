package page

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"stackmill/cmd/acceptance/suite"
	"stackmill/internal/terminal"
	"stackmill/pipeline"
	"stackmill/queries"
	"stackmill/queries/compare"
	"stackmill/queries/digest"
	"stackmill/queries/export"
	"stackmill/queries/html"
	"stackmill/queries/report"
	"stackmill/queries/storetest"
	"stackmill/queries/text"
)

// documents maps names of documents to functions that write them.
var documents = map[string]func(t *testing.T, db *queries.DB) []byte{
	"html of one":     exportAs(export.Request{As: "html", Mode: "user"}, "recur.er"),
	"html of two":     exportAs(export.Request{As: "html", Mode: "user", Metric: "totalcpu"}, "recur.er", "cxx.er"),
	"digest":          digestDocument,
	"html by threads": exportAs(export.Request{As: "html", Mode: "machine", Metric: "totalcpu", Inline: true, By: "thread-name"}, "omp_gcc.er"),
	"report":          reportOf("functions"),
	"drawing":         reportOf("call-tree"),
	"comparison":      compared,
}

// reportOf writes a report as a document.
func reportOf(name string) func(t *testing.T, db *queries.DB) []byte {
	return func(t *testing.T, db *queries.DB) []byte {
		t.Helper()
		var out bytes.Buffer
		r := text.Report{Output: &terminal.Output{Stdout: &out, Stderr: io.Discard}, Request: report.Defaults(), DB: db, Format: "html"}
		if err := r.About(name, false); err != nil {
			t.Fatal(err)
		}
		if err := r.Print(t.Context()); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
}

// compared writes a comparison of the first and the last experiment as a document.
func compared(t *testing.T, db *queries.DB) []byte {
	t.Helper()
	r := compare.Defaults()
	all := db.Experiments()
	r.Base, r.Test, r.Mode = []string{all[0].Name}, []string{all[len(all)-1].Name}, "user"
	for i := range all {
		if all[i].Name == "plt_lazy.er" {
			r.Base, r.Test = []string{"plt_lazy.er"}, []string{"plt_sec.er"}
		}
	}
	result, err := compare.Run(t.Context(), db, r)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := html.Write(&out, text.ComparisonDocument(result, result.Rows)); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// digestDocument writes the digest of thirty nights of a program, in which a function became slower
// and another one appeared.
func digestDocument(t *testing.T, _ *queries.DB) []byte {
	t.Helper()
	var nights []map[string]int
	for n := range 30 {
		values := map[string]int{"main": 500 + n*7%11, "<script>alert(1)</script>": 300 + n*5%13}
		if n >= 26 {
			values["<script>alert(1)</script>"] += 60
			values["zero"] = 20 + n%2
		}
		nights = append(nights, values)
	}
	db, err := queries.Open(t.Context(), storetest.New(t, storetest.Nights(nights)))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	d, err := digest.Run(t.Context(), db, digest.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Sure) != 1 || len(d.Sure[0].Changes) != 3 {
		t.Fatalf("%+v", d.Sure)
	}
	var out bytes.Buffer
	if err := html.Write(&out, d.Document()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func exportAs(r export.Request, of ...string) func(t *testing.T, db *queries.DB) []byte {
	return func(t *testing.T, db *queries.DB) []byte {
		t.Helper()
		if len(of) > 0 {
			some, err := db.Subset(t.Context(), of...)
			if err != nil {
				t.Fatal(err)
			}
			defer some.Close()
			db = some
		}
		var out bytes.Buffer
		if err := export.Write(t.Context(), db, r, &out); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
}

// load opens a file in the browser, which must not send a request.
func (b *browser) load(document []byte, name string) {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), name)
	if err := os.WriteFile(path, document, 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.site = "file://" + filepath.Dir(path)
	b.run(navigate("file://"+path), poll(`document.readyState === 'complete'`))
}

// TestDocuments checks that documents open without a network, are accessible, and fit a phone, in light and dark
// colors. With STACKMILL_SOAK=1, each size is tested in both.
func TestDocuments(t *testing.T) {
	axe, err := os.ReadFile("testdata/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("no axe-core: run npm ci in cmd/acceptance/page/testdata")
	}
	db := store
	for _, of := range []struct {
		name          string
		width, height int64
		dark, soak    bool
	}{{"desktop", 1280, 850, false, false}, {"desktop dark", 1280, 850, true, true}, {"phone", 360, 740, false, true}, {"phone dark", 360, 740, true, false}} {
		if of.soak && os.Getenv("STACKMILL_SOAK") == "" {
			continue
		}
		t.Run(of.name, func(t *testing.T) {
			b := open(t, of.width, of.height, of.dark)
			for name, write := range documents {
				document := write(t, db)
				if len(document) > html.MaxSize {
					t.Errorf("%s has %d bytes", name, len(document))
				}
				b.load(document, "document.html")
				b.wholePicture(name)
				if wider := eval[int](b, `document.documentElement.scrollWidth - innerWidth`); wider > 0 {
					t.Errorf("%s is %d pixels wider than the window", name, wider)
				}
				if strings.HasPrefix(name, "html") {
					if drawn := eval[int](b, `Number(document.querySelector('canvas').dataset.drawn)`); drawn < 5 {
						t.Errorf("%s: %d frames are drawn", name, drawn)
					}
				}
				b.audit(name, string(axe))
				if !of.dark {
					b.run(emulation.SetEmulatedMedia().WithMedia("print"))
					b.wholePicture(name + " printed")
					if got := eval[int](b, `[...document.querySelectorAll('input, select, [role=tree]')].filter((e) => e.offsetHeight > 0).length`); got > 0 {
						t.Errorf("%s: %d controls are printed", name, got)
					}
					b.run(emulation.SetEmulatedMedia())
				}
			}
		})
	}
}

// audit fails the test if an accessibility checker finds anything in the document. The policy of a document allows
// other scripts only from the debugger.
func (b *browser) audit(name, axe string) {
	b.t.Helper()
	b.run(chromedp.Evaluate(axe+";0", nil))
	for _, f := range eval[[]string](b, `axe.run({ resultTypes: ['violations'] }).then((r) => r.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.html).slice(0, 3).join(' ')))`) {
		b.t.Errorf("%s: %s", name, f)
	}
}

// wholePicture saves a picture of the whole page, for people (go test -artifacts).
func (b *browser) wholePicture(name string) {
	b.t.Helper()
	var png []byte
	b.run(chromedp.FullScreenshot(&png, 100))
	path := filepath.Join(b.t.ArtifactDir(), strings.ReplaceAll(filepath.Base(b.t.Name())+"-"+name, " ", "-")+".png")
	if err := os.WriteFile(path, png, 0o666); err != nil {
		b.t.Fatal(err)
	}
}

// sumsOf returns the values of the functions of experiments according to SQL, as "FUNCTION|SELF|TOTAL", the highest
// first.
func sumsOf(t *testing.T, db *queries.DB, of ...string) (list []string) {
	t.Helper()
	found, err := db.Records(t.Context(), `SELECT function, load_object, sum(exclusive)::BIGINT AS self, sum(inclusive)::BIGINT AS total FROM function_metrics
		WHERE experiment IN (`+queries.Quote(of...)+`) AND metric = 'totalcpu' AND mode = 'user' GROUP BY function, load_object ORDER BY function = '<Total>' DESC, self DESC, total DESC, function, load_object`)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		list = append(list, fmt.Sprintf("%s|%d|%d", f.Text("function"), f.Number("self"), f.Number("total")))
	}
	return list
}

// TestDocumentNumbers checks that a document has the same numbers as SQL: the tree's sums, its total, and the
// functions.
func TestDocumentNumbers(t *testing.T) {
	db := store
	b := open(t, 1280, 850, false)
	for name, of := range map[string][]string{"html of one": {"recur.er"}, "html of two": {"recur.er", "cxx.er"}} {
		b.load(documents[name](t, db), "document.html")
		want := sumsOf(t, db, of...)
		got := eval[[]string](b, `[...document.querySelector('main table:not(.source)').tBodies[0].rows].map((r) => r.cells[4].innerText + '|' + [0, 2].map((i) => parseInt(r.cells[i].title || '0')).join('|'))`)
		if !slices.Equal(got, want) {
			t.Errorf("%s: functions are\n%q\nwant\n%q", name, got, want)
		}
		const tree = `(() => {
			const a = JSON.parse(document.querySelector('[data-flame] script').textContent);
			const wrong = a.level.map((level, n) => {
				let sum = a.exclusive[n];
				for (let k = n + 1; k < a.level.length && a.level[k] > level; k++) if (a.level[k] === level + 1) sum += a.value[k];
				return sum - a.value[n];
			}).filter((d) => d !== 0).length;
			return [wrong, a.total, a.value[0], a.experiments].join(' ');
		})()`
		total := strings.Split(want[0], "|")[1]
		if got, want := eval[string](b, tree), fmt.Sprintf("0 %s %s %d", total, total, len(of)); got != want {
			t.Errorf("%s: the tree's wrong sums, totals and experiments are %s, want %s", name, got, want)
		}
		if text := eval[string](b, `document.querySelector('.facts').innerText`); len(of) > 1 && !strings.Contains(text, "2, summed: recur.er; cxx.er") && !strings.Contains(text, "2, summed: cxx.er; recur.er") {
			t.Errorf("%s says %q", name, text)
		}
	}
	b.load(documents["html of one"](t, db), "document.html")
	source := eval[string](b, `[...document.querySelectorAll('table.source')].map((t) => t.innerText).join()`)
	if !strings.Contains(source, "fact(") {
		t.Errorf("the source is %q", source)
	}
	var self int64
	if err := db.QueryRow(`SELECT sum(exclusive) FROM line_metrics WHERE experiment = 'recur.er' AND metric = 'totalcpu' AND mode = 'user' AND function = 'fact'`).Scan(&self); err != nil {
		t.Fatal(err)
	}
	lines := eval[int64](b, `[...document.querySelector('table.source').querySelectorAll('td[title]')].reduce((sum, c) => sum + parseInt(c.title), 0)`)
	if lines != self {
		t.Errorf("the lines of fact have %d, want %d", lines, self)
	}
}

// TestDocumentFlame checks that a flame graph in a document can be zoomed by mouse and keys, searched, and seen from a
// function.
func TestDocumentFlame(t *testing.T) {
	db := store
	b := open(t, 1280, 850, false)
	b.load(documents["html of one"](t, db), "document.html")
	told := func() string { t.Helper(); return eval[string](b, `document.querySelector('.told').innerText`) }
	if !strings.Contains(told(), "<Total>") {
		t.Errorf("the root is %q", told())
	}
	b.run(chromedp.Focus(`[role=tree]`, chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Enter), poll(`document.querySelector('.told').innerText.includes('Show all')`))
	if text := told(); strings.Contains(text, "<Total>") || !strings.Contains(text, "Show all") {
		t.Errorf("zoomed, it is %q", text)
	}
	b.run(chromedp.KeyEvent(kb.Escape), chromedp.SendKeys(`.flamegraph input`, "is_even", chromedp.ByQuery))
	var even, total float64
	if err := db.QueryRow(`SELECT max(inclusive) FILTER (function = 'is_even'), max(inclusive) FILTER (function = '<Total>') FROM function_metrics WHERE experiment = 'recur.er' AND metric = 'totalcpu' AND mode = 'user'`).Scan(&even, &total); err != nil {
		t.Fatal(err)
	}
	if got, want := eval[string](b, `document.querySelector('.flamegraph output').innerText`), fmt.Sprintf("%.1f\u202f%% found", 100*even/total); got != want {
		t.Errorf("the search says %q, want %q", got, want)
	}
	b.run(chromedp.Click(`//td[@data-function]/button[.="is_even"]`, chromedp.BySearch), poll(`document.querySelectorAll('.flamegraph h3').length === 2`))
	if text := eval[string](b, `[...document.querySelectorAll('.flamegraph [role=tree]')].map((t) => t.innerText).join('|')`); strings.Count(text, "is_even") < 2 || !strings.Contains(text, "is_odd") {
		t.Errorf("callers and callees are %q", text)
	}
	b.run(chromedp.Click(`//th/button[.="Function"]`, chromedp.BySearch))
	names := eval[[]string](b, `[...document.querySelector('main table').tBodies[0].rows].slice(1).map((r) => r.cells[4].innerText)`)
	if !slices.IsSorted(names) || len(names) < 3 {
		t.Errorf("sorted by name, the functions are %q", names)
	}
}

// TestHostileDocuments checks that hostile names are shown as text in documents and images.
func TestHostileDocuments(t *testing.T) {
	dir := t.TempDir()
	db, err := suite.Open(pipeline.Options{Store: filepath.Join(dir, "store"), Labels: func(string) map[string]string { return map[string]string{"night": hostile} }}, writeHostile(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	b := open(t, 1280, 850, false)
	for _, as := range []string{"html", "svg"} {
		for _, by := range []string{"", "thread"} {
			b.load(exportAs(export.Request{As: as, Mode: "user", By: by, Filter: []string{hostile}})(t, db), "hostile."+as)
			b.run(chromedp.Sleep(100_000_000)) // an image that cannot be loaded calls its handler later
			if got := eval[string](b, `String(window.hacked) + document.querySelectorAll('img, [onerror]').length`); got != "undefined0" {
				t.Errorf("%s: %s", as, got)
			}
			if !strings.Contains(eval[string](b, `document.documentElement.textContent`), hostile) {
				t.Errorf("%s does not show the names", as)
			}
		}
	}
	for name, write := range map[string]func(*testing.T, *queries.DB) []byte{"functions": reportOf("functions"), "call tree": reportOf("call-tree"), "comparison": compared} {
		b.load(write(t, db), "hostile.html")
		b.run(chromedp.Sleep(100_000_000))
		if got := eval[string](b, `String(window.hacked) + document.querySelectorAll('img, [onerror]').length`); got != "undefined0" {
			t.Errorf("%s: %s", name, got)
		}
		if !strings.Contains(eval[string](b, `document.documentElement.textContent`), hostile) {
			t.Errorf("%s does not show the names", name)
		}
	}
	b.load(exportAs(export.Request{As: "html", Mode: "user"})(t, db), "hostile.html")
	if got := eval[string](b, `new Promise((done) => { const s = document.createElement('script'); s.textContent = 'window.late = 1'; document.body.append(s); done(String(window.late)); })`); got != "undefined" {
		t.Error("a script that is added later runs")
	}
	b.forgive(func(w string) bool { return strings.Contains(w, "Content Security Policy") })
}

// TestSVG checks that a flame graph as SVG is well-formed, has the widths of the values, can be zoomed, and works as
// an image.
func TestSVG(t *testing.T) {
	db := store
	image := exportAs(export.Request{As: "svg", Mode: "user", Metric: "totalcpu"}, "recur.er", "cxx.er")(t, db)
	for d := xml.NewDecoder(bytes.NewReader(image)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, dark := range []bool{false, true} {
		b := open(t, 1280, 850, dark)
		b.load(image, "graph.svg")
		b.wholePicture(fmt.Sprintf("graph dark %t", dark))
		var whole, recur int64
		if err := db.QueryRow(`SELECT sum(inclusive) FILTER (function = '<Total>'), sum(inclusive) FILTER (function = 'fact') FROM function_metrics
			WHERE experiment IN ('recur.er', 'cxx.er') AND metric = 'totalcpu' AND mode = 'user'`).Scan(&whole, &recur); err != nil {
			t.Fatal(err)
		}
		const width = `Number([...document.querySelectorAll('g.frame')].find((g) => g.dataset.name === 'fact').querySelector('rect').getAttribute('width'))`
		if got, want := eval[float64](b, width), 1200*float64(recur)/float64(whole); got < want-0.01 || got > want+0.01 {
			t.Errorf("fact is %g pixels wide, want %g", got, want)
		}
		b.run(chromedp.Click(`g.frame[data-name="fact"]`, chromedp.ByQuery))
		if got := eval[float64](b, width); got != 1200 {
			t.Errorf("zoomed, fact is %g pixels wide", got)
		}
		b.run(chromedp.Click(`#all`, chromedp.ByQuery))
		if got, want := eval[float64](b, width), 1200*float64(recur)/float64(whole); got < want-0.01 || got > want+0.01 {
			t.Errorf("after all again, fact is %g pixels wide, want %g", got, want)
		}
		b.load([]byte(`<!doctype html><title>image</title><img src="graph.svg" alt="">`), "image.html")
		if err := os.WriteFile(filepath.Join(strings.TrimPrefix(b.site, "file://"), "graph.svg"), image, 0o600); err != nil {
			t.Fatal(err)
		}
		b.run(chromedp.Reload(), poll(`document.images[0]?.complete`))
		if got := eval[int](b, `document.images[0].naturalWidth`); got != 1200 {
			t.Errorf("as an image, it is %d pixels wide", got)
		}
		b.forgive(func(w string) bool { return strings.Contains(w, "ERR_FILE_NOT_FOUND") })
	}
}
