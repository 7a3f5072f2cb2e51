package page

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
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

// shownRow is a row of the table of functions: the name and, by column, the exact value in the tooltip of a cell, or
// its text if it has no tooltip.
type shownRow struct {
	Name  string
	Cells []string
}

// functionRows returns the rows in sight, without the one of all functions.
func (b *browser) functionRows() []shownRow {
	b.t.Helper()
	return eval[[]shownRow](b, `[...document.querySelectorAll('.functions tbody.rows tr:not(.gap)')].map((r) => ({
		Name: r.querySelector('a').title,
		Cells: [...r.cells].map((c) => c.querySelector('span[title]')?.title ?? c.innerText.trim()),
	}))`)
}

// exact parses a value with its unit, as tooltips have it: 1,453 ns.
func exact(t *testing.T, text string) int64 {
	t.Helper()
	digits, _, _ := strings.Cut(text, "\u202f")
	n, err := strconv.ParseInt(strings.ReplaceAll(digits, ",", ""), 10, 64)
	if err != nil {
		t.Errorf("%q is not a value: %v", text, err)
	}
	return n
}

// shareOf formats a part of a total as the page does.
func shareOf(part, total int64) string {
	switch v := 100 * float64(part) / float64(total); {
	case part == 0:
		return "0"
	case v < 0.05:
		return "<\u202f0.1\u202f%"
	default:
		return strconv.FormatFloat(v, 'f', 1, 64) + "\u202f%"
	}
}

// The table has SQL's sums over the chosen runs, with the shares of what the filter leaves and of all.
func TestFunctionsTable(t *testing.T) {
	b := open(t, 1280, 850, false)
	const where = "stack_has('main')"
	part, err := store.Subset(t.Context(), "recur.er", "cxx.er")
	if err != nil {
		t.Fatal(err)
	}
	defer part.Close()
	filtered, err := part.Filter(t.Context(), queries.Filter{Where: []string{where}, Mode: "user"}, "function_trends")
	if err != nil {
		t.Fatal(err)
	}
	defer filtered.Close()
	var whole int64
	if err := part.QueryRow("SELECT sum(inclusive)::BIGINT FROM function_trends WHERE function = '<Total>' AND metric = 'totalcpu' AND mode = 'user'").Scan(&whole); err != nil {
		t.Fatal(err)
	}
	found, err := filtered.Records(t.Context(), `SELECT any_value(function) AS function, sum(exclusive)::BIGINT AS exclusive, sum(inclusive)::BIGINT AS inclusive, function = '<Total>' AS total
		FROM function_trends WHERE metric = 'totalcpu' AND mode = 'user' GROUP BY function_key, function ORDER BY total DESC, exclusive DESC, inclusive DESC, function`)
	if err != nil {
		t.Fatal(err)
	}
	b.visit("?view=functions&experiment=recur.er&experiment=cxx.er&where=" + url.QueryEscape(where))
	rows, total := b.functionRows(), found[0].Number("inclusive")
	if len(rows) != len(found)-1 || total >= whole {
		t.Fatalf("%d rows of %d functions, %d of %d", len(rows), len(found)-1, total, whole)
	}
	for i, f := range found[1:] {
		c := rows[i].Cells
		self, inclusive := f.Number("exclusive"), f.Number("inclusive")
		if rows[i].Name != f.Text("function") || exact(t, c[0]) != self || exact(t, c[4]) != inclusive || c[2] != shareOf(self, total) || c[3] != shareOf(self, whole) || c[6] != shareOf(inclusive, total) {
			t.Errorf("row %d: %q, want %v of %d and %d", i, rows[i], f, total, whole)
		}
	}
	first := eval[[]string](b, `[...document.querySelectorAll('.functions tr.whole td')].map((c) => c.innerText.trim())`)
	if first[3] != shareOf(total, whole) || first[7] != "All that the filter leaves" {
		t.Errorf("the first row: %q", first)
	}
}

