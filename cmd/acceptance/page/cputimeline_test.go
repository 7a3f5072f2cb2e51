package page

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// The timeline of CPUs has SQL's sums, and choosing a CPU filters all panels.
func TestTimelineOfCPUs(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=timeline&experiment=omp_gcc.er")
	b.run(chromedp.Click(`//div[@class='bar choices']/button[.='CPUs']`, chromedp.BySearch), settled, chromedp.Click("main details summary", chromedp.ByQuery))
	found, err := store.Records(t.Context(), `SELECT cpu, t0_ns, sum(value)::BIGINT AS value FROM (SELECT s.cpu, s.time_ns // 10_000_000 * 10_000_000 AS t0_ns, v.value
		FROM sample_metrics v JOIN samples s USING (experiment_id, sample) JOIN experiments e USING (experiment_id) WHERE e.experiment = 'omp_gcc.er' AND v.metric = 'totalcpu') GROUP BY ALL ORDER BY t0_ns, cpu`)
	if err != nil {
		t.Fatal(err)
	}
	rows := b.cells()
	if len(rows) != min(len(found), 500) {
		t.Fatalf("%d rows of %d intervals", len(rows), len(found))
	}
	ofCPU := map[int64]int64{}
	for i, f := range found {
		ofCPU[f.Number("cpu")] += f.Number("value")
		want := fmt.Sprintf("%d|%.3fs|%.3fs|%s", f.Number("cpu"), float64(f.Number("t0_ns"))/1e9, float64(f.Number("t0_ns")+10_000_000)/1e9, amount(float64(f.Number("value"))))
		if i < len(rows) && rows[i] != want {
			t.Errorf("row %d: %q, want %q", i, rows[i], want)
		}
	}
	if names := eval[[]string](b, `[...document.querySelectorAll('.threads li')].map((r) => r.innerText)`); !slices.Equal(names, []string{"0", "1"}) {
		t.Errorf("rows of %q", names)
	}
	b.run(chromedp.Click(".threads li:last-child button", chromedp.ByQuery), settled)
	if got := eval[string](b, `location.search`); !strings.Contains(got, "lanes=cpus") || !strings.Contains(got, "cpu=1") {
		t.Errorf("CPU 1 leads to %s", got)
	}
	b.run(chromedp.Click(`//a[.='Functions']`, chromedp.BySearch), settled)
	if total := b.cells()[0]; !strings.HasPrefix(total, amount(float64(ofCPU[1]))+"|") {
		t.Errorf("functions of CPU 1 sum to %q, want %s", total, amount(float64(ofCPU[1])))
	}

	b.visit("?view=timeline&experiment=records_gcc_O2.data&lanes=cpus")
	if text := eval[string](b, `document.querySelector('main').innerText`); !strings.Contains(text, "No sample has a recorded CPU.") {
		t.Errorf("a recording without CPUs says %q", text)
	}
}
