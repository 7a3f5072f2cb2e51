package page

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

const shape = "?view=objects&experiment=records_gcc_O2.data&type=%7Bstructure:shape%7D"

// table returns the cells of the rows of the table with a label, as browser.cells does, without what rows unfold to.
func (b *browser) table(label string) []string {
	b.t.Helper()
	return eval[[]string](b, fmt.Sprintf(`[...document.querySelectorAll('main table[aria-label="%s"] > tbody > tr:not(.unfolded)')].map((r) => [...r.cells].map((c) => c.innerText.trim().replace(/\s+/g, ' ')).join('|'))`, label))
}

// countText formats a count as the page does: exact with separators under 10,000.
func countText(n int64) string {
	if n >= 10_000 {
		return fmt.Sprintf("%.1f k", float64(n)/1000)
	}
	if n >= 1000 {
		return fmt.Sprintf("%d,%03d", n/1000, n%1000)
	}
	return fmt.Sprint(n)
}

// Types of data objects have SQL's values, also summed over experiments; unknown objects have their reasons.
func TestObjects(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=objects&experiment=records_gcc_O2.data")
	const of = " FROM data_object_metrics WHERE experiment = 'records_gcc_O2.data' AND mode = 'user' AND metric = 'page-faults:u'"
	found, err := store.Records(t.Context(), "SELECT sum(value)::BIGINT AS value"+of+
		" AND kind IN ('aggregate', 'scalar') GROUP BY kind, CASE WHEN name <> '' THEN replace(descriptor, ' ' || name || '}', '}') ELSE replace(descriptor, ' -}', '}') END ORDER BY value DESC")
	if err != nil {
		t.Fatal(err)
	}
	rows := b.table("Types by value")
	if len(rows) != len(found) || len(rows) < 5 || !strings.HasPrefix(rows[0], "struct shape|609|62.1 %") {
		t.Fatalf("%d rows of %d types: %q", len(rows), len(found), rows)
	}
	for i, f := range found {
		if value := strings.Split(rows[i], "|")[1]; value != countText(f.Number("value")) {
			t.Errorf("row %d: %q, want %d", i, rows[i], f.Number("value"))
		}
	}
	unknown, err := store.Records(t.Context(), "SELECT value, descriptor"+of+" AND kind = 'unknown_element' ORDER BY value DESC, descriptor")
	if err != nil {
		t.Fatal(err)
	}
	reasons := b.table("Not known")
	if len(reasons) != len(unknown) || len(reasons) == 0 {
		t.Fatalf("%q, want %v", reasons, unknown)
	}
	for i, f := range unknown {
		if !strings.HasPrefix(reasons[i], f.Text("descriptor")+"|"+countText(f.Number("value"))+"|") {
			t.Errorf("%q, want %v", reasons[i], f)
		}
	}
	b.visit("?view=objects&experiment=records_gcc_O2.data&by=variable")
	variables, err := store.Records(t.Context(), "SELECT sum(value)::BIGINT AS value, name"+of+" AND kind IN ('aggregate', 'scalar') AND name <> '' GROUP BY name, scope, replace(descriptor, ' ' || name || '}', '}') ORDER BY value DESC, name")
	if err != nil {
		t.Fatal(err)
	}
	rows = b.table("Variables by value")
	if len(rows) != len(variables) || len(rows) < 3 {
		t.Fatalf("%q, want %v", rows, variables)
	}
	for i, f := range variables {
		if parts := strings.Split(rows[i], "|"); parts[0] != countText(f.Number("value")) || !strings.HasPrefix(parts[4], f.Text("name")+" ") {
			t.Errorf("%q, want %v", rows[i], f)
		}
	}
	for _, way := range []string{"", "&by=line", "&by=page", "&by=variable"} {
		b.visit("?view=objects&experiment=recur.er" + way)
		if text := eval[string](b, `document.querySelector('main').innerText`); !strings.Contains(text, "Not recorded") || !strings.Contains(text, "perf record -e page-faults") {
			t.Errorf("%s: %s", way, text)
		}
	}
}

