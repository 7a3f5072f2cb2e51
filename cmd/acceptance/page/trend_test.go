package page

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"stackmill/queries/storetest"
)

// The trend shows each night and the planted step, and links to what differs there.
func TestTrend(t *testing.T) {
	var nights []map[string]int
	for n := range 40 {
		values := map[string]int{"main": 500 + n*7%11, "slow": 100 + n*5%7}
		if n >= 25 {
			values["slow"] += 30
		}
		nights = append(nights, values)
	}
	address := served(t, storetest.New(t, storetest.Nights(nights)), nil).address
	b := open(t, 1280, 850, false)
	b.site = address
	b.visit("?view=trend&function=slow")
	b.run(chromedp.Click("main details summary", chromedp.ByQuery))
	rows := b.cells()
	if len(rows) != 41 || rows[0] != "2026-01-26 02:00:00, night-25.er|103 ms|133 ms|+29.1 %|"+strings.Split(rows[0], "|")[4]+"|10 before, 10 after" {
		t.Fatalf("%q", rows)
	}
	if rows[1] != "2026-01-01 02:00:00|night-00.er|100 ms|app|box|complete" || rows[40] != "2026-02-09 02:00:00|night-39.er|136 ms|app|box|complete" {
		t.Errorf("from %q to %q", rows[1], rows[40])
	}
	// Points have their values, and the change is at the planted night.
	drawn := eval[[]string](b, `[...document.querySelectorAll('svg.trend .point title')].map((p) => p.textContent)`)
	if len(drawn) != 40 || drawn[25] != "night-25.er, 2026-01-26 02:00:00: 136 ms" {
		t.Errorf("%d points, %q", len(drawn), drawn)
	}
	if at := eval[[]string](b, `[...document.querySelectorAll('svg.trend .change')].map((p) => p.getAttribute('d'))`); !slices.Equal(at, []string{"M625,0V140"}) {
		t.Errorf("changes at %q", at)
	}
	b.run(chromedp.Click(`//a[.='10 before, 10 after']`, chromedp.BySearch), settled)
	slower := slices.ContainsFunc(b.cells(), func(row string) bool { return strings.Contains(row, "|slower|slow|app") })
	if bases := eval[[]string](b, `new URLSearchParams(location.search).getAll('base')`); len(bases) != 10 || bases[0] != "night-15.er" || !slower {
		t.Errorf("%q are compared: %q", bases, b.cells())
	}
	b.visit("?view=trend&function=main")
	if note := eval[string](b, `[...document.querySelectorAll('main .note')].at(-1).innerText`); note != "No change." {
		t.Errorf("%q of a function that did not change", note)
	}
}
