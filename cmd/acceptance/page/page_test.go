// Package page tests the served page in a real browser, on a store of real recordings: its numbers
// are SQL's, it sends requests only to its server, and it can be used without a mouse and with a
// screen reader.
package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"stackmill/cmd/acceptance/suite"
	"stackmill/internal/corpus"
	"stackmill/pipeline"
	"stackmill/queries"
	sourcefiles "stackmill/stages/symbolize/source"
)

var (
	store *queries.DB
	site  string // the address of the server
)

func TestMain(m *testing.M) {
	answer()
	suite.Main(m, func(dir string) (db *queries.DB, err error) {
		exp, err := corpus.Dir()
		if err != nil {
			return nil, err
		}
		defer corpus.Remove()
		var paths []string
		for _, name := range []string{"recur", "cxx", "heap", "omp_gcc", "java", "plt_lazy", "plt_sec"} {
			paths = append(paths, filepath.Join(exp, "exp", name+".er"))
		}
		if recurObject, err = keepObject(dir, filepath.Join(exp, "exp", "recur.er", "archives", "recur_*")); err != nil {
			return nil, err
		}
		deep, err := writeDeep(dir)
		if err != nil {
			return nil, err
		}
		if err := corpus.Data(dir); err != nil {
			return nil, err
		}
		paths = append(paths, deep, filepath.Join(dir, "data", "records_gcc_O2.data"))
		if store, err = suite.Open(pipeline.Options{Store: filepath.Join(dir, "store"), SymFS: filepath.Join(dir, "symfs"), Labels: labels, Sources: texts}, paths...); err != nil {
			return nil, err
		}
		s, err := serving(store.Store, nil)
		if err != nil {
			return nil, err
		}
		site = s.address
		return store, nil
	})
}

// texts says where the source text of the recorded programs is.
var texts = []sourcefiles.Rule{{From: "/tmp/corpus/src", To: "../../../testdata/gprofng/src"}}

// labels returns the labels of a recording.
func labels(path string) map[string]string {
	if variant, is := strings.CutPrefix(strings.TrimSuffix(filepath.Base(path), ".er"), "plt_"); is {
		return map[string]string{"variant": variant, "note": "a, b"}
	}
	return nil
}

// browser is a browser tab that records errors.
type browser struct {
	context.Context
	t      *testing.T
	site   string // the address of the page
	inside string // the site where it is logged in

	mu    sync.Mutex
	wrong []string
}

// open starts a browser with a window of a size. Errors in it until the test ends fail the test.
func open(t *testing.T, width, height int64, dark bool) *browser {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium")
	}
	flags := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.IgnoreCertErrors, chromedp.WindowSize(int(width), int(height)))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), flags...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	if err := chromedp.Run(ctx); err != nil { // the browser ends with this context, so that it has no time limit
		t.Fatal(err)
	}
	b := &browser{Context: ctx, t: t, site: site}
	chromedp.ListenTarget(ctx, b.note)
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	b.run(network.Enable(), log.Enable(), runtime.Enable(), emulation.SetDeviceMetricsOverride(width, height, 1, width < 500),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, w := range b.wrong {
			t.Error(w)
		}
	})
	return b
}

// note records an error.
func (b *browser) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.wrong = append(b.wrong, "exception: "+e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
			text, _ := json.Marshal(e.Args)
			b.wrong = append(b.wrong, fmt.Sprintf("console: %s: %s", e.Type, text))
		}
	case *log.EventEntryAdded:
		if strings.Contains(e.Entry.Text, "GL Driver Message (OpenGL, Performance") {
			return // a remark on drawing speed
		}
		if e.Entry.Text == "Autofocus processing was blocked because a document already has a focused element." {
			return // the test was faster: it has typed into the form before the browser came to focus it
		}
		b.wrong = append(b.wrong, fmt.Sprintf("log: %s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; !strings.HasPrefix(u, b.site+"/") && !strings.HasPrefix(u, "blob:"+b.site) && !strings.HasPrefix(u, "data:") && u != "about:blank" {
			b.wrong = append(b.wrong, "a request left the server: "+u)
		}
	}
}

