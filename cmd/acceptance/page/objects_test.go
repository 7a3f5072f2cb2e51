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

const shape = "?view=objects&experiment=records_gcc_O2.data&object=%7Bstructure%3Ashape%7D"

// table returns the cells of the table with a label, as browser.cells does.
func (b *browser) table(label string) []string {
	b.t.Helper()
	return eval[[]string](b, fmt.Sprintf(`[...document.querySelectorAll('main [aria-label="%s"] tbody tr')].map((r) => [...r.cells].map((c) => c.innerText.trim()).join('|'))`, label))
}

// Data objects have SQL's values; unknown ones have their reasons.
func TestObjects(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=objects&experiment=records_gcc_O2.data")
	const of = " FROM data_object_metrics WHERE experiment = 'records_gcc_O2.data' AND mode = 'user' AND metric = 'page-faults:u'"
	found, err := store.Records(t.Context(), "SELECT value, samples, descriptor, name, kind, scope"+of+" ORDER BY kind = 'total' DESC, value DESC, descriptor, scope, data_object_id")
	if err != nil {
		t.Fatal(err)
	}
	rows := b.table("Data objects by value")
	if len(rows) != len(found) {
		t.Fatalf("%d rows of %d objects", len(rows), len(found))
	}
	unknown := 0
	for i, f := range found {
		parts := strings.Split(rows[i], "|")
		if parts[0] != fmt.Sprint(f.Number("value")) || parts[2] != fmt.Sprint(f.Number("samples")) || !strings.HasPrefix(parts[3], strings.ReplaceAll(f.Text("descriptor"), "  ", " ")) || parts[7] != f.Text("scope") {
			t.Errorf("row %d: %q of %v", i, rows[i], f)
		}
		if f.Text("kind") == "unknown_element" {
			unknown++
		}
	}
	reasons := b.table("Not known")
	if len(reasons) != unknown || unknown == 0 || slices.ContainsFunc(reasons, func(r string) bool { return strings.HasSuffix(r, "|") }) {
		t.Errorf("%d reasons: %q", unknown, reasons)
	}
	b.visit("?view=objects&experiment=records_gcc_O2.data&rows=5")
	if text := eval[string](b, `document.querySelector('main').innerText`); strings.Contains(text, "Every recorded access") || !strings.Contains(text, "The 5 highest of each experiment.") || !strings.Contains(text, "show more rows") {
		t.Errorf("of five rows, the page says %s", text)
	}
	b.visit("?view=objects&experiment=recur.er")
	if text := eval[string](b, `document.querySelector('main').innerText`); !strings.HasPrefix(text, "No memory accesses with data objects were recorded.") {
		t.Error(text)
	}
}

// The members of a structure are listed and drawn by their position in memory.
func TestLayout(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=objects&experiment=records_gcc_O2.data")
	b.run(chromedp.Click(`//a[.='{structure:shape}']`, chromedp.BySearch), chromedp.WaitVisible(".cacheline", chromedp.ByQuery), settled)
	found, err := store.Records(t.Context(), `SELECT position, kind, member_offset * 8 + bit_offset AS begins, CASE WHEN bit_size > 0 THEN bit_size ELSE size * 8 END AS bits, name, member, value
		FROM data_layout WHERE experiment = 'records_gcc_O2.data' AND mode = 'user' AND metric = 'page-faults:u' AND descriptor = '{structure:shape}' ORDER BY position`)
	if err != nil {
		t.Fatal(err)
	}
	rows := b.table("Members of {structure:shape}")
	if len(rows) != len(found) || len(rows) < 20 {
		t.Fatalf("%d rows of %d members", len(rows), len(found))
	}
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
	for i, f := range found {
		if parts := strings.Split(rows[i], "|"); parts[3] != fmt.Sprint(f.Number("value")) {
			t.Errorf("%q of %v", rows[i], f)
		}
		name, kind := f.Text("name"), f.Text("kind")
		if name == "" || kind == "aggregate" || kind == "hole" {
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
	if padding := bits["padding"]; padding < 63.9 || padding > 64.1 {
		t.Errorf("%v bits of padding, want 64", padding)
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
	found, err := store.Records(t.Context(), string(recipe[1])+" LIMIT 20")
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, 1280, 850, false)
	b.visit(shape)
	rows := b.table("Members that the same functions access")
	if len(rows) != len(found) || len(rows) < 10 {
		t.Fatalf("%d pairs of %d", len(rows), len(found))
	}
	apart := []string{"begin in one line", "begin in adjacent lines", "begin 2 lines apart"}
	for i, f := range found {
		parts := strings.Split(rows[i], "|")
		functions := strings.FieldsFunc(parts[4], func(r rune) bool { return r == ',' || r == ' ' })
		slices.Sort(functions)
		if parts[0] != fmt.Sprint(f.Number("value")) || parts[3] != apart[f.Number("lines_apart")] || len(functions) <= 4 && strings.Join(functions, " ") != f.Text("functions") {
			t.Errorf("%q of %v", rows[i], f)
		}
	}
}
