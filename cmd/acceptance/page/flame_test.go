package page

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/pprof/profile"

	"stackmill/queries"
)

// deepest is the number of functions on the stack of deep.pb.gz, from f0 at the root.
const deepest = 2000

// writeDeep writes a profile with one stack that is deeper than a browser can draw.
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

// A frame too deep to be drawn is drawn after zooming to it, with the frames below.
func TestDeepZoom(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=flame&experiment=deep.pb.gz")
	lowest := func() string {
		t.Helper()
		b.run(chromedp.Evaluate(`(() => {
			const c = document.querySelector('canvas'), box = c.getBoundingClientRect();
			c.dispatchEvent(new MouseEvent('click', { bubbles: true, clientX: box.left + 5, clientY: box.bottom - 5 }));
		})()`, nil), settled)
		return eval[string](b, `document.querySelector('.told strong').innerText`)
	}
	// Levels 0 (<Total>) to 799 are drawn; after zooming, 800 levels from the zoomed frame.
	for i, want := range []string{"f798", "f1597", fmt.Sprintf("f%d", deepest-1)} {
		if got := lowest(); got != want {
			t.Errorf("drawing %d ends with %s, not %s", i, got, want)
		}
	}
	if note := eval[string](b, `[...document.querySelectorAll('.note')].map((n) => n.innerText).join('\n')`); !strings.Contains(note, fmt.Sprintf("%d callers above are not drawn", deepest+1-800)) {
		t.Errorf("it says %q of the callers", note)
	}
}

// The callers and callees of a function, a module and a load object have its inclusive
// value, which counts each sample once.
func TestSandwich(t *testing.T) {
	b := open(t, 1280, 850, false)
	for _, of := range []struct{ group, view, name string }{
		{"function", "function_metrics", "function"},
		{"module", "module_metrics", "regexp_extract(module, '[^/]*$')"},
		{"load object", "load_object_metrics", "load_object"},
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
}

// sandwich checks the graphs of callers and callees of the group in a record.
func (b *browser) sandwich(experiment, group string, f queries.Record) {
	b.t.Helper()
	b.visit("?view=flame&side=sandwich&experiment=" + experiment + "&group=" + url.QueryEscape(group) + "&of=" + url.QueryEscape(f.Text("name")))
	want := fmt.Sprintf("%.2f %%", 100*float64(f.Number("inclusive"))/float64(f.Number("total")))
	got := eval[[]string](b, `[...document.querySelectorAll('[role=tree]')].map((t) => t.getAttribute('aria-label') + ' ' + t.querySelector('[role=treeitem] .number').innerText)`)
	if len(got) != 2 || got[0] != "Callers "+want || got[1] != "Callees "+want {
		b.t.Errorf("%s: %s %s has %q, want %s", experiment, group, f.Text("name"), got, want)
	}
}
