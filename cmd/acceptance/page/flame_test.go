package page

import (
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/pprof/profile"

	"stackmill/cmd/acceptance/suite"
	"stackmill/pipeline"
	"stackmill/queries"
)

// deepest is the number of functions on the stack of deep.pb.gz, from f0 at the root.
const deepest = 2000

// writeDeep writes a profile with one stack that is deeper than a canvas can be high.
func writeDeep(dir string) (path string, err error) {
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}}
	mapping := &profile.Mapping{ID: 1, Start: 0x1000, Limit: 0x100000, File: "/bin/deep", HasFunctions: true}
	p.Mapping = []*profile.Mapping{mapping}
	sample := &profile.Sample{Value: []int64{1e9}}
	for i := range deepest {
		f := &profile.Function{ID: uint64(i + 1), Name: fmt.Sprintf("f%d", i), SystemName: fmt.Sprintf("f%d", i), Filename: "deep.c"}
		l := &profile.Location{ID: uint64(i + 1), Mapping: mapping, Address: 0x1000 + uint64(i)*16, Line: []profile.Line{{Function: f, Line: 1}}}
		p.Function, p.Location = append(p.Function, f), append(p.Location, l)
		sample.Location = append([]*profile.Location{l}, sample.Location...)
	}
	p.Sample = []*profile.Sample{sample}
	path = filepath.Join(dir, "deep.pb.gz")
	out, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer out.Close()
	return path, p.Write(out)
}

// share formats a part of a whole as the page does.
func share(part, whole int64) string {
	switch percent := 100 * float64(part) / float64(whole); {
	case part == 0:
		return "0"
	case percent < 0.05:
		return "<\u202f0.1\u202f%"
	default:
		return strconv.FormatFloat(math.Floor(10*percent+0.5)/10, 'f', 1, 64) + "\u202f%"
	}
}

// chosenFrame is the name of the chosen frame.
const chosenFrame = `(document.querySelector('.stack [aria-current]')?.innerText ?? '')`

// at sends an event of the pointer to the canvas, at a part of its width and a row that is visible.
func (b *browser) at(kind string, x float64, row int, more string) {
	b.t.Helper()
	b.run(chromedp.Evaluate(fmt.Sprintf(`(() => {
		const c = document.querySelector('.flamescroll canvas'), box = c.getBoundingClientRect();
		const Kind = { p: PointerEvent, w: WheelEvent }[%[1]q[0]] ?? MouseEvent;
		c.dispatchEvent(new Kind(%[1]q, { bubbles: true, cancelable: true, pointerId: 1, clientX: box.left + %[2]g * box.width, clientY: box.top + 20 * %[3]d + 10, %[4]s }));
	})()`, kind, x, row, more), nil), settled)
}

// window returns the part of the width that is drawn.
func (b *browser) window() (from, until float64) {
	b.t.Helper()
	text := eval[string](b, `document.querySelector('.flamescroll canvas').dataset.window`)
	if text == "" {
		return 0, 1
	}
	if _, err := fmt.Sscanf(text, "%g,%g", &from, &until); err != nil {
		b.t.Fatal(text, err)
	}
	return from, until
}

// All frames of a stack that is higher than a canvas can be are drawn as one scrolls.
func TestDeepStack(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=flame&experiment=deep.pb.gz")
	for _, level := range []int{1, 1000, deepest} {
		want := fmt.Sprintf("f%d", level-1)
		row := eval[int](b, fmt.Sprintf(`(async () => {
			const on = document.querySelector('.flamescroll');
			on.scrollTop = 20 * %d - 100;
			await new Promise((r) => setTimeout(r, 100));
			return %d - on.scrollTop / 20;
		})()`, level, level))
		b.at("click", 0.5, row, "")
		b.run(poll(chosenFrame + ` === ` + strconv.Quote(want)))
	}
	if text := eval[string](b, `document.querySelector('.stack').innerText`); !strings.Contains(text, fmt.Sprintf("%d callers", deepest+1-12)) {
		t.Errorf("the stack is %q", text)
	}
}

