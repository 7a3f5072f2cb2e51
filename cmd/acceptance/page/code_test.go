package page

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// rowsOf returns the rows of a table of code as texts: exclusive, inclusive, line or address.
func (b *browser) rowsOf(label, which string) []string {
	b.t.Helper()
	return eval[[]string](b, fmt.Sprintf(`[...document.querySelectorAll('[aria-label="%s"] tr[data-row]%s')].map((r) => [0, 2, 3].map((i) => r.cells[i].innerText).join('|'))`, label, which))
}

// shown formats a value as the tables do, which omit zeros.
func shown(ns int64) string {
	if ns == 0 {
		return ""
	}
	return amount(float64(ns))
}

// A function's source and instructions have SQL's values. Selecting a line marks its instructions,
// selecting an instruction its line, and inlined code is shown.
func TestCode(t *testing.T) {
	const of = `experiment = 'cxx.er' AND metric = 'totalcpu' AND mode = 'user'`
	b := open(t, 1280, 850, false)
	b.visit("?view=source&experiment=cxx.er&function=main")
	read := func(query string) (rows []string) {
		t.Helper()
		found, err := store.Records(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range found {
			rows = append(rows, fmt.Sprintf("%s|%s|%s", shown(r.Number("exclusive")), shown(r.Number("inclusive")), r.Text("at")))
		}
		return rows
	}
	all := read("SELECT exclusive, inclusive, printf('%x', address) AS at FROM disasm WHERE " + of + " AND function = 'main' ORDER BY code_offset")
	if got := b.rowsOf("Annotated disassembly", ""); len(all) < 20 || !slices.Equal(got, all) {
		t.Errorf("instructions are %q, want %q", got, all)
	}
	var file string
	var first, last, line int
	if err := store.QueryRow("SELECT file, min(line), max(line), arg_max(line, inclusive) FROM disasm WHERE "+of+" AND function = 'main' GROUP BY file").Scan(&file, &first, &last, &line); err != nil {
		t.Fatal(err)
	}
	lines := fmt.Sprintf(" WHERE %s AND file = '%s' AND line BETWEEN %d AND %d", of, file, first, last)
	if got, want := b.rowsOf("Annotated source", ""), read("SELECT exclusive, inclusive, line::VARCHAR AS at FROM source"+lines+" ORDER BY line"); !slices.Equal(got, want) {
		t.Errorf("lines are %q, want %q", got, want)
	}

	// A line marks its instructions, also when opened by its link.
	own := read(fmt.Sprintf("SELECT exclusive, inclusive, printf('%%x', address) AS at FROM disasm WHERE %s AND function = 'main' AND line = %d ORDER BY code_offset", of, line))
	b.run(chromedp.Evaluate(fmt.Sprintf(`[...document.querySelectorAll('[aria-label="Annotated source"] tr[data-row]')].find((r) => r.cells[3].innerText === '%d').click()`, line), nil), settled)
	marked := `[aria-selected=true]`
	if got := b.rowsOf("Annotated disassembly", marked); len(own) == 0 || !slices.Equal(got, own) {
		t.Errorf("line %d marks %q, want %q", line, got, own)
	}
	b.visit(eval[string](b, `location.search`))
	if got := b.rowsOf("Annotated disassembly", marked); !slices.Equal(got, own) {
		t.Errorf("the link marks %q, want %q", got, own)
	}

	// An instruction that is focused by keys marks its line.
	b.run(chromedp.Focus(`[aria-label="Annotated disassembly"] [tabindex="0"]`, chromedp.ByQuery), chromedp.KeyEvent(kb.End), settled)
	var lowest int
	if err := store.QueryRow("SELECT line FROM disasm WHERE " + of + " AND function = 'main' ORDER BY code_offset DESC LIMIT 1").Scan(&lowest); err != nil {
		t.Fatal(err)
	}
	if got := b.rowsOf("Annotated source", marked); len(got) != 1 || !strings.HasSuffix(got[0], fmt.Sprintf("|%d", lowest)) {
		t.Errorf("the last instruction marks %q, want line %d", got, lowest)
	}

	// Inlined code unfolds below its line.
	b.visit("?view=source&experiment=cxx.er&function=main&unfold=true")
	inlined := read("SELECT exclusive, inclusive, inlined_line::VARCHAR AS at FROM source_inlined" + lines + " ORDER BY line, path")
	if got := b.rowsOf("Annotated source", ".inlined"); len(inlined) == 0 || !slices.Equal(got, inlined) {
		t.Errorf("inlined code is %q, want %q", got, inlined)
	}
}

// Where source or code is missing, the page says why.
func TestMissingCode(t *testing.T) {
	b := open(t, 1280, 850, false)
	for _, of := range [][2]string{
		{"?view=source&experiment=cxx.er&function=__cxa_throw", "has no line numbers"},
		{"?view=source&experiment=deep.pb.gz&function=f7", "and it has no machine code"},
		{"?view=source&experiment=deep.pb.gz&function=f7", "was not found when the recording was read: only the lines that have code are listed"},
		{"?view=source&experiment=cxx.er&function=%3CTotal%3E", "is not a function with code"},
		{"?view=source", "Choose a function"},
	} {
		place, want := of[0], of[1]
		b.visit(place)
		if text := eval[string](b, `document.querySelector('main').innerText`); !strings.Contains(text, want) {
			t.Errorf("%s says %q, not %q", place, text, want)
		}
	}
}
