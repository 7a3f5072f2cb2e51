package page

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// heatAnswer is the part of an answer of /api/v1/heatmap that the tests read.
type heatAnswer struct {
	From           int64 `json:"from_ns"`
	Column         int64 `json:"column_ns"`
	Columns, Cells int64
	Coarser        bool
	Value, Whole   int64
	Marked         int64
	Values         struct{ Cell, Value []int64 }
}

func askHeatMap(t *testing.T, parameters string) (a heatAnswer) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, site+"/api/v1/heatmap?experiment=omp_gcc.er&metric=totalcpu&"+parameters, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if err != nil {
		t.Fatalf("%s: %v: %.300s", parameters, err, text)
	}
	return a
}

// The cells of a heat map have SQL's values, for any length of columns, zoomed and filtered as well.
func TestHeatMapValues(t *testing.T) {
	for _, of := range []struct {
		parameters, where      string
		column, columns, cells int64
	}{
		{"", "true", 100e6, 0, 50},
		{"column=1s", "true", 1e9, 0, 50},
		{"column=100ms&cells=20", "true", 100e6, 0, 20},
		{"column=100ms&cells=10&time=0.25s,0.75s", "time_ns >= 200_000_000 AND time_ns < 800_000_000", 100e6, 6, 10},
		{"cells=50&where=cpu+%3D+1&column=1s", "cpu = 1", 1e9, 0, 50},
		{"column=100ms&limit=3", "true", 1e9, 0, 50},
	} {
		a := askHeatMap(t, of.parameters)
		found, err := store.Records(t.Context(), fmt.Sprintf(`SELECT (s.time_ns - %d) // %d AS cell, sum(v.value)::BIGINT AS value FROM sample_metrics v JOIN samples s USING (experiment_id, sample)
			JOIN experiment_names n USING (experiment_id) WHERE n.experiment = 'omp_gcc.er' AND v.metric = 'totalcpu' AND %s GROUP BY ALL ORDER BY ALL`, a.From, a.Column/a.Cells, of.where))
		if err != nil {
			t.Fatal(err)
		}
		if a.Column != of.column || a.Cells != of.cells || of.columns != 0 && a.Columns != of.columns || a.Coarser != strings.Contains(of.parameters, "limit") || len(found) != len(a.Values.Cell) || len(found) == 0 {
			t.Errorf("%s: %d columns of %d ns with %d cells, %d have values, SQL has %d", of.parameters, a.Columns, a.Column, a.Cells, len(a.Values.Cell), len(found))
			continue
		}
		sum := int64(0)
		for i, f := range found {
			if a.Values.Cell[i] != f.Number("cell") || a.Values.Value[i] != f.Number("value") {
				t.Errorf("%s: cell %d is %d, SQL says %v", of.parameters, a.Values.Cell[i], a.Values.Value[i], f)
			}
			sum += f.Number("value")
		}
		if a.Value != sum {
			t.Errorf("%s: %d, SQL says %d", of.parameters, a.Value, sum)
		}
	}
	marked := askHeatMap(t, "marked="+url.QueryEscape("0.3137s,0.7171s"))
	if want := valueOf(t, "time_ns >= 313_700_000 AND time_ns < 717_100_000"); float64(marked.Marked) != want || want == 0 {
		t.Errorf("%d is marked, want %v", marked.Marked, want)
	}
}

// The heat map has axes with titles and round ticks, and a legend; a drag and two clicks lead from the start page to
// the flame graph of half a second.
func TestHeatMapDrag(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?experiment=omp_gcc.er&metric=totalcpu&column=1s&cells=20")
	b.run(chromedp.Click(`//nav[@aria-label='Places']//a[contains(., 'Heat map')]`, chromedp.BySearch), settled)
	if b.parameter("column") == "" { // the start page does not know it
		b.visit("?view=heatmap&experiment=omp_gcc.er&metric=totalcpu&column=1s&cells=20")
	}
	a := askHeatMap(t, "column=1s&cells=20")
	texts := b.spaced(`document.querySelector('.heatmap').innerText`)
	for _, want := range []string{"Within 1 s", "Time since the start", "0.6 s", "1 s"} {
		if !strings.Contains(texts, want) {
			t.Errorf("the axes lack %q: %q", want, texts)
		}
	}
	highest := int64(0)
	for _, v := range a.Values.Value {
		highest = max(highest, v)
	}
	if legend := b.spaced(`document.querySelector('.heatlegend').innerText`); !strings.Contains(legend, plainAmount(float64(highest))+" in 50.0 ms") {
		t.Errorf("the legend says %q, the highest value is %d", legend, highest)
	}
	box := b.box(".heatcells")
	at := func(column, cell float64) (x, y float64) {
		return box[0] + box[2]*(column+0.5)/float64(a.Columns), box[1] + box[3]*(1-(cell+0.5)/20)
	}
	x1, y1 := at(0, 6)
	x2, y2 := at(0, 15)
	b.drag(x1, y1, x2, y2)
	if got := b.parameter("between"); got != "0.3s,0.8s" {
		t.Fatalf("a drag chooses %q", got)
	}
	want := valueOf(t, "time_ns >= 300_000_000 AND time_ns < 800_000_000")
	if got := b.spaced(toldTime); !strings.Contains(got, plainAmount(want)) {
		t.Errorf("%q, want %s", got, plainAmount(want))
	}
	b.run(chromedp.Click(`//button[.='Flame graph']`, chromedp.BySearch), settled)
	if got := b.spaced(`document.querySelector('.portion b').innerText`); got != plainAmount(want) || b.parameter("view") != "flame" {
		t.Errorf("%s has %q, want %s", eval[string](b, `location.search`), got, plainAmount(want))
	}
}

// Keys reach cells and choose a time; the scales color the same values differently.
func TestHeatMapKeys(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=heatmap&experiment=omp_gcc.er&metric=totalcpu&column=1s&cells=20")
	b.run(chromedp.Focus(".heatcells", chromedp.ByQuery))
	shift := chromedp.KeyModifiers(input.ModifierShift)
	b.run(chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.ArrowUp))
	if got, want := b.spaced(toldTime), plainAmount(valueOf(t, "time_ns >= 100_000_000 AND time_ns < 150_000_000")); !strings.HasSuffix(got, ": "+want) {
		t.Errorf("keys lead to %q, want %s", got, want)
	}
	b.run(chromedp.KeyEvent(kb.ArrowUp, shift), chromedp.KeyEvent(kb.ArrowUp, shift))
	if got, want := b.spaced(toldTime), plainAmount(valueOf(t, "time_ns >= 100_000_000 AND time_ns < 250_000_000")); !strings.Contains(got, ": "+want+",") || b.parameter("between") != "" {
		t.Errorf("keys choose %q, want %s", got, want)
	}
	b.run(chromedp.KeyEvent(kb.Enter), settled)
	if got := b.parameter("between"); got != "0.1s,0.25s" {
		t.Errorf("Enter chooses %q", got)
	}
	b.run(chromedp.KeyEvent(kb.Escape), settled)
	if got := b.parameter("between"); got != "" {
		t.Errorf("Escape leaves %q", got)
	}
	pictures := map[string]bool{}
	for _, scale := range []string{"linear", "root", "rank"} {
		b.visit("?view=heatmap&experiment=omp_gcc.er&metric=totalcpu&column=100ms&scale=" + scale)
		pictures[eval[string](b, `document.querySelector('.heatcells canvas').toDataURL()`)] = true
	}
	if len(pictures) != 3 {
		t.Errorf("%d different pictures of 3 scales", len(pictures))
	}
}
