package flametree

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
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

// TestFlameTree checks that the sums of a tree are the same however many of its nodes are shown, and that the nodes
// that are not shown are counted.
func TestFlameTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := New(0)
		for range rapid.IntRange(1, 30).Draw(t, "stacks") {
			at := int32(-1)
			value := rapid.Int64Range(0, 5).Draw(t, "value")
			for _, name := range slices.Insert(rapid.SliceOfN(rapid.StringMatching("[a-c]"), 0, 6).Draw(t, "stack"), 0, "<Total>") {
				at = tree.Child(at, tree.Intern(Function{Name: name}))
				tree.Nodes[at].Value += value
			}
			tree.Nodes[at].Exclusive += value
		}
		most := rapid.IntRange(1, 40).Draw(t, "most")
		text := tree.Cut(most).JSON(Head{Mode: "user"}, false)
		var got struct{ Tree flame }
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		var columns flameColumns
		if err := json.Unmarshal(tree.Cut(most).JSON(Head{Mode: "user"}, true), &columns); err != nil {
			t.Fatal(err)
		}
		if again := columns.tree(); !reflect.DeepEqual(again, got.Tree) {
			t.Fatalf("columns are %+v, the tree is %+v", again, got.Tree)
		}
		if n := got.Tree.check(t); n > max(most, 2) {
			t.Fatalf("%d nodes of at most %d: %s", n, most, text)
		}
		if n := counted(&got.Tree); n != len(tree.Nodes) {
			t.Fatalf("%d nodes are shown or counted, of %d: %s", n, len(tree.Nodes), text)
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

// counted returns the number of nodes in a subtree, including the nodes that are not shown.
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

// TestFlameRefused checks that a tree is refused if it is damaged or its sum needs more than 64 bits.
func TestFlameRefused(t *testing.T) {
	root := func(value, self int64) []CallNode {
		return []CallNode{{Parent: -1, Value: value, Self: self, Valued: true}}
	}
	for _, test := range []struct {
		name  string
		trees [][]CallNode
		want  error
	}{
		{"large", [][]CallNode{root(math.MaxInt64, 0)}, nil},
		{"two large", [][]CallNode{root(math.MaxInt64, 0), root(1, 0)}, ErrTooLarge},
		{"negative", [][]CallNode{root(-1, 0)}, ErrDamaged},
		{"more itself than in all", [][]CallNode{root(1, 2)}, ErrDamaged},
	} {
		tree := New(0)
		tree.Intern(Function{})
		var err error
		for _, nodes := range test.trees {
			err = errors.Join(err, tree.Merge(nodes))
		}
		if !errors.Is(err, test.want) || (test.want == nil) != (err == nil) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
	}
}
