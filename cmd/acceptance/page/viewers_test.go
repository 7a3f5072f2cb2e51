package page

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// exportLinks opens the menu Export, and returns its links by their texts and, of those that save a file, its name.
func (b *browser) exportLinks() map[string]string {
	b.t.Helper()
	b.run(chromedp.Click(`.top button[aria-haspopup=menu]`, chromedp.ByQuery))
	return eval[map[string]string](b, `Object.fromEntries([...document.querySelectorAll('.top [role=menuitem]')].map((a) =>
		[[a.firstChild.textContent, a.download].filter((t) => t !== '').join(' '), a.href]))`)
}

// The menu opens the selection in a viewer or saves it in two clicks, and saves the table of the place. What is saved
// has the values of the selection.
func TestExportMenu(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=functions&experiment=cxx.er&metric=totalcpu&where=cpu+%3E%3D+0")
	links := b.exportLinks()
	for name, begins := range map[string]string{
		"pprof cxx.er.pb.gz": "\x1f\x8b", "speedscope cxx.er.speedscope.json": "{", "Firefox Profiler cxx.er.json": "{", "Folded stacks cxx.er.folded.txt": "",
		"HTML cxx.er.html": "<!", "SVG cxx.er.svg": "<", "CSV functions.csv": "experiment", "Parquet functions.parquet": "PAR1", "Arrow functions.arrow": "\xff\xff\xff\xff", "JSON functions.json": "[",
	} {
		// The text is read as Latin-1: each byte is a character.
		text := eval[string](b, `fetch(`+strconv.Quote(links[name])+`).then((r) => r.arrayBuffer()).then((bytes) => String.fromCharCode(...new Uint8Array(bytes).slice(0, 4000)))`)
		if got := []rune(text); len(got) < 50 || string(got[:len([]rune(latin1(begins)))]) != latin1(begins) {
			t.Errorf("%s leads to %s: %.80q", name, links[name], text)
		}
		if !strings.Contains(links[name], "where=cpu") || !strings.Contains(links[name], "experiment=cxx.er") {
			t.Errorf("%s leads to another selection: %s", name, links[name])
		}
	}
	csv := eval[string](b, `fetch(`+strconv.Quote(links["CSV functions.csv"])+`).then((r) => r.text())`)
	var rows int
	if err := store.QueryRow(`SELECT count(*) FROM function_metrics WHERE experiment = 'cxx.er' AND metric = 'totalcpu' AND mode = 'user'`).Scan(&rows); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(csv, "\n") - 1; got != rows {
		t.Errorf("the table has %d rows of %d", got, rows)
	}

	// With keys alone.
	b.run(chromedp.KeyEvent(kb.Escape))
	if open := eval[bool](b, `document.querySelector('.top [role=menu]') !== null || document.activeElement.innerText.trim() !== 'Export'`); open {
		t.Error("Escape does not close the menu")
	}
	b.run(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown))
	if at := eval[string](b, `document.activeElement.download`); at != "cxx.er.pb.gz" {
		t.Errorf("two arrows lead to %q", at)
	}
}

// latin1 returns the characters with the values of the bytes.
func latin1(bytes string) string {
	var runes []rune
	for i := range len(bytes) {
		runes = append(runes, rune(bytes[i]))
	}
	return string(runes)
}

// The button Share, and the key Y, copy a link that shows the same; if the browser forbids that, the link is there to
// be copied.
func TestShare(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=experiments&find=plt&sort=-Samples&experiment=cxx.er&where=cpu+%3E%3D+0")
	shown := b.cells()
	said := func() string { return eval[string](b, `document.querySelector('.share-link').innerText`) }
	const copied = `document.querySelector('.share-link [role=status]').innerText.includes('Link copied')`
	b.run(chromedp.Evaluate(`navigator.clipboard.writeText = async (text) => { window.copied = text }`, nil),
		chromedp.Click(`.share-link button`, chromedp.ByQuery), poll(copied))
	link := eval[string](b, `window.copied`)
	b.run(chromedp.Evaluate(`window.copied = ''`, nil), chromedp.Evaluate(`document.activeElement.blur()`, nil), chromedp.KeyEvent("y"), poll(`window.copied !== ''`))
	if again := eval[string](b, `window.copied`); again != link {
		t.Errorf("the key copies %s, the button %s", again, link)
	}
	b.run(chromedp.Evaluate(`navigator.clipboard.writeText = async () => { throw new DOMException('denied', 'NotAllowedError') }`, nil),
		chromedp.Click(`.share-link button`, chromedp.ByQuery), poll(`document.querySelector('.share-link input') === document.activeElement`))
	if text := eval[string](b, `getSelection().toString()`); text != link || !strings.Contains(said(), "Ctrl C") {
		t.Errorf("%q is selected, and %q said", text, said())
	}
	other := open(t, 1280, 850, false)
	other.visit(strings.TrimPrefix(link, b.site+"/"))
	if got := other.cells(); !slices.Equal(got, shown) {
		t.Errorf("the link shows %q, not %q", got, shown)
	}
}

// If another viewer cannot show a selection, a page explains why and what to do; otherwise the
// viewer shows it.
func TestOpenIn(t *testing.T) {
	b := open(t, 1280, 850, false)
	link := func(place, name string) string {
		t.Helper()
		b.visit(place)
		return b.exportLinks()[name]
	}
	alert := func(address string) string {
		t.Helper()
		b.run(chromedp.Navigate(address), poll(`document.querySelector('[role=alert], canvas, #graph-container, .container') !== null`))
		b.forgive(func(w string) bool {
			return strings.Contains(w, "status of 400") || strings.Contains(w, "GL Driver Message")
		})
		return eval[string](b, `document.querySelector('[role=alert]')?.innerText ?? ''`)
	}
	for _, place := range []struct{ query, want string }{
		{"?view=functions&experiment=cxx.er&experiment=heap.er", "the experiments have different default metrics: heapallocbytes, totalcpu (choose one with metric, or fewer experiments)"},
		{"?view=functions&experiment=cxx.er&where=cpu+%3D+99", "no sample has a value"},
		{"?view=functions&experiment=cxx.er&where=cpu+%3D", "syntax error"},
		{"?view=functions&experiment=cxx.er&metric=heapleakcnt", `no metric "heapleakcnt" (choose one of `},
		{"?view=functions&experiment=cxx.er", ""},
		{"?view=functions&experiment=cxx.er&experiment=heap.er&metric=totalcpu", ""},
	} {
		if got := alert(link(place.query, "speedscope")); !strings.Contains(got, place.want) || place.want == "" && got != "" {
			t.Errorf("%s: speedscope says %q, not %q", place.query, got, place.want)
		}
	}
	if got := alert(link("?view=functions&experiment=cxx.er&where=cpu+%3D+99", "pprof")); !strings.Contains(got, "no sample has a value") {
		t.Errorf("pprof says %q", got)
	}
}
