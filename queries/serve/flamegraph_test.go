package serve

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
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

// A flame graph of several experiments has the sums of their values, of all nodes that are wide enough.
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
	for _, width := range []int{1, 2, 3, 5, 10, 1000} {
		f, _ := read(fmt.Sprintf("&width=%d", width))
		var narrow func(f flame) bool
		narrow = func(f flame) bool {
			return float64(f.Value) < float64(both.Value)/float64(2*width) || slices.ContainsFunc(f.Children, narrow)
		}
		if narrow(f) || f.Value != both.Value || width == 1000 && f.check(t) != nodes {
			t.Errorf("%d pixels: %+v", width, f)
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

// flameColumns is a flame graph as columns.
type flameColumns struct {
	Nodes  int
	Total  int64
	Of     string
	Groups struct {
		By                   string
		Name                 []string
		Exclusive, Inclusive []int64
	}
	Names struct {
		Name  []string
		Group []int
	}
	Level, Name             []int
	Start, Value, Exclusive []int64
}

// at returns the nodes by their path of names.
func (c *flameColumns) at() map[string][3]int64 {
	nodes, path := map[string][3]int64{}, []string{}
	for i, level := range c.Level {
		path = append(path[:level], c.Names.Name[c.Name[i]])
		nodes[strings.Join(path, ";")] = [3]int64{c.Start[i], c.Value[i], c.Exclusive[i]}
	}
	return nodes
}

// flameStacks are the values of functions that call each other, with namespaces.
var flameStacks = []map[string]int{{"a::f": 30, "a::g": 20, "b::f": 7, "main": 3}, {"a::f": 5, "b::h": 11}}

// A sub-tree, by the id of its root or by a window, has the nodes of the whole tree with the same positions.
func TestFlameSubtree(t *testing.T) {
	s := start(t, storetest.New(t, storetest.Two), nil)
	read := func(query string) (c flameColumns) {
		t.Helper()
		if err := json.Unmarshal([]byte(s.get("/api/v1/flamegraph?metric=totalcpu&form=columns"+query)), &c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	seen := 0
	for _, side := range []string{"", "&side=inverted", "&side=callees&of=main", "&side=callers", "&side=callees"} {
		c := read(side)
		whole := c.at()
		if len(whole) != len(c.Level) || len(whole) == 0 {
			t.Fatalf("%q: %v", side, whole)
		}
		type node struct {
			ID       string
			Name     string
			Value    int64
			Children []node
		}
		var tree struct{ Tree node }
		if err := json.Unmarshal([]byte(s.get("/api/v1/flamegraph?metric=totalcpu"+side)), &tree); err != nil {
			t.Fatal(err)
		}
		var visit func(node, string)
		visit = func(n node, path string) {
			part := read(side + "&root=" + n.ID + "&width=100000")
			for at, want := range whole {
				_, is := part.at()[at]
				if below := strings.HasPrefix(at+";", path+";"); is != (below || strings.HasPrefix(path+";", at+";")) || is && part.at()[at] != want {
					t.Errorf("%q: %s of %s is %v, not %v", side, at, path, part.at()[at], want)
				}
			}
			seen++
			for _, below := range n.Children {
				visit(below, path+";"+below.Name)
			}
		}
		visit(tree.Tree, tree.Tree.Name)
		half := read(side + "&window=0,0.5")
		for at, node := range whole {
			if _, is := half.at()[at]; is != (node[0]*2 < whole[tree.Tree.Name][1] || !strings.Contains(at, ";")) {
				t.Errorf("%q: the left half has %s at %v: %t", side, at, node, is)
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d sub-trees", seen)
	}
}

// The sums of groups are those of the whole tree, whatever part of it is drawn.
func TestFlameGroups(t *testing.T) {
	store := storetest.New(t, storetest.Groups("clock", flameStacks, nil))
	s := start(t, store, nil)
	sums := func(query string) map[string][2]int64 {
		t.Helper()
		var c flameColumns
		if err := json.Unmarshal([]byte(s.get("/api/v1/flamegraph?metric=m&form=columns"+query)), &c); err != nil {
			t.Fatal(err)
		}
		found := map[string][2]int64{}
		for i, name := range c.Groups.Name {
			found[name] = [2]int64{c.Groups.Exclusive[i] / 1e6, c.Groups.Inclusive[i] / 1e6}
		}
		for i, name := range c.Names.Name {
			if g := c.Names.Group[i]; strings.HasPrefix(name, "a::") && c.Groups.By == "namespace" && c.Groups.Name[g] != "a" {
				t.Errorf("%s is in %s", name, c.Groups.Name[g])
			}
		}
		return found
	}
	whole := sums("&by=namespace")
	for _, query := range []string{"&width=1", "&window=0,0.1", "&side=inverted"} {
		if part := sums("&by=namespace" + query); !maps.Equal(part, whole) {
			t.Errorf("%s: %v, the whole tree has %v", query, part, whole)
		}
	}
	for name, want := range map[string]int64{"a": 55, "b": 18} {
		if whole[name] != [2]int64{want, want} {
			t.Errorf("%s has %v, want %d", name, whole[name], want)
		}
	}
	for _, by := range []string{"load-object", "module", "package", "file", "auto"} {
		var sum int64
		for _, v := range sums("&by=" + by) {
			sum += v[0]
		}
		if sum != 76 {
			t.Errorf("by %s: %d of 76", by, sum)
		}
	}
}

// A search finds frames of the whole tree, counts nested ones once and lists them in drawing order. An invalid
// expression is an error.
func TestFlameSearch(t *testing.T) {
	s := start(t, storetest.New(t, storetest.Groups("clock", flameStacks, nil)), nil)
	type found struct {
		Frames       int
		Value, Total int64
		Hits         struct {
			ID, Name []string
			Start    []int64
		}
	}
	find := func(query string) (f found) {
		t.Helper()
		if err := json.Unmarshal([]byte(s.get("/api/v1/flamegraph/search?metric=m"+query)), &f); err != nil {
			t.Fatal(err)
		}
		return f
	}
	for query, want := range map[string]int64{"&search=A::": 55e6, "&search=/^b::/": 18e6, "&search=/::F$/": 42e6, "&search=main": 3e6, "&search=nothing": 0, "&search=a::&side=inverted": 55e6} {
		f := find(query)
		if f.Value != want || f.Total != 76e6 || len(f.Hits.ID) != f.Frames || (f.Frames == 0) != (want == 0) || !slices.IsSorted(f.Hits.Start) {
			t.Errorf("%s: %+v, want %d", query, f, want)
		}
	}
	all := find("&search=::")
	for i := range all.Frames {
		if one := find(fmt.Sprintf("&search=::&from=%d&limit=1", i)); one.Frames != all.Frames || !slices.Equal(one.Hits.ID, all.Hits.ID[i:i+1]) {
			t.Errorf("hit %d is %+v", i, one)
		}
	}
	if !strings.Contains(s.get("/api/v1/flamegraph?metric=m&root="+all.Hits.ID[0]), all.Hits.ID[0]) {
		t.Error("a hit is not in the tree")
	}
	for _, path := range []string{"/api/v1/flamegraph/search?", "/api/v1/compare/flamegraph/search?base=base-*&test=base-*&"} {
		if response, text := s.ask("GET", path+"search="+url.QueryEscape("/(/"), ""); response.StatusCode != 400 || !strings.Contains(string(text), "/(/ is not a regular expression: missing closing )") {
			t.Errorf("%s: %s %s", path, response.Status, text)
		}
	}
}