// The callers and callees of a function, a module and a load object have its inclusive
// value, which counts each sample once.
func TestSandwich(t *testing.T) {
	b := open(t, 1280, 850, false)
	for _, of := range []struct{ group, view, name string }{
		{"function", "function_metrics", "function"},
		{"module", "module_metrics", "regexp_extract(module, '[^/]*$')"},
		{"load-object", "load_object_metrics", "load_object"},
	} {
		for _, experiment := range []string{"cxx.er", "recur.er"} {
			found, err := store.Records(t.Context(), fmt.Sprintf(`SELECT name, any_value(inclusive) AS inclusive, any_value(total) AS total FROM (
				SELECT %s AS name, inclusive, (SELECT sum(value)::BIGINT FROM stack_values s WHERE s.experiment_id = v.experiment_id AND s.metric = v.metric) AS total
				FROM %s v WHERE experiment = ? AND metric = 'totalcpu' AND mode = 'user') WHERE name NOT LIKE '<%%' AND name <> '(unknown)'
				GROUP BY name HAVING count(*) = 1 ORDER BY inclusive DESC LIMIT 5`, of.name, of.view), experiment)
			if err != nil {
				t.Fatal(err)
			}
			if len(found) < 2 && of.group != "module" {
				t.Fatalf("%d of %s", len(found), of.view)
			}
			for _, f := range found {
				b.sandwich(experiment, of.group, f)
			}
		}
	}
	// Without a name, the graph is about the function with the most exclusive time.
	highest, err := store.Records(t.Context(), `SELECT function FROM function_metrics WHERE experiment = 'recur.er' AND metric = 'totalcpu' AND mode = 'user' AND function <> '<Total>' ORDER BY exclusive DESC LIMIT 1`)
	if err != nil {
		t.Fatal(err)
	}
	b.visit("?view=flame&side=sandwich&experiment=recur.er")
	if text := eval[string](b, `document.querySelector('.around').innerText`); !strings.Contains(text, highest[0].Text("function")+", the function with the most exclusive time") {
		t.Errorf("it is about %q", text)
	}
}

// sandwich checks the graphs of callers and callees of the group in a record.
func (b *browser) sandwich(experiment, group string, f queries.Record) {
	b.t.Helper()
	b.visit("?view=flame&side=sandwich&experiment=" + experiment + "&group=" + url.QueryEscape(group) + "&of=" + url.QueryEscape(f.Text("name")))
	want := share(f.Number("inclusive"), f.Number("total"))
	got := eval[[]string](b, `[...document.querySelectorAll('[role=tree]')].map((t) => t.getAttribute('aria-label') + ' ' + t.querySelector('[role=treeitem] .number').innerText)`)
	if len(got) != 2 || got[0] != "Callers "+want || got[1] != "Callees "+want {
		b.t.Errorf("%s: %s %s has %q, want %s", experiment, group, f.Text("name"), got, want)
	}
}

// flameAnswer are the fields of a flame graph that tests read.
type flameAnswer struct {
	Nodes  int
	Total  int64
	Groups struct {
		Name                 []string
		Exclusive, Inclusive []int64
	}
	Names            struct{ Name []string }
	Level, Name      []int
	Value, Exclusive []int64
}

// flamegraph requests a flame graph of cxx.er.
func (b *browser) flamegraph(query string) (a flameAnswer) {
	b.t.Helper()
	return eval[flameAnswer](b, fmt.Sprintf(`(async () => (await fetch('/api/v1/flamegraph?experiment=cxx.er&metric=totalcpu&form=columns&' + %q)).json())()`, query))
}