// The members of a structure are listed, with the code that accesses them, and drawn by their position in memory. It
// takes two clicks from the start: the place, and the structure.
func TestLayout(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?experiment=records_gcc_O2.data")
	b.run(chromedp.Click(`//nav//a[contains(., 'Data objects')]`, chromedp.BySearch), chromedp.WaitVisible(".cacheline", chromedp.ByQuery), settled)
	b.run(chromedp.Click(`//main//a[.='struct shape']`, chromedp.BySearch), settled, chromedp.WaitVisible(".cacheline", chromedp.ByQuery))
	found, err := store.Records(t.Context(), `SELECT position, kind, member_offset * 8 + bit_offset AS begins, CASE WHEN bit_size > 0 THEN bit_size ELSE size * 8 END AS bits, name, member, value
		FROM data_layout WHERE experiment = 'records_gcc_O2.data' AND mode = 'user' AND metric = 'page-faults:u' AND descriptor = '{structure:shape}' ORDER BY position`)
	if err != nil {
		t.Fatal(err)
	}
	rows := b.table("Members of struct shape")
	// span is where a member is drawn: in bits from the structure's start, in lines of 64 bytes.
	type span struct {
		Name       string
		From, Bits float64
	}
	drawn := eval[[]span](b, `[...document.querySelectorAll('.cacheline')].flatMap((l, line) => [...l.querySelectorAll('.member')].map((m) =>
		({ Name: m.title.replace(/, offset.*/, ''), From: 512 * line + 5.12 * parseFloat(m.style.left), Bits: 5.12 * parseFloat(m.style.width) })))`)
	bits := map[string]float64{}
	for _, s := range drawn {
		bits[s.Name] += s.Bits
	}
	members := 0
	for _, f := range found {
		name, kind := f.Text("name"), f.Text("kind")
		if kind == "hole" {
			continue
		}
		if parts := strings.Split(rows[members], "|"); parts[0] != countText(f.Number("value")) {
			t.Errorf("%q of %v", rows[members], f)
		}
		members++
		if name == "" || kind == "aggregate" {
			continue
		}
		begins := float64(f.Number("begins"))
		if !slices.ContainsFunc(drawn, func(s span) bool { return s.Name == name && s.From > begins-0.01 && s.From < begins+0.01 }) {
			t.Errorf("%s is not drawn at %v bits: %v", name, begins, drawn)
		}
		if want := float64(f.Number("bits")); bits[name] < want-0.01 || bits[name] > want+0.01 {
			t.Errorf("%s has %v bits, want %v", name, bits[name], want)
		}
	}
	if len(rows) != members || members < 15 {
		t.Errorf("%d rows of %d members", len(rows), members)
	}
	if padding := bits["padding"]; padding < 63.9 || padding > 64.1 {
		t.Errorf("%v bits of padding, want 64", padding)
	}
	var lines, total int64
	if err := store.QueryRow(`SELECT count(DISTINCT (function, file, line)), sum(value)::BIGINT FROM data_object_functions WHERE experiment = 'records_gcc_O2.data' AND mode = 'user'
		AND metric = 'page-faults:u' AND descriptor LIKE '{structure:shape}.{pointer+const+structure:ops ops}%'`).Scan(&lines, &total); err != nil {
		t.Fatal(err)
	}
	b.run(chromedp.Click(`//main//tr[contains(., 'ops')]//td[1]`, chromedp.BySearch), settled)
	code := b.table("Code that accesses ops")
	if int64(len(code)) != lines || lines < 2 {
		t.Errorf("%d lines of code, want %d: %q", len(code), lines, code)
	}
	b.run(chromedp.Evaluate("history.back()", nil), settled)
	if open := eval[int](b, `document.querySelectorAll('tr.unfolded').length`); open != 0 {
		t.Error("Back does not fold the row")
	}
}

// The layout of a type that several experiments have has the sums over them.
func TestLayoutSums(t *testing.T) {
	db, s := memory(t)
	b := open(t, 1280, 850, false)
	b.site = s.address
	b.visit("?view=objects&metric=page-faults:u&type=%7Bstructure:shape%7D")
	var value, ops, experiments int64
	if err := db.QueryRow(`SELECT sum(aggregate_value)::BIGINT, sum(value)::BIGINT, count(DISTINCT experiment_id) FROM data_layout
		WHERE mode = 'user' AND metric = 'page-faults:u' AND descriptor = '{structure:shape}' AND name = 'ops'`).Scan(&value, &ops, &experiments); err != nil {
		t.Fatal(err)
	}
	rows := b.table("Members of struct shape")
	at := slices.IndexFunc(rows, func(r string) bool { return strings.Contains(r, "ops const struct ops *") })
	if at < 0 || !strings.HasPrefix(rows[at], countText(ops)+"|") || experiments < 2 {
		t.Errorf("%q, want %d in %d experiments", rows, ops, experiments)
	}
	facts := eval[string](b, `document.querySelector('main [aria-label="Layout of struct shape"] .cardtitle').innerText.replace(/\s+/g, ' ')`)
	if !strings.Contains(facts, countText(value)+" accesses") || !strings.Contains(facts, fmt.Sprintf("%d experiments", experiments)) {
		t.Errorf("%s, want %d in %d experiments", facts, value, experiments)
	}
}

// The page lists the same objects accessed by the same functions as the cookbook's query.
func TestTogether(t *testing.T) {
	page, err := os.ReadFile("../../../docs/cookbook.md")
	if err != nil {
		t.Fatal(err)
	}
	recipe := regexp.MustCompile("(?s)### Which members of a structure do the same functions access.*?```sql\n(.*?) LIMIT 5").FindSubmatch(page)
	if recipe == nil {
		t.Fatal("the cookbook has no such question")
	}
	found, err := store.Records(t.Context(), string(recipe[1])+" LIMIT 12")
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, 1280, 850, false)
	b.visit(shape)
	rows := b.table("Members that the same functions access")
	if len(rows) != len(found) || len(rows) < 10 {
		t.Fatalf("%d pairs of %d", len(rows), len(found))
	}
	apart := []string{"same line", "next line", "2 lines apart"}
	for i, f := range found {
		parts := strings.Split(rows[i], "|")
		functions := strings.Fields(parts[3])
		slices.Sort(functions)
		if parts[0] != countText(f.Number("value")) || parts[2] != apart[f.Number("lines_apart")] || len(functions) <= 3 && strings.Join(functions, " ") != f.Text("functions") {
			t.Errorf("%q of %v", rows[i], f)
		}
	}
}
