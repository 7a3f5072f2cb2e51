package page

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"stackmill/cmd/acceptance/suite"
	"stackmill/internal/corpus"
	"stackmill/pipeline"
	"stackmill/queries/serve"
)

// delay is JavaScript that holds back requests whose URL contains a text until window.go is called.
func delay(text string) string {
	return fmt.Sprintf(`{
		const send = window.fetch;
		const wait = new Promise((go) => (window.go = go));
		window.sent = 0;
		window.fetch = async (request, ...more) => {
			const url = request.url ?? String(request);
			if (url.includes(%q)) {
				window.sent++;
				await Promise.race([wait, new Promise((_, fail) => request.signal?.addEventListener('abort', () => fail(request.signal.reason)))]);
			}
			return send(request, ...more);
		};
	}`, text)
}

// While an answer is loading, the old picture stays and is dimmed, and the reader can stop the request and ask again.
func TestWaiting(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=unknown&experiment=java.er")
	old := eval[string](b, `document.querySelector('.panel .shown').innerText`)
	go1 := func(change string) {
		t.Helper()
		b.run(chromedp.Evaluate(delay("/api/v1/unknown")+`; history.pushState(null, '', `+fmt.Sprintf("%q", change)+`); dispatchEvent(new PopStateEvent('popstate'))`, nil))
	}
	go1("/?view=unknown&experiment=omp_gcc.er")
	b.run(poll(`getComputedStyle(document.querySelector('.panel .shown')).opacity === '0.5'`))
	if now := eval[string](b, `document.querySelector('.panel .shown').innerText`); now != old {
		t.Errorf("while loading, the page shows %q", now)
	}
	b.run(poll(`document.querySelector('.waiting button') !== null`))
	if said := eval[string](b, `document.querySelector('.waiting').innerText`); !strings.HasPrefix(said, "Reading, ") {
		t.Errorf("it says %q", said)
	}
	b.run(chromedp.Click(`.waiting button`, chromedp.ByQuery), settled)
	if said := eval[string](b, `document.querySelector('.panel [role=alert]').innerText`); !strings.Contains(said, "stopped") {
		t.Errorf("after Stop it says %q", said)
	}
	b.run(chromedp.Evaluate(`window.go()`, nil), chromedp.Click(`.failed .btn.pri`, chromedp.ByQuery),
		poll(`document.querySelector('.failed') === null && document.querySelector('[aria-busy=true]') === null`))
	want := b.cells()
	fresh := open(t, 1280, 850, false)
	fresh.visit("?view=unknown&experiment=omp_gcc.er")
	if got := fresh.cells(); !slices.Equal(got, want) {
		t.Errorf("asked again: %q, want %q", want, got)
	}
}

// A request that takes too long is sent once. The page says what failed and why, and offers other ways.
func TestTooLate(t *testing.T) {
	s := served(t, store.Store, func(o *serve.Options) { o.Timeout = time.Millisecond })
	b := open(t, 1280, 850, false)
	b.site = s.address
	b.visit("?view=functions&experiment=java.er&where=" + url.QueryEscape("stack_has('main')"))
	said := eval[string](b, `document.querySelector('.panel [role=alert]').innerText`)
	if !strings.Contains(said, "The request took longer than 1ms.") || !strings.Contains(said, "sent once") || !strings.Contains(said, "--timeout") {
		t.Errorf("it says %q", said)
	}
	if ways := eval[[]string](b, `[...document.querySelectorAll('.failed')[0].querySelectorAll('button')].map((n) => n.innerText)`); len(ways) != 3 || ways[0] != "Ask again" {
		t.Errorf("it offers %q", ways)
	}
	b.run(chromedp.Sleep(time.Second)) // a browser would repeat the request within this time
	if got := s.statuses("/api/v1/functions"); !slices.Equal(got, []int{422}) {
		t.Errorf("the answers are %v", got)
	}
	b.run(chromedp.Click(`.failed .btn.pri`, chromedp.ByQuery), chromedp.Sleep(time.Second), settled)
	if got := s.statuses("/api/v1/functions"); !slices.Equal(got, []int{422, 422}) {
		t.Errorf("asked again, the answers are %v", got)
	}
	b.forgive(func(w string) bool { return strings.Contains(w, "status of 422") })
}