func (b *browser) run(actions ...chromedp.Action) {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.Context, 2*time.Minute)
	defer stop()
	if err := chromedp.Run(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// forgive forgets expected errors.
func (b *browser) forgive(expected func(string) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wrong = slices.DeleteFunc(b.wrong, expected)
}

// navigate opens an address.
func navigate(address string) chromedp.Action { return chromedp.Navigate(address) }

// poll waits until an expression, or its promise, is true. It always evaluates in the current
// document: chromedp.Poll fails if the page navigates meanwhile.
func poll(expression string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		for {
			var is bool
			err := chromedp.Evaluate(`(async () => Boolean(await (`+expression+`)))()`, &is, awaited).Do(ctx)
			var left *cdproto.Error // the document was left, or is not there yet
			if err != nil && !errors.As(err, &left) || is {
				return err
			}
			if err := chromedp.Sleep(20 * time.Millisecond).Do(ctx); err != nil {
				return fmt.Errorf("waiting for %s: %w", expression, err)
			}
		}
	})
}

// awaited waits for a promise and returns its value.
func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// settled waits until no panel is loading.
var settled = poll(`document.querySelector('main *') !== null && document.querySelector('[aria-busy=true]') === null`)

// visit opens a place of the page. The first address has the token, like the address that the
// program prints.
func (b *browser) visit(query string) {
	b.t.Helper()
	place := "/" + query
	if b.inside != b.site {
		b.inside = b.site
		place = "/?token=" + token + strings.Replace(query, "?", "&", 1)
	}
	b.run(chromedp.Navigate(b.site+place), settled)
}

// eval returns the value of an expression in the page.
func eval[T any](b *browser, expression string) (v T) {
	b.t.Helper()
	b.run(chromedp.Evaluate(expression, &v, awaited))
	return v
}

// cells returns the rows of a table, one line each, with | between cells.
func (b *browser) cells() []string {
	b.t.Helper()
	return eval[[]string](b, `[...document.querySelectorAll('main tbody tr')].map((r) => [...r.cells].map((c) => c.innerText.trim()).join('|'))`)
}

// places are addresses of all places of the page, in the order of the rail.
var places = []string{
	"",
	"?view=experiments", "?view=experiments&narrow=variant%3Dsec&sort=-Samples",
	"?view=compare&base=plt_lazy.er&experiment=plt_sec.er", "?view=compare&base=recur.er&experiment=cxx.er&normalise=total&width=test",
	"?view=trend&function=main",
	"?view=flame&experiment=cxx.er&side=inverted&search=geo&root=bottom", "?view=flame&experiment=recur.er&side=callers&of=fact", "?view=flame&experiment=cxx.er&side=sandwich&group=load+object&of=cxx&colour=module",
	"?view=functions&experiment=cxx.er&inline=true&mode=expert&function=main", "?view=functions&show=runs&rows=load-object&columns=size", "?view=functions&show=metrics&experiment=heap.er&columns=size&columns=history", "?view=functions&base=recur.er&experiment=cxx.er&where=stack_has('main')",
	"?view=graph&experiment=recur.er&function=is_odd&piece=main&piece=is_even&piece=is_odd", "?view=graph&experiment=cxx.er&group=module", "?view=graph&experiment=recur.er&function=is_even&cycle=true",
	"?view=source&experiment=cxx.er&function=main&unfold=all", "?view=source&experiment=cxx.er&layout=interleaved&value=total", "?view=source&experiment=deep.pb.gz&function=f7", "?view=source&base=plt_lazy.er&experiment=plt_sec.er&function=caller_inc", "?view=source&experiment=omp_gcc.er&function=GOMP_parallel&mode=machine",
	"?view=timeline&experiment=omp_gcc.er", "?view=timeline&experiment=omp_gcc.er&lanes=cpus",
	"?view=heatmap&experiment=omp_gcc.er&between=0.500s,1.200s",
	shape, "?view=heap&experiment=heap.er", "?view=files", "?view=locks",
	"?view=unknown&experiment=java.er", "?view=sql",
}

