package compare

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"stackmill/cmd/acceptance/suite"
	"stackmill/pipeline"
	"stackmill/queries"
	"stackmill/queries/digest"
	"stackmill/queries/trend"
)

// planted is the night in which the function search of suite.RecordNights becomes slower.
const planted = 30

// TestPlainNights checks that nights of plain perf record make a trend and a panel of the dashboard
// without any option, although the recordings do not contain their start: the night with the slower
// build is found.
func TestPlainNights(t *testing.T) {
	need(t, "gcc", "perf")
	dir := t.TempDir()
	recordings, err := suite.RecordNights(t.Context(), dir, 40, func(night int) int {
		if night >= planted {
			return 130
		}
		return 100
	})
	if err != nil {
		t.Fatal(err)
	}
	db, err := suite.Open(pipeline.Options{Store: filepath.Join(dir, "store"), Cache: filepath.Join(dir, "cache")}, recordings...)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for function, share := range map[string]float64{"": 0.12, "search": 0.3} {
		r := trend.Defaults()
		r.Function = function
		followed, err := trend.Run(t.Context(), db, r)
		if err != nil {
			t.Fatal(err)
		}
		if len(followed.Points) != 40 || len(followed.Warnings) > 0 {
			t.Fatalf("%d points, warnings %q", len(followed.Points), followed.Warnings)
		}
		for n, p := range followed.Points {
			ended := suite.FirstNight.AddDate(0, 0, n).Add(time.Duration(n*7%50) * time.Second)
			started, err := time.Parse(time.RFC3339, p.Started)
			if took := ended.Sub(started); err != nil || p.StartedFrom != "file" || p.Experiment != fmt.Sprintf("night-%02d.data", n) || took <= 0 || took > 30*time.Second {
				t.Errorf("point %d is %+v", n, p)
			}
		}
		s := followed.Series[0]
		if len(s.Changes) != 1 || abs(s.Changes[0].At-planted) > 1 || s.Changes[0].After < s.Changes[0].Before*(1+share/2) {
			t.Errorf("changes of %s: %+v in %v", s.Function, s.Changes, s.Values)
		}
	}
	checkPanel(t, db)
	checkDigest(t, db)
}

// checkDigest makes the digest of the fifth night after the change, with the default options.
func checkDigest(t *testing.T, db *queries.DB) {
	t.Helper()
	some, err := db.Subset(t.Context(), "night-[012]*.data", "night-3[0-4].data")
	if err != nil {
		t.Fatal(err)
	}
	defer some.Close()
	d, err := digest.Run(t.Context(), some, digest.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Sure) != 1 || d.Experiments != 35 || len(d.Warnings) > 0 {
		t.Fatalf("%d sure, %d may be, of %d experiments, warnings %q", len(d.Sure), len(d.Maybe), d.Experiments, d.Warnings)
	}
	f := d.Sure[0]
	search := slices.IndexFunc(f.Changes, func(c digest.Change) bool { return c.Name == "search" })
	if search < 0 || f.Program != "nightly" || f.Nights[f.Changes[search].From].At != planted || math.Abs(f.Changes[search].Ratio-1.3) > 0.1 {
		t.Errorf("%s: %+v", f.Program, f.Changes)
	}
	if !slices.ContainsFunc(f.Differences, func(d digest.Difference) bool { return d.What == "build of nightly" }) {
		t.Errorf("%+v", f.Differences)
	}
	if !slices.ContainsFunc(f.Carriers, func(c digest.Carrier) bool { return c.By == "line" && strings.Contains(c.Name, "nightly.c:") }) ||
		!slices.ContainsFunc(f.Carriers, func(c digest.Carrier) bool { return c.By == "path" && strings.HasSuffix(c.Name, "round;search") }) {
		t.Errorf("%+v", f.Carriers)
	}
}

func abs(n int) int { return max(n, -n) }

// checkPanel runs the dashboard's query for the values of a metric over time, and checks that it
// returns a point for each night, at the time of the night.
func checkPanel(t *testing.T, db *queries.DB) {
	t.Helper()
	text, err := os.ReadFile("../../../docs/dashboards/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct {
				Options struct {
					Data string `json:"data"`
				} `json:"url_options"`
			}
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	for _, p := range dashboard.Panels {
		if p.Title != "$metric by $label" {
			continue
		}
		var request struct{ SQL string }
		if err := json.Unmarshal([]byte(p.Targets[0].Options.Data), &request); err != nil {
			t.Fatal(err)
		}
		to := suite.FirstNight.AddDate(0, 0, 40)
		values := map[string]string{"__from": fmt.Sprint(suite.FirstNight.Add(-time.Hour).UnixMilli()), "__to": fmt.Sprint(to.UnixMilli()),
			"metric": "'" + metricOf(t, db) + "'", "label": "'target'", "mode": "'user'", "__interval_ms": "60000"}
		sql := regexp.MustCompile(`\$\{?(\w+)(:sqlstring)?\}?`).ReplaceAllStringFunc(request.SQL, func(name string) string {
			return values[strings.TrimSuffix(strings.Trim(name, "${}"), ":sqlstring")]
		})
		rows, err := db.Records(context.Background(), sql)
		if err != nil {
			t.Fatalf("%v\n%s", err, sql)
		}
		if len(rows) != 40 || rows[0].Text("series") != "nightly" {
			t.Errorf("%d rows: %v", len(rows), rows)
		}
		for n, r := range rows {
			at := suite.FirstNight.AddDate(0, 0, n)
			if got := time.UnixMilli(r.Number("time")); got.Sub(at).Abs() > time.Minute {
				t.Errorf("row %d is at %s", n, got.UTC())
			}
		}
		return
	}
	t.Error("the dashboard has no such panel")
}

// metricOf returns the metric of the recordings. It depends on the event that perf uses on this
// machine.
func metricOf(t *testing.T, db *queries.DB) string {
	t.Helper()
	metrics, err := db.Metrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return metrics[0].Name
}
