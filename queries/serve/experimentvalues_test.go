package serve

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"stackmill/queries/storetest"
)

// runs describes five experiments on two machines. The newest of each machine is not the last in
// the store and does not have the highest values, and one experiment has no start time.
func runs() string {
	var values []map[string]int
	for _, ms := range []int{100, 300, 200, 50, 900} {
		values = append(values, map[string]int{"f": ms, "g": 2 * ms, "idle": 0})
	}
	text := storetest.Groups("clock", nil, values)
	for n, of := range []string{"a 2026-01-01T00:00:00Z", "a 2026-01-03T00:00:00Z", "a 2026-01-02T00:00:00Z", "b 2026-01-01T00:00:00Z", "b null"} {
		text = strings.Replace(text, fmt.Sprintf("duration_ns status\n  test-%d.er gprofng 1000ms", n), "duration_ns host started status\n  test-"+fmt.Sprint(n)+".er gprofng 1000ms "+of, 1)
	}
	return text
}

// series returns the series that Prometheus gets from a server, without those about requests.
func (s *served) series() map[string]float64 {
	s.t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(s.get("/metrics")))
	if err != nil {
		s.t.Fatal(err)
	}
	series := map[string]float64{}
	for name, family := range families {
		if family.GetHelp() == "" {
			s.t.Errorf("%s has no help", name)
		}
		if strings.HasPrefix(name, "stackmill_request") {
			continue
		}
		for _, m := range family.Metric {
			key := strings.TrimPrefix(name, "stackmill_")
			for _, l := range m.Label {
				key += " " + l.GetName() + "=" + l.GetValue()
			}
			series[key] = m.GetGauge().GetValue()
		}
	}
	return series
}

// Prometheus gets the values of the newest experiment in each group. They are the same as in views.
func TestLatest(t *testing.T) {
	store := storetest.New(t, runs())
	want := map[string]float64{
		"store_experiments": 5, "store_commits_unreadable": 0, "store_experiments_left_out": 0, "values_failed": 0, "series_left_out": 0,
		"value_seconds host=a metric=m": 0.9, "value_seconds host=b metric=m": 0.15,
		"started_timestamp_seconds host=a": 1767398400, "started_timestamp_seconds host=b": 1767225600,
		"function_exclusive_seconds host=a metric=m function=g load_object=app": 0.6, "function_exclusive_seconds host=b metric=m function=g load_object=app": 0.1,
	}
	s := start(t, store, func(o *Options) { o.By, o.Functions = []string{"host"}, 1 })
	for range 2 { // first computed, then from the cache
		if d := cmp.Diff(want, s.series()); d != "" {
			t.Error(d)
		}
	}
	all := start(t, store, func(o *Options) { o.Functions = 9 }).series()
	if d := cmp.Diff(map[string]float64{
		"store_experiments": 5, "store_commits_unreadable": 0, "store_experiments_left_out": 0, "values_failed": 0, "series_left_out": 0, "value_seconds metric=m": 0.9, "started_timestamp_seconds": 1767398400,
		"function_exclusive_seconds metric=m function=f load_object=app": 0.3, "function_exclusive_seconds metric=m function=g load_object=app": 0.6,
	}, all); d != "" {
		t.Error(d)
	}
	few := start(t, store, func(o *Options) { o.By = []string{"no-label", "experiment"} })
	few.latest.maxSeries = 2
	if d := cmp.Diff(map[string]float64{
		"store_experiments": 5, "store_commits_unreadable": 0, "store_experiments_left_out": 0, "values_failed": 0, "series_left_out": 5,
		"value_seconds no_label= experiment=test-1.er metric=m": 0.9, "value_seconds no_label= experiment=test-2.er metric=m": 0.6,
		"started_timestamp_seconds no_label= experiment=test-1.er": 1767398400, "started_timestamp_seconds no_label= experiment=test-2.er": 1767312000,
	}, few.series()); d != "" {
		t.Error(d)
	}
}

// If values cannot be read, the answer says that they are missing.
func TestLatestFails(t *testing.T) {
	s := start(t, storetest.New(t, storetest.Two), nil)
	s.Timeout = 1 // 1 ns: nothing is that fast
	if got := s.series(); got["values_failed"] != 1 || len(got) != 4 {
		t.Error(got)
	}
}

// Labels are refused if series have a label of the same name, or if Prometheus cannot tell two of them apart.
func TestLatestLabels(t *testing.T) {
	for _, keys := range [][]string{{"metric"}, {"function"}, {"a-b", "a.b"}, {""}, {"__name__"}, {"-"}} {
		if CheckLatest(keys) == nil {
			t.Errorf("%q are not refused", keys)
		}
	}
	if err := CheckLatest([]string{"host", "night", "1st"}); err != nil {
		t.Error(err)
	}
}