// The sums of groups, of the whole tree and of all its sides are those of the views, however few frames are drawn.
func TestFlameSums(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=flame&experiment=cxx.er")
	for by, view := range map[string][2]string{"load-object": {"load_object_metrics", "load_object"}, "module": {"module_metrics", "module"}} {
		rows, err := store.Records(t.Context(), fmt.Sprintf(`SELECT %s AS name, exclusive, inclusive FROM %s WHERE experiment = 'cxx.er' AND metric = 'totalcpu' AND mode = 'user'`, view[1], view[0]))
		if err != nil {
			t.Fatal(err)
		}
		a := b.flamegraph("width=1&by=" + by)
		compared := 0
		for i, name := range a.Groups.Name {
			for _, r := range rows {
				if full := r.Text("name"); full == name || strings.HasSuffix(full, "/"+name) {
					if compared++; r.Number("exclusive") != a.Groups.Exclusive[i] || r.Number("inclusive") != a.Groups.Inclusive[i] {
						t.Errorf("%s %s has %d and %d, in SQL %d and %d", by, name, a.Groups.Exclusive[i], a.Groups.Inclusive[i], r.Number("exclusive"), r.Number("inclusive"))
					}
				}
			}
		}
		if compared == 0 {
			t.Errorf("no %s is in %s: %q", by, view[0], a.Groups.Name)
		}
	}
	rows, err := store.Records(t.Context(), `SELECT function, sum(exclusive)::BIGINT AS exclusive, sum(inclusive)::BIGINT AS inclusive FROM function_metrics
		WHERE experiment = 'cxx.er' AND metric = 'totalcpu' AND mode = 'user' GROUP BY function HAVING count(*) = 1`)
	if err != nil {
		t.Fatal(err)
	}
	inverted, whole := b.flamegraph("side=inverted"), b.flamegraph("width=100000")
	if whole.Nodes != len(whole.Level) {
		t.Errorf("%d nodes of %d", len(whole.Level), whole.Nodes)
	}
	compared := 0
	for _, r := range rows {
		for n, level := range inverted.Level {
			if level == 1 && inverted.Names.Name[inverted.Name[n]] == r.Text("function") {
				if compared++; inverted.Value[n] != r.Number("exclusive") {
					t.Errorf("inverted, %s has %d, in SQL %d", r.Text("function"), inverted.Value[n], r.Number("exclusive"))
				}
			}
		}
		var inclusive int64
		for n, end := 0, -1; n < len(whole.Level); n++ {
			if end >= 0 && whole.Level[n] > end {
				continue
			}
			if end = -1; whole.Names.Name[whole.Name[n]] == r.Text("function") {
				inclusive, end = inclusive+whole.Value[n], whole.Level[n]
			}
		}
		if inclusive != r.Number("inclusive") {
			t.Errorf("%s has %d, in SQL %d", r.Text("function"), inclusive, r.Number("inclusive"))
		}
	}
	if compared < 5 {
		t.Errorf("%d functions", compared)
	}
}

