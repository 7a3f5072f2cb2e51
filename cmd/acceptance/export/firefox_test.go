package export

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"stackmill/queries/export"
)

// firefoxProfile has the checked parts of a profile for Firefox's profiler.
type firefoxProfile struct {
	Threads []struct {
		Name    string
		Samples struct {
			Stack      []int
			Time       []float64
			Weight     []float64
			WeightType string
			Length     int
		}
		StackTable struct {
			Frame  []int
			Prefix []*int
			Length int
		}
		FrameTable struct {
			Func        []int
			InlineDepth []int
			Length      int
		}
		FuncTable struct {
			Name   []int
			Length int
		}
		StringArray []string
	}
}

// Profiles for Firefox's profiler have its format, the values of `report functions --inline`, and
// samples in time order.
func TestFirefox(t *testing.T) {
	for name, metric := range map[string]string{"recur": "totalcpu", "cxx": "totalcpu", "threads": "totalcpu", "heap": "heapallocbytes", "forkexec": "totalcpu"} {
		db := only(t, name+".er")
		path := file(t, db, export.Request{As: "firefox", Metric: metric})
		var p firefoxProfile
		if err := json.Unmarshal(exported(t, db, export.Request{As: "firefox", Metric: metric}), &p); err != nil {
			t.Fatal(err)
		}
		factor := 1.0
		got := map[string]both{}
		var sum int64
		for _, th := range p.Threads {
			if th.Samples.WeightType == "tracing-ms" {
				factor = 1e6
			}
			if !slices.IsSorted(th.Samples.Time) {
				t.Errorf("%s, %s: times are not in order", name, th.Name)
			}
			for i, stack := range th.Samples.Stack {
				v := int64(math.Round(th.Samples.Weight[i] * factor))
				sum += v
				seen := map[string]bool{}
				for n := &stack; n != nil; n = th.StackTable.Prefix[*n] {
					function := th.StringArray[th.FuncTable.Name[th.FrameTable.Func[th.StackTable.Frame[*n]]]]
					b := got[function]
					if n == &stack {
						b[0] += v
					}
					if !seen[function] {
						b[1] += v
					}
					got[function], seen[function] = b, true
				}
			}
		}
		delete(got, "<no stack>")
		want := reported(t, db, "inline_function_metrics", "f.name", metric, "user")
		delete(want, "<Total>")
		if diff := gocmp.Diff(got, want); diff != "" {
			t.Errorf("%s: -firefox +report\n%s", name, diff)
		}
		if all := total(t, db, metric, "user"); sum != all {
			t.Errorf("%s: sum %d, want %d", name, sum, all)
		}
		node(t, "firefox.mjs", "testdata/firefox.schema.json", path)
	}
}
