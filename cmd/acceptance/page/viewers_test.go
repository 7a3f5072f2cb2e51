package page

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// If another viewer cannot show a selection, a page explains why and what to do; otherwise the
// viewer shows it.
func TestOpenIn(t *testing.T) {
	b := open(t, 1280, 850, false)
	link := func(place, name string) string {
		t.Helper()
		b.visit(place)
		return eval[string](b, `[...document.querySelectorAll('.openin a')].find((a) => a.innerText === '`+name+`' || a.textContent === '`+name+`').href`)
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