// A search says how many frames it finds in the whole graph and their share, an invalid expression what is wrong. N goes
// from hit to hit, and a link restores zoom and search.
func TestFlameSearch(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=flame&experiment=recur.er")
	type counted struct {
		Frames       int
		Value, Total int64
	}
	want := eval[counted](b, `(async () => (await fetch('/api/v1/flamegraph/search?experiment=recur.er&search=/is_/')).json())()`)
	inclusive, err := store.Records(t.Context(), `SELECT sum(value)::BIGINT AS value FROM folded WHERE experiment = 'recur.er' AND metric = 'totalcpu' AND mode = 'user' AND stack LIKE '%is!_%' ESCAPE '!'`)
	if err != nil {
		t.Fatal(err)
	}
	if want.Value != inclusive[0].Number("value") || want.Frames < 3 {
		t.Errorf("the search finds %+v, SQL %d", want, inclusive[0].Number("value"))
	}
	b.run(chromedp.SendKeys(`.find input`, "/is_/", chromedp.ByQuery),
		poll(fmt.Sprintf(`document.querySelector('.find small span')?.innerText === %q`, fmt.Sprintf("%d frames · %s", want.Frames, share(want.Value, want.Total)))))
	b.run(chromedp.KeyEvent(kb.Enter), poll(chosenFrame+` !== ''`))
	first := eval[string](b, `new URLSearchParams(location.search).get('frame')`)
	seen := map[string]bool{first: true}
	b.run(chromedp.Click(`[aria-label="Next hit"]`, chromedp.ByQuery), poll(fmt.Sprintf(`new URLSearchParams(location.search).get('frame') !== %q`, first)), settled)
	for range want.Frames - 2 {
		at := eval[string](b, `new URLSearchParams(location.search).get('frame')`)
		seen[at] = true
		b.run(chromedp.Focus(`[role=tree]`, chromedp.ByQuery), chromedp.KeyEvent("n"), poll(fmt.Sprintf(`new URLSearchParams(location.search).get('frame') !== %q`, at)), settled)
		if name := eval[string](b, chosenFrame); !strings.Contains(name, "is_") {
			t.Errorf("N leads to %s", name)
		}
	}
	seen[eval[string](b, `new URLSearchParams(location.search).get('frame')`)] = true
	if len(seen) != want.Frames {
		t.Errorf("%d hits of %d were visited", len(seen), want.Frames)
	}
	b.run(chromedp.Click(`[aria-label="Next hit"]`, chromedp.ByQuery), poll(fmt.Sprintf(`new URLSearchParams(location.search).get('frame') === %q`, first)), settled)

	place := eval[string](b, `location.search`)
	from, until := b.window()
	fresh := open(t, 1280, 850, false)
	fresh.visit(place)
	fresh.run(poll(chosenFrame+` !== ''`), poll(`document.querySelector('.find small span')?.innerText.startsWith('1 of ')`))
	if a, z := fresh.window(); math.Abs(a-from) > 1e-6 || math.Abs(z-until) > 1e-6 {
		t.Errorf("the link shows %g to %g, not %g to %g", a, z, from, until)
	}
	b.visit("?view=flame&experiment=recur.er&search=" + url.QueryEscape("/(/"))
	if text := eval[string](b, `document.querySelector('.find [role=alert]').innerText`); !strings.Contains(text, "not an expression") || !strings.Contains(text, "nterminated group") {
		t.Errorf("it says %q", text)
	}
	b.visit("?view=flame&experiment=recur.er&search=" + url.QueryEscape("/(?=a)/")) // valid in the browser only
	b.run(poll(`document.querySelector('.find [role=alert]')?.innerText.includes('is not a regular expression')`))
	b.forgive(func(text string) bool { return strings.Contains(text, "400 (Bad Request)") })
}

