package serve

import (
	"encoding/json"
	"fmt"
	"net/url"
	"testing"

	"stackmill/queries/storetest"
)

// decode sends a request and decodes its answer.
func decode[T any](s *served, path string) (answer T) {
	s.t.Helper()
	text := s.get(path)
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		s.t.Fatalf("%s: %v: %.300s", path, err, text)
	}
	return answer
}

// oneAnswer has the properties of an answer about one function that tests compare with views.
type oneAnswer struct {
	Metric, Unit, Mode, Function, File string
	LoadObject                         string `json:"load_object"`
	Experiments, Lacking, Found        int
	Without                            []string
	Total, Whole                       int64
	Exclusive, Inclusive               int64
	Callers, Callees                   []neighborAnswer
	Rest                               struct {
		Callers, Callees struct{ Count, Attributed int64 }
	}
	Values struct {
		By     string
		Points []struct {
			Label                       string
			Experiments                 int
			Exclusive, Inclusive, Total float64
		}
	}
	Base *struct {
		Experiments                 int
		Total, Exclusive, Inclusive int64
	}
}

type neighborAnswer struct {
	Function   string
	Attributed int64
}

// One function has the values that the views give for it, summed over the experiments: in each mode, with inlined
// functions or without, and of the samples that pass a filter.
func TestFunction(t *testing.T) {
	s := start(t, storetest.New(t, storetest.Two), nil)
	compared := 0
	for _, mode := range []string{"user", "expert", "machine"} {
		for _, more := range []string{"", "&inline=true", "&thread=4711", "&experiment=00000000000000aa", "&hide=app", "&where=cpu+%3D+0"} {
			query := "?metric=totalcpu&mode=" + mode + more
			type row struct {
				Function, Other, Relation        string
				Exclusive, Inclusive, Attributed int64
			}
			rows := decode[[]row](s, "/api/v1/views/functions"+query+"&sum=true")
			calls := decode[[]row](s, "/api/v1/views/callers-callees"+query+"&sum=true")
			for _, r := range rows {
				f := decode[oneAnswer](s, "/api/v1/function"+query+"&function="+url.QueryEscape(r.Function))
				compared++
				if f.Found != 1 || f.Exclusive != r.Exclusive || f.Inclusive != r.Inclusive || f.Total != rows[0].Inclusive || f.Whole < f.Total {
					t.Errorf("%s: %+v, want %+v of %d", query, f, r, rows[0].Inclusive)
				}
				want, got := map[string]int64{}, map[string]int64{}
				for _, c := range calls {
					if c.Function == r.Function && c.Relation != "self" && c.Attributed != 0 {
						want[c.Relation+" "+c.Other] = c.Attributed
					}
				}
				for _, c := range f.Callers {
					got["caller "+c.Function] = c.Attributed
				}
				for _, c := range f.Callees {
					got["callee "+c.Function] = c.Attributed
				}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s: %s has %v, want %v", query, r.Function, got, want)
				}
				sum := 0.0
				for _, p := range f.Values.Points {
					sum += p.Inclusive
				}
				if int64(sum) != r.Inclusive || len(f.Values.Points) != f.Experiments {
					t.Errorf("%s: %s has %+v, want %d in all", query, r.Function, f.Values, r.Inclusive)
				}
			}
		}
	}
	if compared < 60 {
		t.Errorf("only %d functions compared", compared)
	}
	if f := decode[oneAnswer](s, "/api/v1/function?thread=4711"); f.Function != "f" || f.Total >= f.Whole || f.LoadObject != "app" || f.File != "a.c" {
		t.Errorf("by default: %+v", f)
	}
	if f := decode[oneAnswer](s, "/api/v1/function?function=nonsense"); f.Found != 0 || f.Function != "nonsense" || f.Inclusive != 0 || f.Total == 0 {
		t.Errorf("a name without values: %+v", f)
	}
	f := decode[oneAnswer](s, "/api/v1/function?function=f&limit=1&experiment=00000000000000aa&base=00000000000000aa")
	if len(f.Callees) != 1 || f.Base == nil || f.Base.Inclusive != f.Inclusive || f.Base.Exclusive != f.Exclusive || f.Base.Total != f.Total || f.Base.Experiments != 1 {
		t.Errorf("with a base: %+v", f)
	}
}

// Experiments that lack the metric are counted and named, and a long history is given by night.
func TestFunctionOverTime(t *testing.T) {
	nights := make([]map[string]int, 70)
	for i := range nights {
		nights[i] = map[string]int{"main": 10 + i}
	}
	text := storetest.Nights(nights)
	s := start(t, storetest.New(t, text), nil)
	f := decode[oneAnswer](s, "/api/v1/function?function=main")
	if f.Values.By != "night" || len(f.Values.Points) != 60 || f.Values.Points[59].Label != "2026-03-11" || f.Values.Points[59].Exclusive != 79e6 || f.Experiments != 70 {
		t.Errorf("%+v", f)
	}
	s = start(t, storetest.New(t, storetest.Two), nil)
	for _, metric := range []string{"", "&metric=heapleakbytes"} {
		f := decode[oneAnswer](s, "/api/v1/function?function=main"+metric)
		if f.Experiments+f.Lacking != 2 || len(f.Without) != f.Lacking {
			t.Errorf("%s: %+v", metric, f)
		}
	}
}
