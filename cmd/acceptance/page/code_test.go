package page

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// rowsOf returns the rows of a grid of code as texts: value, percent of the function, line or offset. which selects rows
// by CSS.
func (b *browser) rowsOf(side, which string) []string {
	b.t.Helper()
	return eval[[]string](b, fmt.Sprintf(`[...document.querySelectorAll('.%s .coderows [role=row]%s')].map((r) => [0, 1, 2].map((i) => r.children[i].innerText.trim()).join('|'))`, side, which))
}

// gutter formats a value and its percentage of a whole as the grids of code do, which omit zeros.
func gutter(value, whole int64) string {
	if value == 0 {
		return "|"
	}
	share := 100 * float64(value) / float64(whole)
	if share < 0.05 {
		return fmt.Sprintf("%s|<\u202f0.1", strings.ReplaceAll(amount(float64(value)), " ", "\u202f"))
	}
	return fmt.Sprintf("%s|%.1f", strings.ReplaceAll(amount(float64(value)), " ", "\u202f"), share)
}

// A function's source and instructions have SQL's values, with their percentages of the function; the tooltip has the
// percentage of the whole.
func TestCode(t *testing.T) {
	const of = `experiment = 'cxx.er' AND metric = 'totalcpu' AND mode = 'user'`
	b := open(t, 1600, 9000, false) // all rows are visible
	for _, side := range []struct{ parameter, column string }{{"", "exclusive"}, {"&value=total", "inclusive"}} {
		b.visit("?view=source&experiment=cxx.er&function=main&range=function" + side.parameter)
		var total, whole int64
		if err := store.QueryRow("SELECT "+side.column+", (SELECT inclusive FROM function_metrics WHERE "+of+" AND function = '<Total>') FROM function_metrics WHERE "+of+" AND function = 'main'").Scan(&total, &whole); err != nil {
			t.Fatal(err)
		}
		read := func(query string) (rows []string) {
			t.Helper()
			found, err := store.Records(t.Context(), query)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range found {
				rows = append(rows, gutter(r.Number("value"), total)+"|"+r.Text("at"))
			}
			return rows
		}
		instructions := read("SELECT " + side.column + " AS value, printf('+%x', code_offset - min(code_offset) OVER ()) AS at FROM disasm WHERE " + of + " AND function = 'main' ORDER BY code_offset")
		if got := b.rowsOf("of-code", ""); len(instructions) < 20 || !slices.Equal(got, instructions) {
			t.Errorf("instructions are %q, want %q", got, instructions)
		}
		lines := read("SELECT " + side.column + " AS value, line::VARCHAR AS at FROM line_metrics WHERE " + of + " AND function = 'main' ORDER BY line")
		got := slices.DeleteFunc(b.rowsOf("of-source", ""), func(r string) bool { return strings.HasPrefix(r, "||") })
		want := slices.DeleteFunc(lines, func(r string) bool { return strings.HasPrefix(r, "||") })
		if !slices.Equal(got, want) || side.parameter != "" && len(got) < 5 {
			t.Errorf("lines are %q, want %q", got, want)
		}
		if len(instructions) > 0 && side.parameter != "" {
			hint := eval[string](b, `[...document.querySelectorAll('.of-source .coderows .p')].find((c) => c.innerText !== '').title`)
			if !strings.Contains(hint, "of the function") || !strings.Contains(hint, "of the whole") {
				t.Errorf("the tooltip is %q", hint)
			}
		}
	}
}

// Choosing a line marks its instructions, and choosing an instruction its line, by mouse and keys. The address has both.
func TestCodeChoice(t *testing.T) {
	const of = `experiment = 'cxx.er' AND metric = 'totalcpu' AND mode = 'user' AND function = 'main'`
	b := open(t, 1600, 9000, false)
	b.visit("?view=source&experiment=cxx.er&function=main")
	at := func(rows []string) (list []string) {
		for _, r := range rows {
			list = append(list, r[strings.LastIndex(r, "|")+1:])
		}
		return list
	}
	var line int
	if err := store.QueryRow("SELECT arg_max(line, inclusive) FROM disasm WHERE " + of).Scan(&line); err != nil {
		t.Fatal(err)
	}
	own, err := store.Texts(t.Context(), fmt.Sprintf("SELECT o FROM (SELECT line, printf('+%%x', code_offset - min(code_offset) OVER ()) AS o, code_offset FROM disasm WHERE %s) WHERE line = %d ORDER BY code_offset", of, line))
	if err != nil {
		t.Fatal(err)
	}
	b.run(chromedp.Evaluate(fmt.Sprintf(`[...document.querySelectorAll('.of-source .coderows [role=row]')].find((r) => r.children[2].innerText === '%d').click()`, line), nil), settled)
	const marked = "[aria-selected=true]"
	if got := at(b.rowsOf("of-code", marked)); len(own) == 0 || !slices.Equal(got, own) {
		t.Errorf("line %d marks %q, want %q", line, got, own)
	}
	b.visit(eval[string](b, `location.search`))
	if got := at(b.rowsOf("of-code", marked)); !slices.Equal(got, own) {
		t.Errorf("the link marks %q, want %q", got, own)
	}

	// The last instruction, by keys; I leads to its line in the source.
	b.run(chromedp.Focus(`.of-code [role=grid]`, chromedp.ByQuery), chromedp.KeyEvent(kb.End), chromedp.KeyEvent(kb.Enter), settled)
	var lowest int
	if err := store.QueryRow("SELECT line FROM disasm WHERE " + of + " ORDER BY code_offset DESC LIMIT 1").Scan(&lowest); err != nil {
		t.Fatal(err)
	}
	if got := at(b.rowsOf("of-source", marked)); !slices.Equal(got, []string{fmt.Sprint(lowest)}) {
		t.Errorf("the last instruction marks %q, want line %d", got, lowest)
	}
	b.run(chromedp.KeyEvent("i"), settled)
	if got := eval[string](b, `document.getElementById(document.activeElement.getAttribute('aria-activedescendant')).children[2].innerText`); got != fmt.Sprint(lowest) {
		t.Errorf("I leads to line %s, want %d", got, lowest)
	}
	b.run(chromedp.NavigateBack(), settled)
	if got := at(b.rowsOf("of-code", marked)); !slices.Equal(got, own) {
		t.Errorf("Back marks %q, want %q", got, own)
	}
}