// Narrow frames come as one zooms: by a double click, by the wheel, by keys and with the minimap. Back undoes it.
func TestFlameZoom(t *testing.T) {
	dir := t.TempDir()
	writeWide(t, filepath.Join(dir, "wide.pb.gz"), 20_000)
	db, err := suite.Open(pipeline.Options{Store: filepath.Join(dir, "store")}, filepath.Join(dir, "wide.pb.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	b := open(t, 1280, 850, false)
	b.site = served(t, db.Store, nil).address
	b.visit("?view=flame")
	rows := func() (names []string) {
		return eval[[]string](b, `[...document.querySelectorAll('[role=treeitem] .name')].map((r) => r.innerText)`)
	}
	if from, until := b.window(); from != 0 || until != 1 || len(rows()) < 2 {
		t.Fatalf("%g to %g, %q", from, until, rows())
	}
	zoom := func() string {
		t.Helper()
		return eval[string](b, `new URLSearchParams(location.search).get('zoom') ?? ''`)
	}
	b.at("dblclick", 0.01, 1, "")
	first := zoom()
	if len(first) != 16 {
		t.Fatalf("a double click zooms to %q", first)
	}
	b.at("dblclick", 0.01, 4, "")
	b.at("dblclick", 0.2, 5, "")
	deep := zoom()
	const windowWidth = `((w) => w[1] - w[0])((document.querySelector('.flamescroll canvas')?.dataset.window || '0,1').split(',').map(Number))`
	b.run(poll(windowWidth + ` < 0.02`))
	from, until := b.window()
	// The frames that are drawn now are those of the subtree.
	subtree := eval[flameAnswer](b, fmt.Sprintf(`(async () => (await fetch('/api/v1/flamegraph?form=columns&width=1600&root=%s')).json())()`, deep))
	if drawn := eval[int](b, `Number(document.querySelector('.flamescroll canvas').dataset.drawn)`); drawn < 6 || drawn > len(subtree.Level) {
		t.Errorf("%d frames are drawn, the subtree has %d", drawn, len(subtree.Level))
	}
	b.run(chromedp.Reload(), settled, poll(windowWidth+` < 0.02`))
	if a, z := b.window(); a != from || z != until {
		t.Errorf("reloaded, it shows %g to %g, not %g to %g", a, z, from, until)
	}
	b.run(chromedp.NavigateBack(), settled, chromedp.NavigateBack(), settled)
	if zoom() != first {
		t.Errorf("Back leads to %q, not %q", zoom(), first)
	}
	b.visit("?view=flame")
	for range 5 {
		b.at("wheel", 0.25, 2, "deltaY: -100, ctrlKey: true")
	}
	b.run(poll(`new URLSearchParams(location.search).has('zoom')`), settled)
	from, until = b.window()
	if at := from + 0.25*(until-from); math.Abs(at-0.25) > 0.001 || until-from > 0.2 {
		t.Errorf("the wheel zooms to %g to %g", from, until)
	}
	b.run(chromedp.Focus(`[role=tree]`, chromedp.ByQuery), chromedp.KeyEvent("d"), poll(fmt.Sprintf(`!document.querySelector('.flamescroll canvas').dataset.window.startsWith('%g')`, from)))
	if a, z := b.window(); a <= from || math.Abs((z-a)-(until-from)) > 1e-9 {
		t.Errorf("D moves it to %g to %g", a, z)
	}
	b.run(chromedp.KeyEvent("0"), poll(`!new URLSearchParams(location.search).has('zoom')`), settled)
	b.run(chromedp.KeyEvent("+"), poll(`new URLSearchParams(location.search).get('zoom') === '0.25,0.75'`), settled)
	// In the minimap, the window can be moved.
	b.run(chromedp.Evaluate(`(() => {
		const m = document.querySelector('.flamemap'), box = m.getBoundingClientRect();
		m.setPointerCapture = () => undefined;
		const send = (kind, x) => m.dispatchEvent(new PointerEvent(kind, { bubbles: true, pointerId: 1, clientX: box.left + x * box.width, clientY: box.top + 20 }));
		send('pointerdown', 0.5);
		send('pointermove', 0.6);
		send('pointerup', 0.6);
	})()`, nil), poll(`(new URLSearchParams(location.search).get('zoom') ?? '').startsWith('0.35')`), settled)
}

// From a frame to its source it is two clicks: its menu, and the item.
func TestFrameToSource(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=flame&experiment=recur.er&search=is_even")
	b.run(chromedp.Focus(`.find input`, chromedp.ByQuery), poll(`document.querySelector('.find small span') !== null`), chromedp.KeyEvent(kb.Enter), poll(chosenFrame+` === 'is_even'`), settled)
	level := eval[int](b, `document.querySelectorAll('.stack button').length - 1`)
	// The hit is in the middle of the window, unless it was visible before.
	x := eval[float64](b, `(() => {
		const w = document.querySelector('.flamescroll canvas').dataset.window;
		return w === '' ? -1 : 0.5;
	})()`)
	if x < 0 {
		x = 0.01
		for range 40 {
			b.at("click", x, level, "")
			if eval[string](b, chosenFrame) == "is_even" {
				break
			}
			x += 0.025
		}
	}
	b.at("contextmenu", x, level, "button: 2")
	b.run(chromedp.Click(`//*[@role="menuitem" and contains(., "Source")]`, chromedp.BySearch), settled)
	if place := eval[string](b, `location.search`); !strings.Contains(place, "view=source") || !strings.Contains(place, "function=is_even") {
		t.Errorf("it leads to %s", place)
	}
	b.run(poll(`document.body.innerText.includes('is_even(')`))
}

// Sides that do not show the base say so.
func TestSideWithoutBase(t *testing.T) {
	b := open(t, 1280, 850, false)
	for place, says := range map[string]bool{"": false, "&side=inverted": true, "&side=sandwich&of=main": true} {
		b.visit("?view=flame&base=recur.er&experiment=cxx.er" + place)
		if got := eval[bool](b, `document.querySelector('main').innerText.includes('without the base')`); got != says {
			t.Errorf("%q says that the base is not shown: %v", place, got)
		}
	}
}