// Every place is shown without an error and is accessible, in three sizes and both themes. With
// STACKMILL_SOAK=1, each size is tested in both themes.
func TestPanels(t *testing.T) {
	axe, err := os.ReadFile("testdata/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("no axe-core: run npm ci in cmd/acceptance/page/testdata")
	}
	for _, of := range []struct {
		name          string
		width, height int64
		dark, soak    bool
	}{
		{"light", 1280, 850, false, false}, {"dark", 1280, 850, true, true}, {"tablet", 800, 1100, false, true},
		{"tablet dark", 800, 1100, true, false}, {"phone", 390, 800, false, true}, {"phone dark", 390, 800, true, false},
	} {
		if of.soak && os.Getenv("STACKMILL_SOAK") == "" {
			continue
		}
		t.Run(of.name, func(t *testing.T) {
			b := open(t, of.width, of.height, of.dark)
			for _, place := range places {
				b.shows(place, string(axe))
			}
			for _, view := range eval[[]string](b, `[...document.querySelectorAll('nav[aria-label=Places] a')].map((a) => new URL(a.href).searchParams.get('view') ?? '')`) {
				if !slices.ContainsFunc(places, func(p string) bool { return p == view || strings.HasPrefix(p+"&", "?view="+view+"&") }) {
					t.Errorf("the place %q is not tested", view)
				}
			}
		})
	}
}

// shows opens a place, and tests that it is shown without an error, fits the window and is accessible.
func (b *browser) shows(place, axe string) {
	b.t.Helper()
	b.fits(place)
	b.audit(place, axe)
}

// fits opens a place, and tests that it is shown without an error, with one heading, and fits the window.
func (b *browser) fits(place string) {
	b.t.Helper()
	b.visit(place)
	b.picture(place)
	if text := eval[string](b, `document.querySelector('main').innerText`); len(text) < 20 || strings.Contains(text, "Loading") {
		b.t.Errorf("%s shows %q", place, text)
	}
	if alert := eval[string](b, `document.querySelector('[role=alert]')?.innerText ?? ''`); alert != "" {
		b.t.Errorf("%s: %s", place, alert)
	}
	if headings := eval[[]string](b, `[...document.querySelectorAll('h1')].map((h) => h.innerText)`); len(headings) != 1 {
		b.t.Errorf("%s has the headings %q", place, headings)
	}
	if wider := eval[int](b, `document.documentElement.scrollWidth - innerWidth`); wider > 0 {
		b.t.Errorf("%s is %d pixels wider than the window", place, wider)
	}
}

// picture saves a screenshot, for people (go test -artifacts).
func (b *browser) picture(place string) {
	b.t.Helper()
	var png []byte
	b.run(chromedp.CaptureScreenshot(&png))
	query, err := url.ParseQuery(strings.TrimPrefix(place, "?"))
	if err != nil {
		b.t.Fatal(err)
	}
	name := strings.Join(append([]string{filepath.Base(b.t.Name())}, query["view"]...), "-")
	for n := 0; ; n++ {
		path := filepath.Join(b.t.ArtifactDir(), fmt.Sprintf("%s-%d.png", name, n))
		if _, err := os.Stat(path); err == nil {
			continue // of the same panel
		}
		if err := os.WriteFile(path, png, 0o666); err != nil {
			b.t.Fatal(err)
		}
		return
	}
}

