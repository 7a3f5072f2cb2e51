package page

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"stackmill/cmd/acceptance/suite"
	"stackmill/internal/corpus"
	"stackmill/pipeline"
	"stackmill/pipeline/compact"
)

// restingText returns the text of the place once it has not changed for half a second: some parts of a place, such as
// the choice of columns, come after its rows.
func (b *browser) restingText() (text string) {
	b.t.Helper()
	b.run(poll(`(async () => {
		const text = () => document.querySelector('main').innerText;
		const was = text();
		await new Promise((go) => setTimeout(go, 500));
		return was === text();
	})()`), settled, chromedp.Evaluate(`document.querySelector('main').innerText`, &text))
	return text
}

// The page works while recordings are ingested and batches merged, and after another store has
// replaced its own.
func TestLiveStore(t *testing.T) {
	root, err := corpus.Root()
	if err != nil {
		t.Fatal(err)
	}
	exp := t.TempDir()
	if err := corpus.Unpack(filepath.Join(root, "testdata/gprofng/experiments.tar.gz"), exp); err != nil {
		t.Fatal(err)
	}
	names := []string{"recur", "cxx", "heap", "plt_lazy", "plt_sec"}
	dir := filepath.Join(t.TempDir(), "store")
	ingest := func(dir, name string) error {
		_, err := suite.Ingest(pipeline.Options{Store: dir}, filepath.Join(exp, "exp", name+".er"))
		return err
	}
	if err := ingest(dir, names[0]); err != nil {
		t.Fatal(err)
	}
	b := open(t, 1280, 850, false)
	b.site = served(t, dir, nil).address
	ended := make(chan error, 1)
	go func() {
		for _, name := range names[1:] {
			if err := ingest(dir, name); err != nil {
				ended <- err
				return
			}
			if _, err := compact.Run(t.Context(), compact.Options{Store: dir, Program: "test", TargetSize: 1 << 30, Memory: 512 << 20, Jobs: 1, Keep: time.Minute}); err != nil {
				ended <- err
				return
			}
		}
		ended <- nil
	}()
	places := []string{"?view=functions&experiment=recur.er", "", "?view=flame&experiment=recur.er", "?view=timeline&experiment=recur.er", sqlPlace("SELECT function, exclusive FROM top(5) WHERE experiment = 'recur.er'")}
	first := map[string]string{}
	looks := 0
	for running := true; running || looks < 2*len(places); looks++ {
		select {
		case err := <-ended:
			if running = false; err != nil {
				t.Fatal(err)
			}
		default:
		}
		place := places[looks%len(places)]
		b.visit(place)
		if alert := eval[string](b, `document.querySelector('[role=alert]')?.innerText ?? ''`); alert != "" {
			t.Fatalf("%s: %s", place, alert)
		}
		shown := b.restingText()
		if was, ok := first[place]; place != "" && ok && shown != was {
			t.Errorf("%s shows %q, and before %q", place, shown, was)
		}
		first[place] = shown
	}
	b.visit("")
	if rows := b.cells(); len(rows) != len(names) {
		t.Errorf("%d experiments of %d", len(rows), len(names))
	}

	other := filepath.Join(t.TempDir(), "other")
	if err := ingest(other, "sync"); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other, dir); err != nil {
		t.Fatal(err)
	}
	b.run(poll(`fetch('/healthz').then((r) => r.text()).then((text) => text.includes('1 experiment'))`)) // the server looks for changes a few times each second
	b.run(chromedp.Navigate(b.site + "/?view=functions&experiment=sync.er"))
	b.run(settled)
	if rows := b.cells(); len(rows) < 2 {
		t.Error(fmt.Sprint("the new store shows ", rows))
	}
}
