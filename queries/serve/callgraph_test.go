package serve

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"stackmill/queries/storetest"
)

// graphText has the properties of an answer about the graph of calls that tests compare with views.
type graphText struct {
	Function             string
	LoadObject           string `json:"load_object"`
	Found                int
	Total, Whole         int64
	Exclusive, Inclusive int64
	Callers, Callees     []graphSide
	Rest                 struct {
		Callers, Callees struct{ Count, Attributed int64 }
	}
	InCycle     int `json:"in_cycle"`
	Closed      bool
	Cycles      []struct{ Size int }
	Experiments int
}

type graphSide struct {
	Function   string
	Attributed int64
	InCycle    int `json:"in_cycle"`
}

// The neighborhood of a function has the values of the view callers_callees, summed over the experiments, and that of
// a module or load object the inclusive and exclusive values of its view.
func TestCallGraph(t *testing.T) {
	// The names of load objects and modules in call trees are short paths, which the store lacks.
	text := strings.NewReplacer("name path kind\n", "name path short_path kind\n", "/bin/app elf", "/bin/app app elf", "<Total> <Total> artificial", "<Total> <Total> <Total> artificial",
		"<Unknown> <Unknown> unknown", "<Unknown> <Unknown> <Unknown> unknown", "load_object_id name\n", "load_object_id name short_path\n", " a.c\n", " a.c a.c\n", " b.c\n", " b.c b.c\n", "(unknown)\n", "(unknown) (unknown)\n").Replace(storetest.Two)
	s := start(t, storetest.New(t, text), nil)
	compared := 0
	for _, mode := range []string{"user", "expert", "machine"} {
		for _, more := range []string{"", "&inline=true", "&thread=4711", "&hide=app"} {
			query := "?metric=totalcpu&mode=" + mode + more
			type row struct {
				Function, Other, Relation        string
				Exclusive, Inclusive, Attributed int64
			}
			calls := decode[[]row](s, "/api/v1/views/callers-callees"+query+"&sum=true")
			for i, r := range decode[[]row](s, "/api/v1/views/functions"+query+"&sum=true") {
				if i == 0 { // <Total>
					continue
				}
				g := decode[graphText](s, "/api/v1/callgraph"+query+"&name="+url.QueryEscape(r.Function))
				compared++
				if g.Found != 1 || g.Exclusive != r.Exclusive || g.Inclusive != r.Inclusive {
					t.Errorf("%s: %+v, want %+v", query, g, r)
				}
				want, got := map[string]int64{}, map[string]int64{}
				for _, c := range calls {
					if c.Function == r.Function && c.Relation != "self" && c.Attributed != 0 {
						want[c.Relation+" "+c.Other] = c.Attributed
					}
				}
				for _, c := range g.Callers {
					got["caller "+c.Function] = c.Attributed
				}
				for _, c := range g.Callees {
					got["callee "+c.Function] = c.Attributed
				}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s: %s has %v, want %v", query, r.Function, got, want)
				}
			}
			if more == "&inline=true" {
				continue // modules and load objects have no values with inlined functions
			}
			for group, view := range map[string]string{"module": "modules", "load-object": "load-objects"} {
				for _, r := range decode[[]summedRow](s, "/api/v1/views/"+view+query+"&sum=true") {
					name := r.Module
					if group == "load-object" {
						name = r.LoadObject
					}
					g := decode[graphText](s, "/api/v1/callgraph"+query+"&group="+group+"&name="+url.QueryEscape(name)+"&load-object="+url.QueryEscape(r.LoadObject))
					sum := g.Exclusive
					for _, c := range g.Callees {
						sum += c.Attributed
					}
					if name != "(unknown)" && name != "(hidden)" && (g.Exclusive != r.Exclusive || g.Inclusive != r.Inclusive || sum != r.Inclusive) {
						t.Errorf("%s: %s %+v, want %+v", query, group, g, r)
					}
					compared++
				}
			}
		}
	}
	if compared < 60 {
		t.Errorf("only %d compared", compared)
	}
	if g := decode[graphText](s, "/api/v1/callgraph?name=f&limit=1&experiment=00000000000000aa"); len(g.Callers) != 1 || g.Rest.Callees.Count != 0 || g.InCycle != -1 {
		t.Errorf("with a limit: %+v", g)
	}
	if g := decode[graphText](s, "/api/v1/callgraph?name=nonsense"); g.Found != 0 || g.Total == 0 || len(g.Callers) != 0 {
		t.Errorf("a name without values: %+v", g)
	}
}
