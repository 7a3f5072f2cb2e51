package page

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// A truncated graph, seen from another side, has the values of the whole recording.
func TestSidesOfCutGraph(t *testing.T) {
	b := open(t, 1280, 850, false)
	const few = "?view=flame&experiment=cxx.er&pixels=12"
	b.visit(few + "&side=inverted")
	found, err := store.Records(t.Context(), `SELECT function, sum(exclusive)::BIGINT AS exclusive, sum(inclusive)::BIGINT AS inclusive, max(CASE WHEN function = '<Total>' THEN inclusive END) AS total
		FROM function_metrics WHERE experiment = 'cxx.er' AND metric = 'totalcpu' AND mode = 'user' GROUP BY function HAVING count(*) = 1 ORDER BY exclusive DESC, function`)
	if err != nil {
		t.Fatal(err)
	}
	exclusive, inclusive := map[string]int64{}, map[string]int64{}
	for _, f := range found {
		exclusive[f.Text("function")], inclusive[f.Text("function")] = f.Number("exclusive"), f.Number("inclusive")
	}
	percent := func(v int64) string { return fmt.Sprintf("%.2f %%", 100*float64(v)/float64(inclusive["<Total>"])) }
	frames := eval[[]string](b, `[...document.querySelectorAll('[role=treeitem][aria-level="2"]')].map((r) => r.querySelector('.name').innerText.replace(/^[▸▾ ]+/, '').trim() + '|' + r.querySelector('.number').innerText)`)
	compared := 0
	for _, f := range frames {
		name, value, _ := strings.Cut(f, "|")
		if v, is := exclusive[name]; is {
			if compared++; value != percent(v) {
				t.Errorf("%s has itself %s, not %s", name, value, percent(v))
			}
		}
	}
	if compared < 3 {
		t.Errorf("frames %q of %v", frames, exclusive)
	}
	if notes := eval[string](b, `[...document.querySelectorAll('.note')].at(-1).innerText`); !strings.Contains(notes, "are left out") {
		t.Errorf("the note does not say what is left out: %q", notes)
	}
	for name, v := range inclusive { // all functions, also those that the truncated graph does not show
		if strings.HasPrefix(name, "<") || v == 0 || v*100 > inclusive["<Total>"]*20 {
			continue
		}
		b.visit(few + "&side=sandwich&of=" + url.QueryEscape(name))
		got := eval[[]string](b, `[...document.querySelectorAll('[role=tree]')].map((t) => t.getAttribute('aria-label') + ' ' + t.querySelector('[role=treeitem] .number').innerText)`)
		if len(got) != 2 || got[0] != "Callers "+percent(v) || got[1] != "Callees "+percent(v) {
			t.Errorf("%s has %q, not %s", name, got, percent(v))
		}
	}
}
