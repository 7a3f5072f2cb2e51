package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

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

// However many nodes of a tree are shown, its sums stay the same, and the nodes that are not shown are counted.
func TestFlameTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := newFlameTree(0)
		for range rapid.IntRange(1, 30).Draw(t, "stacks") {
			at := int32(-1)
			value := rapid.Int64Range(0, 5).Draw(t, "value")
			for _, name := range slices.Insert(rapid.SliceOfN(rapid.StringMatching("[a-c]"), 0, 6).Draw(t, "stack"), 0, "<Total>") {
				at = tree.node(at, tree.intern(functionName{function: name}))
				tree.nodes[at].value += value
			}
			tree.nodes[at].exclusive += value
		}
		most := rapid.IntRange(1, 40).Draw(t, "most")
		text := tree.cut(most).json(flameHead{mode: "user"}, false)
		var got struct{ Tree flame }
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		var columns flameColumns
		if err := json.Unmarshal(tree.cut(most).json(flameHead{mode: "user"}, true), &columns); err != nil {
			t.Fatal(err)
		}
		if again := columns.tree(); !reflect.DeepEqual(again, got.Tree) {
			t.Fatalf("columns are %+v, the tree is %+v", again, got.Tree)
		}
		if n := got.Tree.check(t); n > max(most, 2) {
			t.Fatalf("%d nodes of at most %d: %s", n, most, text)
		}
		if n := counted(&got.Tree); n != len(tree.nodes) {
			t.Fatalf("%d nodes are shown or counted, of %d: %s", n, len(tree.nodes), text)
		}
	})
}

// flameColumns is the form of the same answer in which each field of the nodes is a column.
type flameColumns struct {
	Names            struct{ Name []string }
	Level, Name      []int
	Value, Exclusive []int64
}

// tree makes the tree from the columns. The parent of a node is the last node before it that is one level higher.
func (c *flameColumns) tree() flame {
	at := 0
	var below func(level int) []flame
	below = func(level int) []flame {
		list := []flame{}
		for at < len(c.Level) && c.Level[at] == level {
			f := flame{Name: c.Names.Name[c.Name[at]], Value: c.Value[at], Exclusive: c.Exclusive[at]}
			at++
			f.Children = below(level + 1)
			list = append(list, f)
		}
		return list
	}
	return below(0)[0]
}

// counted returns the number of nodes in a subtree, with those that are not shown.
func counted(f *flame) int {
	var more int
	if n, _ := fmt.Sscanf(f.Name, "<%d more>", &more); n == 1 {
		return more
	}
	n := 1
	for i := range f.Children {
		n += counted(&f.Children[i])
	}
	return n
}

// A tree is refused if it is damaged or its sum needs more than 64 bits.
func TestFlameRefused(t *testing.T) {
	root := func(value, self int64) []callNode {
		return []callNode{{parent: -1, value: value, self: self, valued: true}}
	}
	for _, test := range []struct {
		name  string
		trees [][]callNode
		want  error
	}{
		{"large", [][]callNode{root(math.MaxInt64, 0)}, nil},
		{"two large", [][]callNode{root(math.MaxInt64, 0), root(1, 0)}, errTooLarge},
		{"negative", [][]callNode{root(-1, 0)}, errDamaged},
		{"more itself than in all", [][]callNode{root(1, 2)}, errDamaged},
	} {
		tree := newFlameTree(0)
		tree.intern(functionName{})
		var err error
		for _, nodes := range test.trees {
			err = errors.Join(err, tree.merge(nodes))
		}
		if !errors.Is(err, test.want) || (test.want == nil) != (err == nil) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
	}
}