// Inlined code unfolds below its line, with its own values.
func TestInlinedCode(t *testing.T) {
	b := open(t, 1600, 9000, false)
	b.visit("?view=source&experiment=cxx.er&function=main&unfold=all")
	const of = " WHERE experiment = 'cxx.er' AND metric = 'totalcpu' AND mode = 'user'"
	found, err := store.Records(t.Context(), "SELECT exclusive, inlined_line::VARCHAR AS at, (SELECT exclusive FROM function_metrics"+of+" AND function = 'main') AS total FROM source_inlined s SEMI JOIN line_metrics m ON m.file = s.file AND m.line = s.line AND m.function = 'main' AND m.experiment = 'cxx.er'"+of+" ORDER BY s.line, path")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, r := range found {
		want = append(want, gutter(r.Number("exclusive"), r.Number("total"))+"|"+r.Text("at"))
	}
	if got := b.rowsOf("of-source", ".inlined"); len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("inlined code is %q, want %q", got, want)
	}
	b.run(chromedp.Evaluate(`document.querySelector('.of-source [aria-expanded=true]').click()`, nil), poll(fmt.Sprintf(`document.querySelectorAll('.of-source .inlined').length < %d`, len(want))))
}

// recurObject is a copy of the program that recur.er archives.
var recurObject string

// keepObject copies the only file that matches a pattern into a folder, and returns its path there.
func keepObject(dir, pattern string) (string, error) {
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("%s: %d files, %w", pattern, len(found), err)
	}
	content, err := os.ReadFile(found[0])
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, filepath.Base(found[0]))
	return path, os.WriteFile(path, content, 0o644)
}

// jumpLine matches a jump in objdump's output: its address and its target's.
var jumpLine = regexp.MustCompile(`(?m)^ *([0-9a-f]+):\s+(?:bnd )?(?:j\w+|loop\w*)\s+([0-9a-f]+) <([^+>]+)(?:\+0x[0-9a-f]+)?>`)

// The arrows are the jumps that objdump shows.
func TestJumpArrows(t *testing.T) {
	if _, err := exec.LookPath("objdump"); err != nil {
		t.Skip("no objdump")
	}
	b := open(t, 1600, 9000, false)
	for _, function := range []string{"fact", "is_even", "flat"} {
		text, err := exec.Command("objdump", "-d", "--no-show-raw-insn", "--disassemble="+function, recurObject).Output()
		if err != nil {
			t.Fatal(err)
		}
		b.visit("?view=source&experiment=recur.er&function=" + function)
		start := eval[string](b, `document.querySelector('.of-code .coderows [role=row]').title.split(' ')[0]`)
		first, err := strconv.ParseUint(start, 16, 64)
		if err != nil {
			t.Fatal(start, err)
		}
		var want []string
		for _, m := range jumpLine.FindAllStringSubmatch(string(text), -1) {
			from, _ := strconv.ParseUint(m[1], 16, 64)
			to, _ := strconv.ParseUint(m[2], 16, 64)
			if m[3] == function {
				want = append(want, fmt.Sprintf("+%x +%x", from-first, to-first))
			}
		}
		got := eval[[]string](b, `[...document.querySelectorAll('.jumps [data-jump]')].map((g) => g.dataset.jump)`)
		slices.Sort(got)
		slices.Sort(want)
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s has the arrows %q, want %q", function, got, want)
		}
	}
}

