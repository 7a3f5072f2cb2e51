package flametree

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// For any stacks, callers and callees have the sums of the stacks, each counted once at the frame nearest to the leaf,
// and cycles are the functions that reach each other.
func TestNeighbors(t *testing.T) {
	type stack struct {
		names []string
		value int64
	}
	rapid.Check(t, func(t *rapid.T) {
		tree, stacks := New(0), []stack{}
		object := func(name string) string { return "lib" + string(name[0]) }
		for range rapid.IntRange(1, 20).Draw(t, "stacks") {
			s := stack{rapid.SliceOfN(rapid.StringMatching("[ab][12]"), 0, 6).Draw(t, "stack"), rapid.Int64Range(1, 5).Draw(t, "value")}
			stacks = append(stacks, s)
			at := tree.Child(-1, tree.Intern(Function{Name: "<Total>", Kind: "artificial"}))
			tree.Nodes[at].Value += s.value
			for _, name := range s.names {
				at = tree.Child(at, tree.Intern(Function{Name: name, LoadObject: object(name), Kind: "normal"}))
				tree.Nodes[at].Value += s.value
			}
			tree.Nodes[at].Exclusive += s.value
		}
		for _, by := range []string{"function", "load-object"} {
			name := func(frame string) string {
				if by == "load-object" {
					return object(frame)
				}
				return frame
			}
			g := NewCallGraph(tree.Layout(), by)
			exclusive, inclusive := g.Values()
			reaches := reachable(g)
			for i, n := range g.Names {
				if n.Kind == "artificial" {
					continue
				}
				want := map[string]int64{}
				for _, s := range stacks {
					at := len(s.names) - 1
					for at >= 0 && name(s.names[at]) != n.Name {
						at--
					}
					if at < 0 {
						continue
					}
					want["all"] += s.value
					if at == len(s.names)-1 {
						want["self"] += s.value
					} else {
						want["callee "+name(s.names[at+1])] += s.value
					}
					for at--; by == "load-object" && at >= 0 && name(s.names[at]) == n.Name; {
						at--
					}
					caller := "<Total>"
					if at >= 0 {
						caller = name(s.names[at])
					}
					want["caller "+caller] += s.value
				}
				found := g.Neighbors(int32(i), by, false)
				got := map[string]int64{"all": found.Inclusive, "self": found.Exclusive}
				for _, c := range found.Callers {
					got["caller "+g.Names[c.Group].Name] = c.Value
				}
				for _, c := range found.Callees {
					got["callee "+g.Names[c.Group].Name] = c.Value
				}
				if want["self"] == 0 {
					want["self"] = 0
				}
				if fmt.Sprint(got) != fmt.Sprint(want) || exclusive[i] != found.Exclusive || inclusive[i] != found.Inclusive {
					t.Fatalf("%s of %v: %v and %d, %d; want %v", n.Name, stacks, got, exclusive[i], inclusive[i], want)
				}
				for j := range g.Names {
					together := i != j && reaches[[2]int{i, j}] && reaches[[2]int{j, i}]
					if i != j && together != (g.Cycle(int32(i)) > 0 && g.Cycle(int32(i)) == g.Cycle(int32(j))) {
						t.Fatalf("%s and %s: together %t in %v", n.Name, g.Names[j].Name, together, stacks)
					}
				}
			}
		}
	})
}

// reachable returns which groups call which, directly or through others.
func reachable(g *CallGraph) map[[2]int]bool {
	reaches := map[[2]int]bool{}
	for i, calls := range g.calls() {
		for _, j := range calls {
			reaches[[2]int{i, int(j)}] = true
		}
	}
	for k := range g.Names {
		for i := range g.Names {
			for j := range g.Names {
				reaches[[2]int{i, j}] = reaches[[2]int{i, j}] || reaches[[2]int{i, k}] && reaches[[2]int{k, j}]
			}
		}
	}
	return reaches
}

// A cycle as a whole has the callers and callees outside of it, and the values of the stacks that pass it.
func TestWholeCycle(t *testing.T) {
	tree := New(0)
	for _, s := range []string{"main even odd even leaf", "main odd", "other even", "other"} {
		at := tree.Child(-1, tree.Intern(Function{Name: "<Total>", Kind: "artificial"}))
		tree.Nodes[at].Value++
		for _, name := range strings.Fields(s) {
			at = tree.Child(at, tree.Intern(Function{Name: name, Kind: "normal"}))
			tree.Nodes[at].Value++
		}
		tree.Nodes[at].Exclusive++
	}
	g := NewCallGraph(tree.Layout(), "function")
	even := int32(slices.IndexFunc(g.Names, func(f Function) bool { return f.Name == "even" }))
	n := g.Neighbors(even, "function", true)
	text := fmt.Sprint(n.Exclusive, n.Inclusive)
	for _, list := range [][]CallValue{n.Callers, n.Callees} {
		for _, c := range list {
			text += fmt.Sprint(" ", g.Names[c.Group].Name, c.Value)
		}
	}
	if want := "2 3 main2 other1 leaf1"; text != want {
		t.Errorf("%s, want %s", text, want)
	}
	if len(g.Cycles) != 2 || len(g.Cycles[1]) != 2 {
		t.Errorf("%v", g.Cycles)
	}
}
