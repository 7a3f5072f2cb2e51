package serve

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"stackmill/queries/storetest"
)

// tableAnswer has the properties of a table that tests compare with views.
type tableAnswer struct {
	Metrics []struct {
		Metric, Unit         string
		Experiments, Lacking int
		Without              []string
		Total, Whole         int64
		Base                 *struct {
			Experiments int
			Total       int64
		}
	}
	Runs []struct {
		Label string
		Total float64
	}
	Spread             bool
	Nights             []string
	All, Count, Offset int
	Found              []int64
	Rows               []tableRow
}

type tableRow struct {
	Function             string
	LoadObject           string `json:"load_object"`
	Module               string
	Exclusive, Inclusive []int64
	Base                 *struct{ Exclusive, Inclusive []int64 }
	Runs                 *struct{ Exclusive, Inclusive []float64 }
	Size                 int64
	History              []float64
}

// summedRow is a row of a view in the sum of the experiments.
type summedRow struct {
	Function, Module, Metric, Kind string
	LoadObject                     string `json:"load_object"`
	Exclusive, Inclusive           int64
	ExclusiveMin                   float64 `json:"exclusive_min"`
	ExclusiveMedian                float64 `json:"exclusive_median"`
	InclusiveMax                   float64 `json:"inclusive_max"`
}

// The table has the values of the views, summed over the experiments, for each kind of rows: of several metrics, in
// each mode, with inlined functions or without, and of the samples that pass a filter.
func TestFunctionTable(t *testing.T) {
	s := start(t, storetest.New(t, storetest.Two), nil)
	compared := 0
	for group, view := range map[string]string{"function": "functions", "module": "modules", "load-object": "load-objects"} {
		for _, query := range []string{"metric=all", "metric=all&mode=machine", "metric=totalcpu&inline=true&mode=expert", "metric=totalcpu&thread=4711", "metric=totalcpu,heapallocbytes&hide=app", "metric=all&experiment=00000000000000aa", "metric=totalcpu&where=cpu+%3D+0"} {
			if group != "function" && strings.Contains(query, "inline") {
				continue
			}
			table := decode[tableAnswer](s, "/api/v1/functions?runs=true&rows="+group+"&"+query)
			want, total := map[string]string{}, map[string]int64{}
			values := map[string][]string{}
			for _, r := range decode[[]summedRow](s, "/api/v1/views/"+view+"?sum=true&"+query) {
				if r.Function == "<Total>" && r.Kind == "artificial" {
					total[r.Metric] = r.Inclusive
					continue
				}
				key := r.Function + " " + r.LoadObject + " " + r.Module
				values[key] = append(values[key], fmt.Sprint(r.Metric, " ", r.Exclusive, " ", r.Inclusive))
			}
			for key, list := range values {
				slices.Sort(list)
				want[key] = strings.Join(list, ", ")
			}
			got := map[string]string{}
			for _, r := range table.Rows {
				key := r.Function + " " + r.LoadObject + " " + r.Module
				switch group {
				case "module":
					key = " " + r.LoadObject + " " + r.Module
				case "load-object":
					key = " " + r.LoadObject + " "
				}
				var list []string
				for i, m := range table.Metrics {
					if r.Exclusive[i] != 0 || r.Inclusive[i] != 0 {
						list = append(list, fmt.Sprint(m.Metric, " ", r.Exclusive[i], " ", r.Inclusive[i]))
					}
				}
				slices.Sort(list)
				got[key] = strings.Join(list, ", ")
				sum := 0.0
				for i := range table.Runs {
					sum += r.Runs.Exclusive[i]
				}
				if int64(sum) != r.Exclusive[0] {
					t.Errorf("%s %s: the runs of %+v are not its sum", group, query, r)
				}
				compared++
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s %s:\n%v\nwant\n%v", group, query, got, want)
			}
			for i, m := range table.Metrics {
				if group == "function" && (m.Total != total[m.Metric] || m.Whole < m.Total) || table.Found[i] > m.Total || m.Experiments+m.Lacking > 2 || m.Lacking != len(m.Without) {
					t.Errorf("%s %s: %+v, want the total %d", group, query, m, total[m.Metric])
				}
			}
		}
	}
	if compared < 50 {
		t.Errorf("only %d rows compared", compared)
	}
}

// Packages have the exclusive values of their functions, and the stacks that pass them count once.
func TestPackageTable(t *testing.T) {
	text := storetest.Nights([]map[string]int{{"a/b.f": 10, "a/b.g": 20, "ns::h": 5, "main": 7}, {"a/b.f": 1, "a/b.g": 2, "ns::h": 3, "main": 4}})
	s := start(t, storetest.New(t, text), nil)
	table := decode[tableAnswer](s, "/api/v1/functions?rows=package")
	got := ""
	for _, r := range table.Rows {
		got += fmt.Sprint(r.Function, " ", r.Exclusive[0]/1e6, " ", r.Inclusive[0]/1e6, ", ")
	}
	if want := "a/b 33 33,  11 11, ns 8 8, "; got != want { // the load object has no short path in this store
		t.Errorf("%q, want %q", got, want)
	}
	table = decode[tableAnswer](s, "/api/v1/functions?rows=package&experiment=night-00.er&base=night-01.er&search=ns")
	if len(table.Rows) != 1 || table.Rows[0].Exclusive[0] != 5e6 || table.Rows[0].Base.Exclusive[0] != 3e6 {
		t.Errorf("%+v", table)
	}
	if r, text := s.ask("GET", "/api/v1/functions?rows=package&runs=true", ""); r.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), "packages have no values by run") {
		t.Errorf("%s %s", r.Status, text)
	}
}

