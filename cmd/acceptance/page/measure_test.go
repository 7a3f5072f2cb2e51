package page

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/pprof/profile"

	"stackmill/cmd/acceptance/suite"
	"stackmill/pipeline"
	"stackmill/pipeline/compact"
	"stackmill/queries/storetest"
)

// writeWide writes a profile whose call tree has about this many nodes.
func writeWide(t *testing.T, name string, nodes int) {
	t.Helper()
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}, DurationNanos: 1e9}
	m := &profile.Mapping{ID: 1, Start: 0x1000, Limit: 0x1000000, File: "/bin/wide", HasFunctions: true}
	p.Mapping = []*profile.Mapping{m}
	for i := range 500 {
		f := &profile.Function{ID: uint64(i + 1), Name: fmt.Sprintf("package/some.function%d", i), SystemName: fmt.Sprintf("f%d", i), Filename: "wide.c"}
		p.Function = append(p.Function, f)
		p.Location = append(p.Location, &profile.Location{ID: uint64(i + 1), Mapping: m, Address: 0x1000 + uint64(i)*16, Line: []profile.Line{{Function: f, Line: 1}}})
	}
	const depth = 10
	for i := range nodes / (depth - 3) { // stacks that diverge near the root
		s := &profile.Sample{Value: []int64{int64(1_000_000 + i)}}
		for level := depth - 1; level >= 0; level-- {
			k := i / 2000 // of the first levels
			if level >= 2 {
				k = i*7 + level*(1+i%13)
			}
			s.Location = append(s.Location, p.Location[(k+level)%len(p.Location)])
		}
		p.Sample = append(p.Sample, s)
	}
	out, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := p.Write(out); err != nil {
		t.Fatal(err)
	}
}

// measured are the measured panels, with their selections from the store of many experiments.
var measured = []string{
	"", "?view=flame&experiment=night-00.er", "?view=functions&experiment=night-00.er", "?view=graph&experiment=night-00.er&function=f0", "?view=source&experiment=night-00.er&function=f0",
	"?view=timeline&experiment=night-00.er", "?view=heatmap&experiment=night-00.er", "?view=trend&function=f0", "?view=objects&experiment=night-00.er", "?view=compare&base=night-00.er&experiment=night-01.er",
	"?view=unknown&experiment=night-00.er", "?view=sql",
}

// TestMeasure prints how long the page takes for a store of 1,000 experiments, in as many batches
// and merged, the size of the first load, and the time to draw a graph of 50,000 nodes. It has no
// limits.
func TestMeasure(t *testing.T) {
	if os.Getenv("STACKMILL_MEASURE") == "" {
		t.Skip("STACKMILL_MEASURE=1 measures the page")
	}
	nights := make([]map[string]int, 1000)
	for i := range nights {
		nights[i] = map[string]int{"main": 10}
		for k := range 20 {
			nights[i][fmt.Sprintf("f%d", k)] = 10 + (i*k)%17
		}
	}
	b := open(t, 1280, 850, false)
	store := storetest.New(t, storetest.Nights(nights))
	b.site = served(t, store, nil).address
	b.measure("1,000 batches")
	merged := filepath.Join(t.TempDir(), "merged")
	if err := os.CopyFS(merged, os.DirFS(store)); err != nil {
		t.Fatal(err)
	}
	if _, err := compact.Run(t.Context(), compact.Options{Store: merged, Program: "test", TargetSize: 1 << 30, Memory: 512 << 20, Jobs: 1}); err != nil {
		t.Fatal(err)
	}
	b.site = served(t, merged, nil).address
	b.measure("merged")

	dir := t.TempDir()
	writeWide(t, filepath.Join(dir, "wide.pb.gz"), 50_000)
	db, err := suite.Open(pipeline.Options{Store: filepath.Join(dir, "store")}, filepath.Join(dir, "wide.pb.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	b.site = served(t, db.Store, nil).address
	began := time.Now()
	b.visit("?view=flame")
	t.Logf("%-70s %8.0f ms", "large graph, from its address", ms(time.Since(began)))
	t.Log(eval[string](b, `document.querySelector('.flamelegend').innerText`))
	t.Logf("%-70s %8s ms", "large graph, drawn", eval[string](b, `document.querySelector('canvas[data-took]').dataset.took`))
	rate := eval[float64](b, `(async () => {
		const c = document.querySelector('canvas[data-took]'), box = c.getBoundingClientRect(), began = performance.now();
		const windows = new Set();
		let frames = 0;
		while (performance.now() - began < 3000) {
			const x = (frames * 37) % box.width, y = 20 + (frames * 13) % 180;
			c.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, clientX: box.left + x, clientY: box.top + y }));
			if (frames % 10 === 0) c.dispatchEvent(new MouseEvent('dblclick', { bubbles: true, clientX: box.left + x, clientY: box.top + 10 + (frames % 100) }));
			windows.add(c.dataset.window);
			await new Promise((r) => requestAnimationFrame(r));
			frames++;
		}
		return windows.size > 1 ? frames / 3 : 0;
	})()`)
	if rate == 0 {
		t.Error("no double click zooms")
	}
	t.Logf("%-70s %8.0f /s", "large graph, frames while it is moved and zoomed", rate)
}

// measure prints the time of the first view and of each panel.
func (b *browser) measure(store string) {
	b.t.Helper()
	// From the request to the complete first view; twice, because the first request opens the
	// store.
	for _, title := range []string{"first view, first request", "first view"} {
		b.run(chromedp.Navigate("about:blank"))
		began := time.Now()
		b.visit("")
		b.t.Logf("%-70s %8.0f ms", store+": "+title, ms(time.Since(began)))
	}
	bytes := eval[float64](b, `[...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')].filter((e) => !e.name.includes('/api/')).reduce((s, e) => s + e.encodedBodySize, 0)`)
	b.t.Logf("%-70s %8.0f KB", store+": first load, compressed, without data", bytes/1000)
	for _, place := range measured {
		for _, again := range []string{"", ", again"} {
			took := eval[float64](b, `(async () => {
				history.pushState(null, '', '/?view=sql');
				dispatchEvent(new PopStateEvent('popstate'));
				await new Promise((r) => setTimeout(r, 300));
				const began = performance.now();
				history.pushState(null, '', `+fmt.Sprintf("%q", "/"+place)+`);
				dispatchEvent(new PopStateEvent('popstate'));
				const busy = () => document.querySelector('main *') === null || document.querySelector('[aria-busy=true]') !== null;
				do await new Promise((r) => requestAnimationFrame(r)); while (busy() && performance.now() - began < 60000);
				return performance.now() - began;
			})()`)
			b.t.Logf("%-70s %8.0f ms", store+": panel "+place+again, took)
		}
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
