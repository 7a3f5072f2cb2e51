package serve

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"stackmill/queries/storetest"
)

// flame is a node, as clients read it.
type flame struct {
	Name             string
	Value, Exclusive int64
	Children         []flame
}

// check checks that each value is the sum of its parts, and returns the number of nodes.
func (f *flame) check(t interface{ Errorf(string, ...any) }) (nodes int) {
	sum := f.Exclusive
	nodes = 1
	for i := range f.Children {
		sum += f.Children[i].Value
		nodes += f.Children[i].check(t)
	}
	if sum != f.Value {
		t.Errorf("%s: exclusive and callees are %d, inclusive is %d", f.Name, sum, f.Value)
	}
	return nodes
}

// A flame graph of several experiments has the sums of their values. If the number of nodes is limited, the total
// stays the same.
func TestFlamegraph(t *testing.T) {
	// The second experiment is a copy of the first with another id and name.
	first, _, _ := strings.Cut(storetest.Two, "# The second")
	again := strings.ReplaceAll(strings.ReplaceAll(first, "00000000000000aa", "00000000000000bb"), "monday", "tuesday")
	s := start(t, storetest.New(t, first+again), nil)
	read := func(query string) (f flame, nodes int) {
		t.Helper()
		var got struct {
			Nodes int
			Tree  flame
		}
		if err := json.Unmarshal([]byte(s.get("/api/v1/flamegraph?metric=totalcpu"+query)), &got); err != nil {
			t.Fatal(err)
		}
		return got.Tree, got.Nodes
	}
	one, nodes := read("&experiment=monday/test.1.er")
	both, merged := read("")
	if n := both.check(t); n != merged || merged != nodes {
		t.Errorf("%d nodes of %d, one experiment has %d", n, merged, nodes)
	}
	if one.check(t); one.Value != 80_000_000 || both.Value != 2*one.Value {
		t.Errorf("one has %d, both have %d", one.Value, both.Value)
	}
	for most := 1; most <= nodes; most++ {
		f, _ := read(fmt.Sprintf("&nodes=%d", most))
		if n := f.check(t); n > max(most, 2) || f.Value != both.Value { // 2: the root, and a node for the rest
			t.Errorf("%d nodes of at most %d, with %d", n, most, f.Value)
		}
	}
	if thread, _ := read("&experiment=monday/test.1.er&thread=4712"); thread.check(t) == 0 || thread.Value != 30_000_000 {
		t.Errorf("a thread has %d", thread.Value)
	}
}

// Two functions with the same name and the same file name are two nodes, even if they have the same caller.
func TestFlameOfSameNames(t *testing.T) {
	store := strings.NewReplacer(
		"modules module_id load_object_id name\n", "modules module_id load_object_id name short_path\n",
		"801 901 (unknown)\n", "801 901 (unknown) (unknown)\n",
		"803 903 a.c\n", "803 903 /s/d1/a.c d1/a.c\n  804 903 /s/d2/a.c d2/a.c\n",
		"11 11 903 803 two two normal", "11 11 903 804 one one normal",
	).Replace(storetest.Groups("clock", []map[string]int{{"one": 30, "two": 20}}, nil))
	s := start(t, storetest.New(t, store), nil)
	for module, want := range map[string]int64{"": 50e6, "d1/a.c": 30e6, "d2/a.c": 20e6, "a.c": 50e6} {
		var got struct{ Tree flame }
		query := "/api/v1/flamegraph?metric=m"
		if module != "" {
			query += "&side=callees&group=module&of=" + url.QueryEscape(module)
		}
		if err := json.Unmarshal([]byte(s.get(query)), &got); err != nil {
			t.Fatal(err)
		}
		if got.Tree.check(t); got.Tree.Value != want || module == "" && len(got.Tree.Children) != 2 {
			t.Errorf("%q: %+v, want %d", module, got.Tree, want)
		}
	}
}