// Runs are columns with SQL's values, and several metrics are side by side; the runs that lack a metric are counted.
func TestFunctionsColumns(t *testing.T) {
	b := open(t, 1280, 850, false)
	value := func(experiment, function, metric, column string) (v int64) {
		t.Helper()
		query := fmt.Sprintf("SELECT COALESCE(sum(%s), 0)::BIGINT FROM function_metrics WHERE experiment = ? AND function = ? AND metric = ? AND mode = 'user'", column)
		if err := store.QueryRow(query, experiment, function, metric).Scan(&v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	b.visit("?view=functions&experiment=recur.er&experiment=cxx.er&show=runs")
	runs := eval[[]string](b, `[...document.querySelectorAll('.functions th')].slice(1, 3).map((h) => h.title)`)
	if slices.Sort(runs); !slices.Equal(runs, []string{"cxx.er", "recur.er"}) {
		t.Fatalf("the runs are %q", runs)
	}
	runs = eval[[]string](b, `[...document.querySelectorAll('.functions th')].slice(1, 3).map((h) => h.title)`)
	names := map[string]int{}
	for _, r := range b.functionRows() {
		names[r.Name]++
	}
	for _, r := range b.functionRows() {
		if names[r.Name] > 1 {
			continue // functions of both programs: a row for each
		}
		sum := int64(0)
		for i, run := range runs {
			got, want := exact(t, r.Cells[1+i]), value(run, r.Name, "totalcpu", "exclusive")
			if sum += want; got != want {
				t.Errorf("%s in %s is %d, want %d", r.Name, run, got, want)
			}
		}
		if exact(t, r.Cells[0]) != sum {
			t.Errorf("%s is %s in all, want %d", r.Name, r.Cells[0], sum)
		}
	}
	b.visit("?view=functions&experiment=heap.er&experiment=recur.er&show=metrics&metric=heapallocbytes&beside=totalcpu")
	both := 0
	for _, r := range b.functionRows() {
		bytes := value("heap.er", r.Name, "heapallocbytes", "exclusive")
		cpu := value("heap.er", r.Name, "totalcpu", "exclusive") + value("recur.er", r.Name, "totalcpu", "exclusive")
		if exact(t, r.Cells[0]) != bytes || exact(t, r.Cells[3]) != cpu {
			t.Errorf("%q, want %d bytes and %d ns", r, bytes, cpu)
		}
		if bytes > 0 {
			both++
		}
	}
	if text := eval[string](b, `document.querySelector('.lacking')?.innerText ?? ''`); both == 0 || !strings.Contains(text, "1 of 2 runs lack heapallocbytes") {
		t.Errorf("%d functions with bytes; it says %q", both, text)
	}
}

// The table is one stop of the Tab key; arrows move in it, rows come as one goes to them, Enter chooses one and S shows
// its source. Back returns to the table.
func TestFunctionsKeys(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for i := range 350 {
		names = append(names, fmt.Sprintf("f%03d", i))
	}
	db, err := suite.Open(pipeline.Options{Store: filepath.Join(dir, "store")}, writeNames(t, dir, names...))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	b := open(t, 1280, 850, false)
	b.site = served(t, db.Store, nil).address
	b.visit("?view=functions")
	count := eval[int](b, `Number(document.querySelector('.functions table').ariaRowCount) - 2`)
	if count != len(names) {
		t.Fatalf("%d rows of %d functions", count, len(names))
	}
	inside := func() bool {
		t.Helper()
		return eval[bool](b, `document.activeElement.closest('.functions') !== null`)
	}
	press := func(key string) { t.Helper(); b.run(chromedp.KeyEvent(key), settled) }
	b.run(chromedp.Focus(`.columns`, chromedp.ByQuery))
	if press(kb.Tab); !inside() {
		t.Error("Tab does not lead into the table")
	}
	index := func() int {
		t.Helper()
		return eval[int](b, `Number(document.activeElement.closest('tr').ariaRowIndex) - 2`)
	}
	for _, step := range []struct {
		key  string
		want int
	}{{kb.ArrowDown, 1}, {kb.ArrowDown, 2}, {kb.ArrowUp, 1}, {kb.End, count}, {kb.ArrowUp, count - 1}, {kb.Home, 1}, {kb.ArrowDown, 2}} {
		press(step.key)
		b.run(poll(fmt.Sprintf(`Number(document.activeElement.closest('tr')?.ariaRowIndex) === %d`, step.want+2)))
		if got := index(); got != step.want {
			t.Fatalf("%q leads to row %d, want %d", step.key, got, step.want)
		}
	}
	name := eval[string](b, `document.activeElement.title`)
	press(kb.Enter)
	if got := eval[string](b, `new URLSearchParams(location.search).get('function')`); got != name {
		t.Errorf("Enter chooses %q, want %q", got, name)
	}
	if shown := eval[string](b, `document.querySelector('.inspector h2').innerText`); shown != name {
		t.Errorf("the inspector shows %q, want %q", shown, name)
	}
	b.run(chromedp.Focus(`.functions tr.chosen a`, chromedp.ByQuery))
	press("s")
	if got := eval[string](b, `new URLSearchParams(location.search).get('view')`); got != "source" {
		t.Errorf("S shows %s", got)
	}
	b.run(chromedp.NavigateBack(), settled)
	b.run(chromedp.Focus(`.functions tbody [tabindex="0"], .functions th [tabindex="0"]`, chromedp.ByQuery))
	if press(kb.Tab); inside() {
		t.Error("the table is more than one stop")
	}
}

// A search is of all rows, and says their number and share; so is the order by a heading.
func TestFunctionsSearch(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=functions&experiment=cxx.er&search=" + url.QueryEscape("/^geo::/"))
	rows := b.functionRows()
	for _, r := range rows {
		if !strings.HasPrefix(r.Name, "geo::") {
			t.Errorf("it finds %s", r.Name)
		}
	}
	note := eval[string](b, `document.querySelector('.find small').innerText`)
	if len(rows) == 0 || !strings.HasPrefix(note, fmt.Sprintf("%d functions · ", len(rows))) {
		t.Errorf("%d rows, it says %q", len(rows), note)
	}
	b.visit("?view=functions&experiment=cxx.er")
	b.run(chromedp.Click(`//th//button[starts-with(., 'Total')]`, chromedp.BySearch), settled)
	last := int64(-1)
	for _, r := range b.functionRows() {
		v := exact(t, r.Cells[3])
		if last >= 0 && v > last {
			t.Errorf("%s has %d, after %d", r.Name, v, last)
		}
		last = v
	}
	if got := eval[string](b, `document.querySelector('th[aria-sort=descending]').innerText`); !strings.HasPrefix(got, "Total") {
		t.Errorf("sorted by %q", got)
	}
}

// writeNames writes a profile of functions with these names.
func writeNames(t *testing.T, dir string, names ...string) string {
	t.Helper()
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}, TimeNanos: 1_700_000_000_000_000_000, DurationNanos: 2_000_000_000,
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1_000_000,
	}
	for i, name := range names {
		f := &profile.Function{ID: uint64(i + 1), Name: name, SystemName: name}
		l := &profile.Location{ID: uint64(i + 1), Address: uint64(0x1000 + i), Line: []profile.Line{{Function: f, Line: 1}}}
		p.Function, p.Location = append(p.Function, f), append(p.Location, l)
		p.Sample = append(p.Sample, &profile.Sample{Location: []*profile.Location{l}, Value: []int64{int64(i+1) * 1_000_000}})
	}
	var text bytes.Buffer
	if err := p.Write(&text); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "names.pb.gz")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A name of 65,536 letters makes nothing wider than the window.
func TestLongName(t *testing.T) {
	long := "void f<" + strings.Repeat("a", 1<<16-10) + ">()"
	dir := t.TempDir()
	db, err := suite.Open(pipeline.Options{Store: filepath.Join(dir, "store")}, writeNames(t, dir, long))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	site := served(t, db.Store, nil).address
	for _, width := range []int64{1280, 390} {
		b := open(t, width, 800, false)
		b.site = site
		for _, place := range []string{"?view=functions", "?view=graph"} {
			b.visit(place)
			if wider := eval[int](b, `document.documentElement.scrollWidth - innerWidth`); wider > 0 {
				t.Errorf("%s is %d pixels wider than the window of %d", place, wider, width)
			}
			if shown := eval[int](b, `document.querySelector('main').innerText.length`); shown > 2000 {
				t.Errorf("%s shows %d letters", place, shown)
			}
		}
		b.run(chromedp.Click(`.callgraph .middle a`, chromedp.ByQuery), settled)
		b.visit(eval[string](b, `location.search`)) // the address is not too long for a proxy
		if got := eval[int](b, `document.querySelector('.callgraph .middle a').title.length`); got < 1000 {
			t.Errorf("a click shows a function with a name of %d letters", got)
		}
	}
}