// A table is read in parts, in the order of any column, and of the rows that a search leaves.
func TestFunctionTableParts(t *testing.T) {
	s := start(t, storetest.New(t, storetest.Two), nil)
	names := func(query string) (names []string) {
		for _, r := range decode[tableAnswer](s, "/api/v1/functions?metric=all&"+query).Rows {
			names = append(names, r.Function)
		}
		return names
	}
	all := names("")
	var parts []string
	for i := range all {
		parts = append(parts, names(fmt.Sprintf("limit=1&offset=%d", i))...)
	}
	if !slices.Equal(parts, all) || len(names(fmt.Sprintf("offset=%d", len(all)+7))) != 0 {
		t.Errorf("%q, want %q", parts, all)
	}
	sorted := slices.Clone(all)
	slices.Sort(sorted)
	if got := names("sort=function"); !slices.Equal(got, sorted) {
		t.Errorf("by name: %q", got)
	}
	slices.Reverse(sorted)
	if got := names("sort=-function"); !slices.Equal(got, sorted) {
		t.Errorf("by name, in reverse: %q", got)
	}
	for query, want := range map[string]string{"search=MAI": "[main]", "search=" + url.QueryEscape("/^m.*n$/"): "[main]", "search=nothing": "[]", "search=app&limit=1&sort=inclusive": "[main]", "sort=inclusive.0&limit=1": "[main]", "runs=true&sort=run.0&limit=1&experiment=00000000000000aa": "[g]"} {
		if got := fmt.Sprint(names(query)); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	for query, want := range map[string]string{
		"search=" + url.QueryEscape("/(/"): `search: /(/ is not a regular expression`, "sort=nonsense": "sort: no column", "sort=exclusive.99": "sort: no column", "sort=run.0": "sort: no column", "sort=base-exclusive": "sort: no column",
		"columns=nonsense": "columns: no column", "limit=5001": "limit: 5001 is more than 5000", "metric=nonsense": "no metric", "offset=-1": "offset: ",
	} {
		if response, text := s.ask("GET", "/api/v1/functions?"+query, ""); response.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), want) {
			t.Errorf("%s: %s %s", query, response.Status, text)
		}
	}
}

// Many runs are shown by their spread, and a base beside them.
func TestFunctionTableRuns(t *testing.T) {
	nights := make([]map[string]int, 40)
	for i := range nights {
		nights[i] = map[string]int{"main": 10 + i, "old": 5, "new": 0}
		if i%2 == 1 {
			nights[i]["old"], nights[i]["new"] = 0, 30
		}
	}
	s := start(t, storetest.New(t, storetest.Nights(nights)), nil)
	table := decode[tableAnswer](s, "/api/v1/functions?runs=true&columns=history")
	rows := decode[[]summedRow](s, "/api/v1/views/functions?sum=true")
	if len(rows) != 4 || len(table.Rows) != 3 || !table.Spread || len(table.Runs) != 3 || len(table.Nights) != 30 {
		t.Fatalf("%+v", table)
	}
	for _, want := range rows[1:] {
		i := slices.IndexFunc(table.Rows, func(r tableRow) bool { return r.Function == want.Function })
		r := table.Rows[i]
		if r.Runs.Exclusive[0] != want.ExclusiveMin || r.Runs.Exclusive[1] != want.ExclusiveMedian || r.Runs.Inclusive[2] != want.InclusiveMax || len(r.History) != 30 {
			t.Errorf("%+v, want %+v", r, want)
		}
	}
	if h := table.Rows[0].History; table.Rows[0].Function != "main" || h[29] != 49e6 || h[0] != 20e6 {
		t.Errorf("%+v", table.Rows[0])
	}
	table = decode[tableAnswer](s, "/api/v1/functions?base=night-00.er&base=night-02.er&experiment=night-01.er")
	if m := table.Metrics[0]; len(table.Rows) != 3 || m.Base.Experiments != 2 || m.Base.Total != 32e6 || m.Total != 41e6 {
		t.Errorf("%+v", table)
	}
	for i, want := range []string{"new 30000000 0", "old 0 10000000", "main 11000000 22000000"} { // by the difference of the means
		if r := table.Rows[i]; fmt.Sprint(r.Function, " ", r.Exclusive[0], " ", r.Base.Exclusive[0]) != want {
			t.Errorf("row %d: %+v, want %s", i, r, want)
		}
	}
}