// An empty answer says which filter emptied it, what there is without the filter, and removes it.
func TestEmptied(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=functions&experiment=cxx.er&function=main&cpu=0&cpu=1&cpu=2&cpu=3&thread=999999")
	b.run(poll(`document.querySelector('.emptied .ways .btn.pri') !== null`))
	said := eval[string](b, `document.querySelector('.emptied').innerText`)
	var whole int64
	if err := store.QueryRow(`SELECT inclusive FROM function_metrics WHERE experiment = 'cxx.er' AND metric = 'totalcpu' AND mode = 'user' AND function = '<Total>'`).Scan(&whole); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(said, "There are 5 filters") || !strings.Contains(said, "Without thread 999999 there are ") {
		t.Errorf("it says %q", said)
	}
	if n := eval[int](b, `document.querySelectorAll('.emptied .btn.pri').length`); n != 1 {
		t.Errorf("%d filters are offered to be removed", n)
	}
	b.run(chromedp.Click(`.emptied .btn.pri`, chromedp.ByQuery), settled)
	if search := eval[string](b, `location.search`); strings.Contains(search, "thread=") || !strings.Contains(search, "cpu=3") {
		t.Errorf("it leads to %s", search)
	}
	if n := len(b.cells()); n == 0 {
		t.Error("without the filter there is nothing")
	}
}

// A page says what is new in a growing store, and shows one state of it until the reader takes the new one. It says
// when the store is replaced, and when the server does not answer.
func TestGrowingStore(t *testing.T) {
	root, err := corpus.Root()
	if err != nil {
		t.Fatal(err)
	}
	exp := t.TempDir()
	if err := corpus.Unpack(filepath.Join(root, "testdata/gprofng/experiments.tar.gz"), exp); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "store")
	ingest := func(dir string, names ...string) {
		t.Helper()
		for _, name := range names {
			if _, err := suite.Ingest(pipeline.Options{Store: dir}, filepath.Join(exp, "exp", name+".er")); err != nil {
				t.Fatal(err)
			}
		}
	}
	ingest(dir, "recur")
	s := served(t, dir, nil)
	b := open(t, 1280, 850, false)
	b.site = s.address
	b.visit("?view=experiments")
	names := func() int {
		t.Helper()
		return eval[int](b, `document.querySelectorAll('main tbody tr').length`)
	}
	if names() != 1 {
		t.Fatalf("%d experiments", names())
	}
	ingest(dir, "cxx", "heap")
	b.run(poll(`document.querySelector('.top').innerText.includes('2 new')`))
	for _, place := range []string{"Unknown", "Experiments"} { // other places show the old state, too
		b.run(chromedp.Click(fmt.Sprintf(`//nav//a[contains(., %q)]`, place), chromedp.BySearch), settled)
	}
	if names() != 1 {
		t.Errorf("%d experiments before they are taken", names())
	}
	b.run(chromedp.Evaluate(`document.activeElement.blur()`, nil), chromedp.KeyEvent("r"), settled, poll(`document.querySelectorAll('main tbody tr').length === 3`))
	if said := eval[string](b, `document.querySelector('.top').innerText`); strings.Contains(said, "new") || !strings.Contains(said, "3 experiments") {
		t.Errorf("the top line says %q", said)
	}

	other := filepath.Join(t.TempDir(), "other")
	ingest(other, "sync")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other, dir); err != nil {
		t.Fatal(err)
	}
	b.run(poll(`document.querySelector('.top').innerText.includes('1 new')`))
	b.run(chromedp.KeyEvent("r"), settled, poll(`document.querySelectorAll('main tbody tr').length === 1`))

	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	b.run(poll(`document.querySelector('.top .store.wrong') !== null`))
	b.forgive(func(w string) bool { return strings.Contains(w, "503") })
}