// Where source or code is missing, the page says why, and what helps. Without a function, it shows the hottest one.
func TestMissingCode(t *testing.T) {
	b := open(t, 1280, 850, false)
	for _, of := range [][2]string{
		{"?view=source&experiment=cxx.er&function=__cxa_throw", "has no line numbers"},
		{"?view=source&experiment=deep.pb.gz&function=f7", "and it has no machine code"},
		{"?view=source&experiment=deep.pb.gz&function=f7", "was not found at that path when the recording was read"},
		{"?view=source&experiment=deep.pb.gz&function=f7", "--source-path"},
		{"?view=source&experiment=cxx.er&function=%3CTotal%3E", "is not a function with code"},
		{"?view=source&experiment=recur.er", "No function is chosen: this is the hottest one."},
		{"?view=source&experiment=recur.er", "fact"},
		{"?view=source&experiment=recur.er&function=nonsense", "has no samples in this selection"},
		{"?view=source&experiment=plt_lazy.er&experiment=plt_sec.er&function=caller_inc", "1 of 2 functions"},
		{"?view=source&base=plt_lazy.er&experiment=plt_sec.er&function=caller_inc", "The base is another build."},
	} {
		place, want := of[0], of[1]
		b.visit(place)
		if text := eval[string](b, `document.querySelector('main').innerText`); !strings.Contains(text, want) {
			t.Errorf("%s says %q, not %q", place, text, want)
		}
	}
}

// Only the visible rows exist, but a screen reader is told how many there are, and the search finds the others.
func TestLongCode(t *testing.T) {
	b := open(t, 1280, 600, false)
	b.visit("?view=source&experiment=cxx.er&function=main")
	count := eval[int](b, `Number(document.querySelector('.of-code [role=grid]').ariaRowCount)`)
	shown := len(b.rowsOf("of-code", ""))
	if count < 200 || shown > 100 {
		t.Errorf("%d rows of %d exist", shown, count)
	}
	b.visit("?view=source&experiment=recur.er&function=fact")
	b.run(chromedp.SendKeys(`[data-find]`, "int is_odd"+kb.Enter, chromedp.ByQuery), settled)
	if got := eval[string](b, `document.querySelector('.of-source .active .x').innerText`); !strings.Contains(got, "int is_odd(int n);") {
		t.Errorf("the search leads to %q", got)
	}
	if got := eval[string](b, `document.querySelector('.find small').innerText`); got != "2 lines" {
		t.Errorf("the search says %q", got)
	}

	// The strip leads to any part of the file.
	b.visit("?view=source&experiment=cxx.er&function=main&layout=interleaved")
	b.run(chromedp.Evaluate(`(() => { const s = document.querySelector('.heatstrip'), r = s.getBoundingClientRect();
		for (const type of ['pointerdown', 'pointerup']) s.dispatchEvent(new PointerEvent(type, { bubbles: true, pointerId: 1, clientX: r.x + 4, clientY: r.bottom - 2, buttons: 1 })) })()`, nil), settled)
	if last := eval[bool](b, `(() => { const g = document.querySelector('.codegrid'); return g.scrollTop > 1000 && [...g.querySelectorAll('[role=row]')].pop().ariaRowIndex === g.ariaRowCount })()`); !last {
		t.Error("a click at the end of the strip does not show the last row")
	}
}

// From the start page, one click leads to the percentages of the hottest function at its lines and instructions. From
// a frame of the flame graph, keys lead to its line and its instruction.
func TestWayToCode(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?experiment=recur.er")
	b.run(chromedp.Click(`//nav//a[starts-with(normalize-space(.), "Source")]`, chromedp.BySearch), poll(`document.querySelector('.of-code .coderows') !== null`), settled)
	for _, side := range []string{"of-source", "of-code"} {
		var sum float64
		for _, r := range b.rowsOf(side, "") {
			share, _ := strconv.ParseFloat(strings.Split(r, "|")[1], 64)
			sum += share
		}
		if sum < 99 || sum > 101 {
			t.Errorf("the rows of %s are %.1f %% of the function", side, sum)
		}
	}
	b.visit("?view=flame&experiment=recur.er")
	const at = `document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))`
	b.run(chromedp.Focus(`[role=tree]`, chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowDown), poll(`Number(`+at+`?.ariaLevel) === 2`))
	name := eval[string](b, at+`.querySelector('.name').innerText`)
	b.run(chromedp.KeyEvent("m"), chromedp.WaitVisible(`[role=menu]`, chromedp.ByQuery))
	for range 20 {
		if strings.HasPrefix(eval[string](b, `document.activeElement.innerText`), "Source and instructions") {
			break
		}
		b.run(chromedp.KeyEvent(kb.ArrowDown))
	}
	b.run(chromedp.KeyEvent(kb.Enter), poll(`new URLSearchParams(location.search).get('view') === 'source'`), settled)
	if got := eval[string](b, `document.querySelector('main h1').innerText`); got != name {
		t.Errorf("the menu of %s leads to %s", name, got)
	}
}