// The page shows the same numbers as SQL.
func TestNumbers(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=experiments")
	if rows := b.cells(); len(rows) != store.Count {
		t.Errorf("%d experiments of %d", len(rows), store.Count)
	}
	b.visit("?view=flame&experiment=cxx.er")
	var nodes int
	if err := store.QueryRow(`SELECT count(*) FROM call_tree WHERE experiment = 'cxx.er' AND metric = 'totalcpu' AND mode = 'user'`).Scan(&nodes); err != nil {
		t.Fatal(err)
	}
	if note := eval[string](b, `document.querySelector('.flamelegend').innerText`); !strings.Contains(note, fmt.Sprintf("%d nodes, finer ones come as you zoom", nodes)) {
		t.Errorf("%q of %d nodes", note, nodes)
	}
}

// The address holds the selection, back and forward restore it, and filters apply to all panels.
func TestPlaces(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=experiments")
	click := func(selector string) { t.Helper(); b.run(chromedp.Click(selector, chromedp.ByQuery), settled) }
	link := func(text string) {
		t.Helper()
		b.run(chromedp.Click(fmt.Sprintf(`//main//a[.=%[1]q] | //nav[@aria-label="Places"]//a[span=%[1]q]`, text), chromedp.BySearch), settled)
	}
	heading := func() string { t.Helper(); return eval[string](b, `document.title`) }
	link("recur.er")
	if got := heading(); got != "recur.er – Flame graph – stackmill" {
		t.Error(got)
	}
	link("Functions")
	link("Call graph")
	if got := heading(); got != "recur.er – Call graph – stackmill" {
		t.Error(got)
	}
	place := eval[string](b, `location.search`)
	b.run(chromedp.NavigateBack(), settled)
	if got := heading(); got != "recur.er – Functions – stackmill" {
		t.Error(got)
	}
	b.run(chromedp.NavigateForward(), settled)
	if got := eval[string](b, `location.search`); got != place {
		t.Errorf("forward leads to %s, not %s", got, place)
	}
	fresh := open(t, 1280, 850, false)
	fresh.visit(place)
	if got, want := fresh.neighbors("callers"), b.neighbors("callers"); !slices.Equal(got, want) || len(want) == 0 {
		t.Errorf("the link shows %q, want %q", got, want)
	}

	b.visit("?view=functions&experiment=omp_gcc.er")
	all := b.cells()[0]
	thread := store.QueryRow("SELECT thread_id FROM thread_metrics WHERE experiment = 'omp_gcc.er' AND metric = 'totalcpu' AND mode = 'user' ORDER BY value LIMIT 1")
	var id string
	if err := thread.Scan(&id); err != nil {
		t.Fatal(err)
	}
	link("Timeline")
	click(`.timelinetree .thread .named`)
	link("Functions")
	if one := b.cells()[0]; one == all {
		t.Errorf("a thread has all: %s", one)
	}
}

// The flame graph can be walked and zoomed by keys.
func TestKeys(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=flame&experiment=recur.er")
	b.run(chromedp.Focus(`[role=tree]`, chromedp.ByQuery))
	const at = `document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))`
	for _, step := range []struct {
		key  string
		want int
	}{{kb.ArrowDown, 2}, {kb.ArrowRight, 2}, {kb.ArrowDown, 3}, {kb.ArrowRight, 3}, {kb.ArrowDown, 4}, {kb.ArrowLeft, 3}, {kb.Home, 1}, {kb.ArrowDown, 2}} {
		b.run(chromedp.KeyEvent(step.key), poll(fmt.Sprintf(`Number(%[1]s?.ariaLevel) === %[2]d && (%[1]s.querySelector('.name').innerText === %[3]s || %[2]d === 1)`, at, step.want, chosenFrame)))
	}
	b.run(chromedp.KeyEvent("m"), chromedp.WaitVisible(`[role=menu]`, chromedp.ByQuery), chromedp.KeyEvent(kb.Escape), poll(at+` !== null`))
	b.run(chromedp.KeyEvent(kb.Enter), poll(`new URLSearchParams(location.search).has('zoom')`), settled)
	b.run(poll(at+` !== null`), chromedp.KeyEvent(kb.Escape), poll(`!new URLSearchParams(location.search).has('zoom')`), settled)
}
