package page

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// press presses keys, one after the other, and waits until nothing is loading.
func (b *browser) press(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.run(chromedp.KeyEvent(k))
	}
	b.run(settled)
}

// query returns the parameters of the page's address.
func (b *browser) query() url.Values {
	b.t.Helper()
	values, err := url.ParseQuery(strings.TrimPrefix(eval[string](b, `location.search`), "?"))
	if err != nil {
		b.t.Fatal(err)
	}
	return values
}

// TestCommandBox goes to a place, a program, a night and a function with the keyboard alone.
func TestCommandBox(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.site = served(t, nightlyStore(t), nil).address
	b.visit("")
	for _, c := range []struct{ text, parameter, want string }{
		{"flame gr", "view", "flame"},
		{"archive", "experiment", "target=archive"},
		{"2026-01-30", "experiment", "started=2026-01-30,target=archive"},
		{"validat", "function", "validate"},
	} {
		b.run(chromedp.KeyEvent("k", chromedp.KeyModifiers(2)), poll(`document.querySelector('.commandbox input') === document.activeElement`))
		b.run(chromedp.KeyEvent(c.text), poll(`document.querySelector('.commandbox .active')?.innerText.includes('`+c.text[:4]+`'.toLowerCase()) || document.querySelectorAll('.commandbox [role=option]').length < 4`))
		b.run(poll(`[...document.querySelectorAll('.commandbox [role=option]')].some((o) => o.innerText.toLowerCase().includes('` + strings.ToLower(c.text) + `'))`))
		b.press(kb.Enter)
		if got := b.query().Get(c.parameter); got != c.want {
			t.Errorf("%q leads to %s=%q, not %q", c.text, c.parameter, got, c.want)
		}
	}
}

// TestFilterChips adds, edits and removes filters in the selection bar. The share of the whole is SQL's, and Back
// undoes each step.
func TestFilterChips(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=flame&experiment=omp_gcc.er")
	share := func() string {
		t.Helper()
		return strings.ReplaceAll(eval[string](b, `document.querySelector('.portion').title`), "\u202f", " ")
	}
	total := func(function string) string {
		t.Helper()
		var v, whole int64
		if err := store.QueryRow(`SELECT max(inclusive) FILTER (function = ?), max(inclusive) FILTER (function = '<Total>') FROM function_metrics
WHERE experiment = 'omp_gcc.er' AND metric = 'totalcpu' AND mode = 'user'`, function).Scan(&v, &whole); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%s ns of %s ns, in 1 experiments", grouped(v), grouped(whole))
	}
	if got, want := share(), total("<Total>"); got != want {
		t.Errorf("without filters: %q, want %q", got, want)
	}
	b.press("/")
	b.run(chromedp.SetValue(`.filterform select`, "4", chromedp.ByQuery), chromedp.SendKeys(`.filterform input`, "^crit$"+kb.Enter, chromedp.ByQuery), settled)
	if got := b.query()["where"]; len(got) != 1 || got[0] != "stack_has('^crit$')" {
		t.Fatalf("the filter is %q", got)
	}
	if got, want := share(), total("crit"); got != want || got == total("<Total>") {
		t.Errorf("with the filter: %q, want %q", got, want)
	}
	b.run(chromedp.Click(`.chip button.text`, chromedp.ByQuery))
	if text := eval[string](b, `document.querySelector('.filterform input').value`); text != "^crit$" {
		t.Errorf("a click on the chip edits %q", text)
	}
	b.press(kb.Escape)
	b.run(chromedp.Click(`.chip .without`, chromedp.ByQuery), settled)
	if got := b.query()["where"]; len(got) != 0 {
		t.Errorf("after × the filter is %q", got)
	}
	b.run(chromedp.NavigateBack(), settled)
	if got := eval[string](b, `document.querySelector('.chip button.text').innerText`); got != "with crit" {
		t.Errorf("after Back the chip is %q", got)
	}
}

// grouped formats a number with separators of thousands.
func grouped(v int64) string {
	text := fmt.Sprint(v)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// TestPinnedBase swaps base and test, and keeps a pinned base when the program changes.
func TestPinnedBase(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.site = served(t, nightlyStore(t), nil).address
	b.visit("?view=flame&experiment=" + url.QueryEscape("started=2026-01-28..,target=ingestd") + "&base=" + url.QueryEscape("started=..2026-01-26,target=ingestd"))
	b.press("x")
	if q := b.query(); q.Get("experiment") != "started=..2026-01-26,target=ingestd" || q.Get("base") != "started=2026-01-28..,target=ingestd" {
		t.Errorf("after a swap: %v", q)
	}
	b.press("x", "p")
	choose := func(program string) {
		t.Helper()
		b.run(chromedp.Click(`.side.test [aria-label=Programs]`, chromedp.ByQuery),
			chromedp.Click(fmt.Sprintf(`//div[contains(@class, 'test')]//div[@role='option'][span=%q]`, program), chromedp.BySearch), settled)
	}
	choose("archive")
	if q := b.query(); q.Get("experiment") != "started=2026-01-28..,target=archive" || q.Get("base") != "started=..2026-01-26,target=ingestd" {
		t.Errorf("the pinned base is gone: %v", q)
	}
	b.press("p")
	choose("report")
	if q := b.query(); q.Get("experiment") != "started=2026-01-28..,target=report" || q.Has("base") {
		t.Errorf("a base that is not pinned stays: %v", q)
	}
}

// TestFrameKeys goes to places with the keyboard, folds the rail and changes colors, and tests that the focus goes to
// the heading and that Back returns to where the reader was.
func TestFrameKeys(t *testing.T) {
	axe, err := os.ReadFile("testdata/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("no axe-core: run npm ci in cmd/acceptance/page/testdata")
	}
	b := open(t, 1280, 500, false)
	b.site = served(t, nightlyStore(t), nil).address
	b.visit("")
	b.run(chromedp.Evaluate(`scrollTo(0, 300)`, nil))
	b.press("g", "e")
	if got := b.query().Get("view"); got != "experiments" {
		t.Errorf("G E leads to %q", got)
	}
	if y := eval[int](b, `scrollY`); y != 0 {
		t.Errorf("a new place starts at %d", y)
	}
	b.run(chromedp.NavigateBack(), settled, poll(`scrollY === 300`))
	b.press("[")
	b.run(poll(`document.querySelector('.rail').getBoundingClientRect().width === 48`))
	ground := `getComputedStyle(document.documentElement).backgroundColor`
	light := eval[string](b, ground)
	b.press("d")
	if dark := eval[string](b, ground); dark == light {
		t.Errorf("D leaves the ground %s", dark)
	}
	b.press("?")
	b.run(poll(`document.querySelector('dialog.help[open]') !== null`))
	b.audit("keys", string(axe))
	b.press(kb.Escape)
	b.run(navigate(b.site), settled)
	if dark := eval[string](b, ground); dark == light {
		t.Error("the browser forgets the colors")
	}
}
